"""Change the source in small wrong ways, one at a time, and see whether a test notices (`make mutants`).

Cosmic Ray lists the changes and makes them, in a copy of the source. A sample is drawn of those in kernels, outcomes,
measurement and the question of the trace, each as likely as any other. For each, the tests of the mirroring file are
run until one fails: `tests/kernels/chain/test_score.py` for `kernels/chain/decode.py`. Without such a file, these
are the tests of `BESIDE` or all of the folder. Tests run without compilation, if they are quick that way (see
`trust/quick.py`).
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from trust.page import interval, keep
from trust.results import ROOT, SOURCE, load

#: What is changed. `jit.py` compiles, and so does nothing here.
FOLDERS = (
    *("kernels", "kernels/chain", "kernels/search", "kernels/renewal"),
    *("outcomes", "measurement", "questions/trace", "questions/trace/methods"),
)
ALONE = ("model/lumping.py",)
LEFT_OUT = ("__init__.py", "jit.py")

#: Where the tests of files stand that none mirrors.
BESIDE = {
    "kernels/search/penalty_names.py": ("kernels/search/test_penalties.py",),
    "kernels/fit.py": ("people/test_rounding.py", "people/test_family.py", "people/test_roles.py"),
    "kernels/chain/lumping.py": ("model/test_lumping.py",),
    "questions/trace/goal.py": ("questions/trace/test_measure.py", "questions/trace/test_methods.py"),
    "questions/trace/guess.py": ("questions/trace/test_best_guess.py", "questions/trace/test_attacks.py"),
    "questions/trace/kappa.py": ("questions/trace/test_bounds.py", "kernels/chain/test_bounds.py"),
    "questions/trace/ways.py": ("questions/trace/test_average.py",),
    "questions/trace/methods/crowd.py": ("questions/trace/test_crowd.py",),
    "questions/trace/methods/quantisation.py": (
        "questions/trace/test_stand_ins.py",
        "questions/trace/test_measure.py",
    ),
    "questions/trace/methods/renewal.py": ("questions/trace/test_average.py", "questions/trace/test_gap.py"),
    "questions/trace/methods/": (
        "questions/trace/test_methods.py",
        "questions/trace/test_measure.py",
        "questions/trace/test_attacks.py",
        "questions/trace/test_bounds.py",
    ),
}

#: The changes: of all that Cosmic Ray knows, those that look like slips. Others (`+` to `<<`) fail at once.
SLIPS = re.compile(
    r"core/(ReplaceBinaryOperator_(Add_Sub|Sub_Add|Mul_Div|Div_Mul|FloorDiv_Mul|Mod_Mul|Pow_Mul|BitAnd_BitOr)"
    r"|ReplaceComparisonOperator_(Lt_LtE|Lt_GtE|LtE_Lt|LtE_Gt|Gt_GtE|Gt_LtE|GtE_Gt|GtE_Lt|Eq_NotEq|NotEq_Eq)"
    r"|ReplaceComparisonOperator_(Is_IsNot|IsNot_Is)|ReplaceUnaryOperator_Delete_(Not|USub|Invert)"
    r"|AddNot|NumberReplacer|ReplaceTrueWithFalse|ReplaceFalseWithTrue|ReplaceAndWithOr|ReplaceOrWithAnd"
    r"|ReplaceBreakWithContinue|ReplaceContinueWithBreak|ZeroIterationForLoop|ExceptionReplacer)"
)
#: Wall seconds after which all the tests of a mutant are stopped; `trust/quick.py` stops each of them much sooner.
LONGEST = 600.0


def files() -> list[str]:
    """The files that are changed, below `src/passerby`."""
    found = [path for folder in FOLDERS for path in sorted((SOURCE / folder).glob("*.py"))]
    return [*(path.relative_to(SOURCE).as_posix() for path in found if path.name not in LEFT_OUT), *ALONE]


def mirror(file: str) -> list[str]:
    """The tests of a file: those that mirror it, those beside, or where there are none, the nearest folder of tests."""
    path = Path("tests") / file
    tests = path.with_name(f"test_{path.name}")
    if (ROOT / tests).exists():
        return [tests.as_posix()]
    for name in (file, f"{Path(file).parent.as_posix()}/"):
        if name in BESIDE:
            return [f"tests/{tests}" for tests in BESIDE[name]]
    return [next(folder.as_posix() for folder in path.parents if (ROOT / folder).exists())]


def listed(chosen: Iterable[str]) -> list[Any]:
    """Every mutant of some files, as a mutation of Cosmic Ray."""
    from cosmic_ray.commands import init
    from cosmic_ray.work_db import WorkDB, use_db

    with use_db(":memory:", WorkDB.Mode.create) as database:
        init([Path("src/passerby") / file for file in chosen], database, {})
        mutations = [item.mutations[0] for item in database.work_items]
    slips = [mutation for mutation in mutations if SLIPS.fullmatch(mutation.operator_name)]
    return sorted(slips, key=lambda slip: (str(slip.module_path), slip.start_pos, slip.operator_name, slip.occurrence))


def copy(folder: Path) -> None:
    """Work in a copy: whatever happens, the source stays as it is."""
    for name in ("src", "tests", "trust"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "kept"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    os.chdir(folder)
    os.environ.update(
        PYTHONPATH=os.pathsep.join([str(folder / "src"), str(folder), os.environ.get("PYTHONPATH", "")]),
        PASSERBY_QUICK=str(folder / "quick.json"),
        NUMBA_DISABLE_JIT="1",
        **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS"), "1"),
    )


def command(tests: Iterable[str], *options: str) -> str:
    """How tests are run."""
    plain = "-q --tb=line -pno:cacheprovider -pno:xdist -ptrust.quick -oaddopts=--import-mode=importlib"
    return " ".join([sys.executable, "-m pytest", plain, *options, *tests])


def prepare(tests: dict[str, list[str]]) -> None:
    """See which tests are quick; these must be some for each file, and pass while the source is as it is."""
    run = command(sorted({name for names in tests.values() for name in names})).split()
    done = subprocess.run(run, capture_output=True, text=True, check=False)  # some are too slow, and fail
    quick = load(Path(os.environ["PASSERBY_QUICK"]))
    bare = [file for file, names in tests.items() if not any(name.startswith(tuple(names)) for name in quick)]
    if done.returncode not in (0, 1) or bare:
        raise SystemExit(f"{done.stdout}\nthe tests did not run to their end, or none is quick for: {', '.join(bare)}")
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{done.stdout}\ntests fail without any change to the source")
    print(f"{len(quick)} tests are quick: {sum(quick.values()):.0f} s", flush=True)


def changed(diff: str) -> str:
    """The line that a mutant changes, before and after."""
    lines = [line for line in diff.splitlines() if re.match(r"[-+](?![-+]{2} )", line)]
    before, after = (" ".join(line[1:].strip() for line in lines if line[0] == sign) for sign in "-+")
    return f"{before} -> {after}"


def judge(mutations: list[Any]) -> dict[str, Any]:
    """What became of each mutant: counts by file, and the survivors."""
    from cosmic_ray.mutating import mutate_and_test

    counts: dict[str, list[int]] = {}
    survivors = []
    for number, mutation in enumerate(mutations, 1):
        file = Path(mutation.module_path).relative_to("src/passerby").as_posix()
        result = mutate_and_test([mutation], command(mirror(file), "-x"), LONGEST)
        if result.test_outcome not in ("killed", "survived"):
            raise SystemExit(f"{file}:{mutation.start_pos[0]} was not tried: {result.output}")
        survived = result.test_outcome == "survived"
        counts.setdefault(file, [0, 0])[survived] += 1
        what = [f"{file}:{mutation.start_pos[0]}", changed(result.diff)]
        survivors += [what] if survived else []
        print(f"{number}/{len(mutations)} {result.test_outcome.value:8}", *what, sep="  ", flush=True)
    return {"files": dict(sorted(counts.items())), "survivors": sorted(survivors)}


def main() -> int:
    """Draw mutants, try them, and keep what became of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=300, help="how many mutants (300)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--files", nargs="*", default=[], choices=files(), metavar="FILE", help="nothing is kept then")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copy(Path(folder))
        every = listed(wanted.files or files())
        order = np.random.default_rng(wanted.seed).permutation(len(every))
        drawn = [every[i] for i in order[: wanted.sample]]
        prepare({file: mirror(file) for file in wanted.files or files()})
        found = {"seed": wanted.seed, "all": len(every), **judge(drawn)}
    killed = sum(count[0] for count in found["files"].values())
    if not wanted.files:
        keep("mutants", found)
    print(f"killed: {killed} of {len(drawn)} drawn from {len(every):,}, {interval(killed, len(drawn))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
