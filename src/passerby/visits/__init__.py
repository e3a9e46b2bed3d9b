"""From a table of visits to traces: readers, steps and places, a simulated city."""
