"""Tables and numbers as the pages show them."""

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; columns but the first stand to the right."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def number(value: float | None, digits: int = 3) -> str:
    """A number as people write it: 12, 0.34, 1,700, 2.1e-09."""
    if value is None:
        return ""
    if value != 0 and not 1e-3 <= abs(value) < 1e7:
        return f"{value:.{digits - 1}e}"
    short = f"{value:.{digits}g}"
    return f"{float(short):,.0f}" if abs(value) >= 10 ** (digits - 1) else short


def counted(count: int, name: str) -> str:
    """A number of things, in the plural but for one."""
    one = {"misses": "miss", "sensors": "sensor", "places": "place", "steps": "step"}
    return f"{count:,} {one.get(name, name) if count == 1 else name}"


def sizes(size: dict[str, int]) -> str:
    return ", ".join(counted(count, name) for name, count in size.items())
