"""Table models, whose segments, sections or parts of documents are Chinese restaurants."""
