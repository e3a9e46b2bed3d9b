"""What a process and all that it started take: processor seconds, and memory in which shared pages count once."""

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")


@dataclass
class Taken:
    """Seconds of processors and of the clock, the most memory of all processes together, and the most disk."""

    cpu: float = 0.0
    clock: float = 0.0
    memory: int = 0
    disk: int = 0
    lines: list[str] = field(default_factory=list)
    """What was printed, each line with the processor seconds that were spent by then."""


def tree(root: int) -> list[int]:
    """A process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    out, at = [root], 0
    while at < len(out):
        out += children.get(out[at], [])
        at += 1
    return out


def cpu(pid: int) -> float:
    """Processor seconds of a process, and of those of its children that have ended."""
    try:
        words = (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, words[11:15])) / _TICK


def memory(pid: int) -> int:
    """Proportional set size: pages that n processes share count 1/n in each."""
    try:
        lines = (Path("/proc") / str(pid) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def disk(folder: Path) -> int:
    """Bytes of all files of a folder."""
    total = 0
    for path, _, files in os.walk(folder):
        for name in files:
            try:
                total += Path(path, name).stat().st_size
            except OSError:
                continue
    return total


def watched(command: Sequence[str], folder: Path, env: Mapping[str, str] | None = None, every: float = 0.5) -> Taken:
    """Run a command to its end, and look at its processes and a folder several times a second."""
    taken, began = Taken(), time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    spent: dict[int, float] = {}

    def total() -> float:
        return sum(spent.values())

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            taken.lines.append(f"{total():.1f} {line.rstrip()}")
            print(taken.lines[-1], flush=True)

    reader = threading.Thread(target=read)
    reader.start()
    rounds = 0
    while process.poll() is None:
        pids = tree(process.pid)
        # What has ended is counted by whoever waited for it, and then no longer by itself.
        spent = {pid: cpu(pid) for pid in pids}
        taken.cpu = max(taken.cpu, total())
        taken.memory = max(taken.memory, sum(map(memory, pids)))
        if rounds % 10 == 0:
            taken.disk = max(taken.disk, disk(folder))
        rounds += 1
        time.sleep(every)
    reader.join()
    taken.clock = time.perf_counter() - began
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return taken
