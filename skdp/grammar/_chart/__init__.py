"""Inside-outside, Viterbi and sampling over charts of sentences."""
