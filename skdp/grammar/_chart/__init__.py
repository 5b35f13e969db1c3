"""Charts of sentences: inside-outside, Viterbi and sampling; and ascents of grammars."""
