"""The paper's experiments: Koga, Meehan and Chaudhuri, "Measuring Privacy Loss in Distributed Spatio-Temporal Data".

A file per figure or experiment. Each says which points it measures (`pieces`), what table they make (`table`), and how
the table is drawn (`draw`); `run` does those asked for, and `claims` sets the paper's sentences beside the tables.
"""
