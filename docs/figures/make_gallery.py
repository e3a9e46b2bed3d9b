"""Draw the pictures of docs/gallery.md: charts of the demo's report and plan, as those pages show them.

Run with `.venv/bin/python docs/figures/make_gallery.py passerby-demo plan` after the demo and the plan of docs/plan.md:
some seconds. Nothing is measured here; the charts are read from the pages.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

import vl_convert

SPECS = re.compile(r'<script type="application/json" id="specs">(.*?)</script>', re.DOTALL)
#: Charts of the report and of the plan, by their keys.
REPORT = ("presence-hours", "each-step", "exposure", "promises", "left-sensor", "adversaries")
PLAN = ("frontier-1",)
WIDTH = 640


def charts(page: Path) -> dict[str, dict[str, Any]]:
    """The charts of a page, by their keys."""
    found = SPECS.search(page.read_text(encoding="utf-8"))
    if found is None:
        raise SystemExit(f"{page}: no charts; make the demo and the plan first")
    return dict(json.loads(found[1]))


def draw(page: Path, keys: tuple[str, ...]) -> None:
    """Write these charts of a page as pictures, on white, so that dark pages show them, too."""
    drawn = charts(page)
    for key in keys:
        spec = {**drawn[key], "width": WIDTH, "background": "white", "padding": 12}
        picture = Path(__file__).with_name(f"gallery-{key.removesuffix('-1')}.svg")
        picture.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")
        print(f"wrote {picture}: {picture.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    demo, plan = map(Path, sys.argv[1:3])
    draw(demo / "raw/report.html", REPORT)
    if (plan / "plan.html").exists():
        draw(plan / "plan.html", PLAN)
