"""Draw clinic.svg, the picture of the README: who can be told to have been at the hospital of the demo.

Run with `.venv/bin/python docs/figures/make_clinic.py passerby-demo` after `make demo`: a minute or two. The numbers
are texts of the picture, colours follow light and dark pages, and nobody is named.
"""

import sys
from html import escape
from pathlib import Path

from passerby.audits.inputs import gather
from passerby.audits.presence import presence
from passerby.audits.record import Bracket
from passerby.audits.settings_file import read_settings
from passerby.audits.validation import check_settings
from passerby.audits.wording import Options
from passerby.cli.demo import CLINIC, COMPARED, WAYS
from passerby.mechanisms.registry import read_mechanism
from passerby.report.words import of_hundred
from passerby.support.rule_of_five import fives_below

ADVERSARIES = {"insider": "knows where everybody else was", "habits": "knows the habits of the others only"}
WIDTH, HEIGHT, LEFT, SPAN, TOP, ROW, BAR = 800, 470, 170, 480, 142, 66, 18
STYLE = """
  .card { fill: #ffffff; stroke: #d0d7de; } .line { stroke: #d0d7de; }
  text { font: 14px system-ui, sans-serif; fill: #1f2328; }
  .title { font-size: 18px; font-weight: 600; } .small { font-size: 12.5px; fill: #59636e; }
  .insider { fill: #b3401f; } .habits { fill: #0b62a8; }
  @media (prefers-color-scheme: dark) {
    .card { fill: #0d1117; stroke: #3d444d; } .line { stroke: #3d444d; }
    text { fill: #f0f6fc; } .small { fill: #b1bac4; } .insider { fill: #f0883e; } .habits { fill: #58a6ff; }
  }
"""
Found = dict[str, dict[str, Bracket]]


def measured(folder: Path) -> tuple[str, int, int, Found]:
    """The hospital, its visitors, everybody, and the share of visitors found, by way to publish and adversary."""
    settings = check_settings(read_settings(folder / "raw/audit.toml"), "options", Options())
    inputs = gather(settings)
    people = inputs.people
    place = next(name for name in settings.sensor_places if name.startswith(CLINIC))
    there = int((people.actual == people.places.index(place)).any(axis=1).sum())
    found: Found = {}
    for name, way in WAYS.items():
        release = inputs.release.through(read_mechanism(way))
        for adversary in ADVERSARIES:
            rows = presence(
                people,
                release,
                [place],
                adversary,
                sample=COMPARED,
                runs=settings.runs,
                budget=settings.budget,
                seed=settings.seed,
            ).drop_nulls("power_lower")
            ends = (float(rows[f"power_{end}"].to_numpy().mean()) for end in ("lower", "upper"))
            found.setdefault(name, {})[adversary] = Bracket(**dict(zip(("lower", "upper"), ends, strict=True)))
    return place, there, len(people), found


def drawn(place: str, there: int, everybody: int, found: Found) -> str:
    """The picture: a bar from the lower to the upper end for each way to publish and each adversary."""
    parts = [text(24, 38, f"Who can be told to have been at {place}?", "title")]
    who = f"About {fives_below(there):,} of {everybody:,} people of a simulated city were there that day."
    parts.append(text(24, 62, who, "small"))
    parts.append(
        text(24, 81, "So many of 100 of them are found by a test that wrongly accuses 1 of 100 others.", "small")
    )
    for number, (adversary, words) in enumerate(ADVERSARIES.items()):
        x = 24 + number * 370
        parts.append(box(adversary, x, 100, 14, 14))
        parts += [text(x + 20, 112, f"by somebody who {words}", "small")]
    bottom = TOP + ROW * len(found)
    for share in range(0, 101, 20):
        x = LEFT + SPAN * share / 100
        parts += [f'<line class="line" x1="{x}" x2="{x}" y1="{TOP - 6}" y2="{bottom}"/>']
        parts += [text(x, bottom + 18, f"{share}", "small", "middle")]
    for row, (way, answers) in enumerate(found.items()):
        y = TOP + ROW * row
        parts.append(text(LEFT - 16, y + 28, way, "", "end"))
        for number, (adversary, power) in enumerate(answers.items()):
            top = y + 2 + number * (BAR + 6)
            low, high = LEFT + SPAN * power.lower, LEFT + SPAN * power.upper
            parts.append(box(adversary, LEFT, top + BAR / 2 - 1, low - LEFT, 2))
            parts.append(box(adversary, low, top, max(high - low, 5), BAR))
            parts += [text(max(high, low + 5) + 8, top + 14, of_hundred(power))]
    parts.append(text(24, HEIGHT - 14, "A bar goes from an attack that exists to a bound on all attacks.", "small"))
    words = "; ".join(f"{way}: {', '.join(of_hundred(power) for power in row.values())}" for way, row in found.items())
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    card = box("card", 0.5, 0.5, WIDTH - 1, HEIGHT - 1)
    return "\n".join([head, f"<title>{escape(words)}</title>", f"<style>{STYLE}</style>", card, *parts, "</svg>", ""])


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """A line of text."""
    return f'<text class="{kind}" x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(words)}</text>'


def box(kind: str, x: float, y: float, width: float, height: float) -> str:
    """A rectangle."""
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="3"/>'


if __name__ == "__main__":
    picture = Path(__file__).with_name("clinic.svg")
    picture.write_text(drawn(*measured(Path(sys.argv[1]))), encoding="utf-8")
    print(f"wrote {picture}")
