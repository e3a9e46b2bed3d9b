"""People in words: a person's week as a chain, and a table's evidence on them."""
