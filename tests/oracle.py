"""What everything is checked against: enumeration of all traces of a small chain, in plain NumPy.

A trace is one of places. Where states share places, it is as likely as all traces of states along it.
Nothing here uses a recursion over steps, a kernel or a bound of the package: a `World` lists every trace with its
probability, a release becomes a table of likelihoods (series x traces), and each quantity is its definition.
"""

from functools import cached_property
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

import passerby as pb

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class World:
    """Every trace of `steps` steps (n, T), in lexicographic order, and its probability (n,).

    The same for traces of states, and which trace of places (m,) each runs along.
    """

    def __init__(self, prior: pb.MarkovPrior, steps: int) -> None:
        self.places = prior.places
        self.steps = steps
        self.traces: Ints = np.array(list(product(range(prior.places), repeat=steps)), dtype=np.int64)
        self.state_traces: Ints = np.array(list(product(range(prior.states), repeat=steps)), dtype=np.int64)
        chance = prior.initial[self.state_traces[:, 0]].copy()
        for t in range(1, steps):
            moves = prior.transition if prior.transition.ndim == 2 else prior.transition[t - 1]
            chance *= moves[self.state_traces[:, t - 1], self.state_traces[:, t]]
        self.state_chance: Floats = chance
        self.along: Ints = np.ravel_multi_index(tuple(prior.place_of[self.state_traces].T), (self.places,) * steps)
        self.chance: Floats = np.zeros(len(self.traces))
        np.add.at(self.chance, self.along, chance)

    @cached_property
    def distance(self) -> Ints:
        """Number of steps at which two traces differ (n, n)."""
        return np.asarray((self.traces[:, None] != self.traces[None]).sum(axis=2), dtype=np.int64)

    def entropy(self) -> float:
        """Entropy of the trace."""
        return _entropy(self.chance)

    def likelihoods(self, release: pb.Release) -> Floats:
        """`Pr[series | trace]` (series, n), for every series of outcomes that the release can publish."""
        tables = release.signals()
        assert tables is not None, "only finite mechanisms can be enumerated"
        rows = []
        for outcomes in product(*(range(len(table)) for table in tables)):
            row = np.ones(len(self.traces))
            for t, outcome in enumerate(outcomes):
                row *= tables[t][outcome][self.column(release, t)]
            rows.append(row)
        return np.array(rows)

    def sightings(self, release: pb.Release) -> Floats:
        """The same for raw counts, straight from the definition: a series says which sensors saw the target."""
        told = np.stack([self.column(release, t) for t in range(self.steps)], axis=1)
        series = np.unique(told, axis=0)
        return np.asarray((told[None] == series[:, None]).all(axis=2), dtype=np.float64)

    def column(self, release: pb.Release, t: int) -> Ints:
        """For each trace, 0 if at none of the sensors of step t, 1 + j if at its sensor j."""
        column = np.zeros(len(self.traces), dtype=np.int64)
        for j, place in enumerate(release.sensors[t]):
            column[self.traces[:, t] == place] = 1 + j
        return column

    def information(self, channel: Floats) -> float:
        """Mutual information of trace and series: `H(Y) - H(Y | X)`."""
        conditional = sum(p * _entropy(column) for p, column in zip(self.chance, channel.T, strict=True))
        return _entropy(channel @ self.chance) - float(conditional)

    def optimum(self, channel: Floats, misses: int) -> float:
        """Success of the best guess for each series, found by trying all of them."""
        return float(((channel * self.chance) @ (self.distance <= misses)).max(axis=1).sum())

    def kappa(self, misses: int) -> float:
        """Success of the best guess without a release."""
        return self.optimum(np.ones((1, len(self.traces))), misses)

    def success(self, guess: Ints, misses: int, likelihood: Floats | None = None) -> float:
        """`Pr[at most misses steps of guess wrong | series]`; without a likelihood, before any series."""
        joint = self.chance if likelihood is None else self.chance * likelihood
        return float(joint[(self.traces != guess).sum(axis=1) <= misses].sum() / joint.sum())

    def right(self, guess: Ints) -> Floats:
        """The law of the number of right steps of a guess (T + 1,)."""
        number = (self.traces == guess).sum(axis=1)
        return np.asarray(np.bincount(number, weights=self.chance, minlength=self.steps + 1), dtype=np.float64)

    def map_success(self, channel: Floats, misses: int) -> float:
        """Success of the likeliest trace of places given each series (the first one, if several are as likely)."""
        joint = channel * self.chance
        picks = joint.argmax(axis=1)
        return float((joint * (self.distance[picks] <= misses)).sum())

    def map_range(self, channel: Floats, misses: int) -> tuple[float, float]:
        """The least and the most that `map_success` can be, whichever of equally likely traces is picked."""
        joint = channel * self.chance
        won = joint @ (self.distance <= misses)
        likeliest = joint >= joint.max(axis=1, keepdims=True) * (1 - 1e-12)
        least, most = np.where(likeliest, won, np.inf).min(axis=1), np.where(likeliest, won, -np.inf).max(axis=1)
        return float(least.sum()), float(most.sum())

    def prior_success(self, misses: int) -> float:
        """Success of the likeliest trace."""
        return self.success(self.traces[self.chance.argmax()], misses)

    def constant_success(self, misses: int) -> float:
        """Success of the best of the guesses that name one place at all steps."""
        return max(self.success(np.full(self.steps, x), misses) for x in range(self.places))

    def joint_maxima(self) -> Floats:
        """`f(k)`, k = 1..T: the largest probability of any k values at any k steps."""
        law = self.chance.reshape((self.places,) * self.steps)
        return np.array(
            [
                max(
                    law.sum(axis=tuple(set(range(self.steps)) - set(chosen))).max()
                    for chosen in combinations(range(self.steps), k)
                )
                for k in range(1, self.steps + 1)
            ]
        )

    def posterior_marginals(self, likelihood: Floats) -> Floats:
        """`Pr[X_t = x | series]` (T, M)."""
        joint = self.chance * likelihood
        return np.array(
            [np.bincount(self.traces[:, t], weights=joint, minlength=self.places) for t in range(self.steps)]
        ) / float(joint.sum())

    def posterior_pairs(self, likelihood: Floats) -> Floats:
        """`Pr[X_t = x, X_{t+1} = y | series]` (T - 1, M, M)."""
        joint = self.chance * likelihood
        out = np.zeros((self.steps - 1, self.places, self.places))
        for t in range(self.steps - 1):
            np.add.at(out[t], (self.traces[:, t], self.traces[:, t + 1]), joint)
        return out / float(joint.sum())


def _entropy(law: Floats) -> float:
    positive = law[law > 0]
    return float(-(positive * np.log(positive)).sum())
