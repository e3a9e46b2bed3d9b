"""The paper's experiments: Koga, Meehan and Chaudhuri, "Measuring Privacy Loss in Distributed Spatio-Temporal Data".

`experiments` is the table of all: what each varies, what it fixes, and what is drawn of it; `run` does those asked for.
`rules` says when a sentence of the paper counts as true, modules of claims set the sentences beside the tables, grouped
by kind, and `page` writes all of it down. Everything is done through the front door, `import passerby as pb`.
"""
