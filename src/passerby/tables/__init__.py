"""Tables of counts as they are published: read, and checked before there is any data about people."""
