"""Traces on disk, in blocks of people, loaded whole or in slices."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.errors import PasserbyError
from passerby.support.blocks import Blocks, Slice
from passerby.support.files import make_folder, whole_or_nothing
from passerby.support.processes import raise_about_memory

from .all_visits import AllVisits
from .files import DAMAGED
from .store import load_table
from .table import RarelySeen, Traces, Visits
from .windows import PartTotals, Tracing, together, traced

#: The most person-steps of a block, and the number of people read together.
CELLS, GROUP = 2**24, 1000


@dataclass(frozen=True)
class StoredTraces:
    """Everybody's traces on disk: the common part as traces of nobody, and blocks in the order of people.

    `digests` identify the content of each block; blocks of `everybody` include people seen too seldom.
    """

    common: Traces
    blocks: Blocks[Traces]
    digests: tuple[str, ...]
    everybody: Blocks[Traces]

    def __len__(self) -> int:
        """The number of people."""
        return sum(self.sizes(self.blocks))

    def cut(self, size: int) -> Blocks[Traces]:
        """The same traces in smaller blocks."""
        return replace(self.blocks, items=[small for each in self.blocks.items for small in each.cut(size)])

    @staticmethod
    def sizes(blocks: Blocks[Traces]) -> list[int]:
        """How many traces each block holds."""
        return [each.count for each in blocks.items]


def store_traces(everybody: AllVisits, how: Tracing, folder: Path, asked: int) -> StoredTraces:
    """Make the traces of all visits, block by block; `asked` is the least number of active steps in messages."""
    make_folder(folder, "folder", private=True)
    numbered = everybody.blocks.zipped(range(len(everybody.blocks)))
    found = [each for block in numbered.map(_store, (how, folder)) for each in block]
    common = together(replace(how, min_active=asked), [part for part, *_ in found])
    written = [(slice_, digest) for _, slice_, digest in found if slice_.count]
    ids = load_slice(replace(written[0][0], count=0))["person"]
    common = replace(common, people=ids)
    slices = [slice_ for slice_, _ in written]
    blocks = Blocks(slices, partial(load_traces, common), everybody.blocks.team)
    everybody_else = Blocks([slice_ for _, slice_, _ in found], partial(load_everybody, common), everybody.blocks.team)
    return StoredTraces(common, blocks, tuple(digest for _, digest in written), everybody_else)


def _store(work: tuple[Tracing, Path], block: tuple[Visits, int]) -> list[tuple[PartTotals, Slice, str]]:
    """Write the traces of a block of visits, in files of limited size: the totals of each file, and its place."""
    (how, folder), (visits, number) = work, block
    out = []
    for at, some in enumerate(_some(visits, max(1, CELLS // how.steps.count))):
        array, _, people, seldom, part = traced(how, some)
        path = folder / f"{number:06d}-{at:03d}.parquet"
        small = np.int16 if len(how.places) < np.iinfo(np.int16).max else np.int32
        if len(people):
            table = pl.DataFrame({"person": people, "trace": pl.Series(array.astype(small))})
            with whole_or_nothing(path, private=True, lasting=False) as draft:
                table.write_parquet(draft, row_group_size=GROUP)
        if seldom.people:
            rows = {"person": seldom.person, "step": seldom.step, "place": seldom.place}
            with whole_or_nothing(_seldom(path), private=True, lasting=False) as draft:
                pl.DataFrame(rows).write_parquet(draft)
        out.append((part, Slice(path, 0, len(people)), _digest(people, array)))
    return out


def _some(visits: Visits, size: int) -> Iterator[Visits]:
    """So many of the people at a time, with their visits."""
    if len(visits.people) <= size:
        yield visits
        return
    for first in range(0, len(visits.people), size):
        inside = visits.table.filter(pl.col("person").is_between(first, first + size, closed="left"))
        table = inside.with_columns(pl.col("person") - first)
        yield replace(visits, table=table, people=visits.people.slice(first, size))


def _digest(people: pl.Series, array: NDArray[np.int32]) -> str:
    digest = hashlib.blake2b(np.ascontiguousarray(array).view(np.uint8).data, digest_size=16)
    digest.update(repr(people.to_list()).encode())
    return digest.hexdigest()


def load_slice(each: Slice) -> pl.DataFrame:
    """The rows of a slice; damage is named with its remedy."""
    try:
        rows = pl.scan_parquet(each.path, glob=False).slice(each.first, each.count).collect()
    except DAMAGED as error:
        raise_about_memory(error)
        rows, why = pl.DataFrame(), type(error).__name__
    else:
        why = f"{rows.height} rows instead of {each.count}"
    if rows.height != each.count or "trace" not in rows.columns:
        raise PasserbyError(f"{each.path} is damaged or gone ({why}); start again, which makes it anew")
    return rows


def load_traces(common: Traces, each: Slice) -> Traces:
    """The traces of a slice."""
    rows = load_slice(each)
    array: NDArray[np.int32] = rows["trace"].to_numpy().astype(np.int32).reshape(rows.height, common.array.shape[1])
    active = (array != len(common.places) - 1).sum(axis=1).astype(np.int32)
    return replace(common, array=array, people=rows["person"], active=active)


def _seldom(path: Path) -> Path:
    """The places of people seen too seldom for the traces of a file."""
    return path.with_name(f"seldom-{path.name}")


def load_everybody(common: Traces, each: Slice) -> Traces:
    """The traces of a whole file, with people seen too seldom."""
    traces = load_traces(common, each) if each.count else common
    if not _seldom(each.path).exists():
        return traces
    rows = load_table(_seldom(each.path))
    person, step, place = (rows[name].to_numpy() for name in ("person", "step", "place"))
    return replace(traces, seldom=RarelySeen(int(person.max()) + 1, person, step, place))


def taken(blocks: Blocks[Traces], sizes: Sequence[int], numbers: NDArray[np.int64]) -> Traces:
    """The traces of these numbers, in increasing order, in memory."""
    found = blocks.picked(sizes, numbers).map(_rows, None)
    common = found[0]
    array, people = np.concatenate([each.array for each in found]), pl.concat([each.people for each in found])
    return replace(common, array=array, people=people, active=np.concatenate([each.active for each in found]))


def _rows(_: None, block: tuple[Traces, NDArray[np.int64]]) -> Traces:
    traces, rows = block
    people = traces.people.gather(rows.tolist())
    return replace(traces, array=traces.array[rows], people=people, active=traces.active[rows])
