"""What an audit costs with each publication rule, relative to raw counts, at the same tolerance, in one run.

Where all series are listed (few outputs) it should be no more than 3 times; where they are too many, and stand-ins or a
sample take their place, no more than 20 times. The width is that of the loss interval, relative to its lower end.
"""

import sys
import time

import polars as pl

import passerby as pb

STEPS, MISSES = 6, 1
RULES: tuple[pb.Mechanism, ...] = (
    pb.Raw(),
    pb.Suppression(10),
    pb.Rounding(5),
    pb.Then(pb.Suppression(10), pb.Rounding(5)),
    pb.RandomRounding(3),
    pb.Bands([10, 25]),
    pb.Geometric(1.0),
    pb.Gaussian(1.0),
    pb.Laplace(1.0),
    pb.Laplace(1.0, clamped=True),
    pb.Laplace(1.0, clamped=True, rounded=True),
    pb.DiscreteGaussian(1.0),
    pb.Sampling(0.3),
    pb.Miscount(0.1, 0.05),
    pb.Then(pb.Then(pb.Laplace(1.0, rounded=True), pb.Suppression(2)), pb.AtLeast(4)),
)
#: One that is listed, one that is not, and one of two parts.
QUICK = (pb.Suppression(10), pb.Gaussian(1.0), RULES[-1])


def timed(people: pb.People, mechanism: pb.Mechanism, others: pb.Crowd | None = None) -> tuple[float, pl.DataFrame]:
    release = pb.Release(list(range(STEPS)), mechanism, others)
    start = time.process_time()  # one worker, here: what else the machine does is of no concern
    table = pb.audit(people, release, MISSES, workers=1)
    return time.process_time() - start, table


def main(quick: bool = False) -> None:
    city = pb.simulate_city(people=20 if quick else 300, places=60, days=6)
    people = pb.fit_people(city, window="1h", places=30, min_active=1, holdout=STEPS)
    timed(people, pb.Raw())
    pb.differential_privacy(pb.Release([0], pb.Laplace(1.0)))  # loads what is loaded once
    raw, _ = timed(people, pb.Raw())
    print(f"{len(people)} people, {STEPS} steps, one worker; raw counts take {raw:.1f} s")
    for mechanism in QUICK if quick else RULES[1:]:
        seconds, table = timed(people, mechanism)
        # With stand-ins, the plain guesses are averaged over a sample.
        few = table["error_map"].max() == 0
        kind = "sampled" if table["sampled"].any() else "listed" if few else "stand-ins"
        limit = 3 if few else 20
        verdict = "within" if seconds <= limit * raw else "ABOVE"
        width = (table["upper"] / table["lower"] - 1).to_numpy()
        print(
            f"{seconds / raw:5.1f}x  {kind:9} {verdict} {limit}x  mean width {width.mean():.2%}, "
            f"within 1 % for {(width <= 0.01).mean():.0%}  {mechanism!r}",
            flush=True,
        )
    for mechanism in (pb.Raw(), pb.Rounding(5), pb.Gaussian(1.0)):
        seconds, _ = timed(people, mechanism, pb.Crowd())
        print(f"{seconds / raw:5.1f}x  against a crowd that is known by its habits only  {mechanism!r}", flush=True)


if __name__ == "__main__":
    main("--quick" in sys.argv)
