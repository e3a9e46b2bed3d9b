"""The paper's experiments: Koga, Meehan and Chaudhuri, "Measuring Privacy Loss in Distributed Spatio-Temporal Data".

A file per figure or experiment. Each says which points it measures (`pieces`), what table they make (`table`), and how
the table is drawn (`draw`); `run` does those asked for. `rules` says when a sentence of the paper counts as true, files
of claims set the sentences beside the tables, and `page` writes all of it down.
"""
