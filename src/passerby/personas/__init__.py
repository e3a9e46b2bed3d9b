"""People in words: what somebody's week looks like, as a chain; and what a table would tell of them."""
