from skdp.grammar._refinement._lexicon import TreebankLexicon

SENTENCES = [["The", "dog", "ran"], ["Dogs", "the", "dog"], ["the", "walking", "talking"]]


def names_of(lexicon, sentence):
    return [lexicon.names[i] for i in lexicon.encode(sentence)]


def test_rare_words_become_classes():
    lexicon = TreebankLexicon(SENTENCES, 2)
    assert names_of(lexicon, ["the", "dog", "ran"]) == ["the", "dog", "UNK"]
    assert names_of(lexicon, ["the", "jumping"]) == ["the", "UNK:-ing"]
    assert lexicon.names[: lexicon.n_known] == ["dog", "the"]


def test_first_words_have_classes_of_their_own():
    lexicon = TreebankLexicon(SENTENCES, 2)
    assert names_of(lexicon, ["Cats", "Cats"]) == ["^UNK:initial", "UNK"]
    assert names_of(lexicon, ["the"]) == ["the"]


def test_all_words_known():
    lexicon = TreebankLexicon(SENTENCES, 1)
    assert names_of(lexicon, SENTENCES[0]) == SENTENCES[0]
    assert names_of(lexicon, ["new", "new"]) == ["^UNK", "UNK"]
    assert len(lexicon) == lexicon.n_known + 2
