"""Charts drawn by Vega: in the page by a script that the page holds, or once and for all as a picture.

Neither loads anything, and neither needs `eval`: expressions are run by Vega's interpreter, which Vega-Embed brings.
"""

from __future__ import annotations

import base64
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from passerby.errors import PasserbyError
from passerby.kernels import disk
from passerby.support.files import whole_or_nothing

#: The width of a picture, in pixels.
WIDTH = 640


def as_svg(spec: dict[str, Any]) -> str:
    """A chart as an image that holds itself."""
    import vl_convert

    picture: str = vl_convert.vegalite_to_svg({**spec, "width": WIDTH}, vl_version=_dialect())
    code = base64.b64encode(picture.encode()).decode()
    return f'<img alt="A chart of the report" src="data:image/svg+xml;base64,{code}">'


@cache
def bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, which takes a second to put together and is then kept on disk."""
    import vl_convert

    kept = disk.folder().parent / f"vega-{version('vl-convert-python')}-{_dialect()}.js"
    with suppress(OSError, UnicodeError):
        return kept.read_text(encoding="utf-8")
    script: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=_dialect())
    # Browsers read every end of a line as "\n", and the page's policy knows the script by its hash.
    script = script.replace("</script", "<\\/script").replace("\r\n", "\n").replace("\r", "\n")
    with suppress(OSError, PasserbyError), whole_or_nothing(kept) as path:
        path.write_text(script, encoding="utf-8")
    return script


@cache
def script() -> str:
    """The page's own script, which draws the charts with the bundle."""
    return files("passerby.report").joinpath("page.js").read_text(encoding="utf-8")


def _dialect() -> str:
    """The version of Vega-Lite that charts are written in."""
    import altair

    return ".".join(altair.SCHEMA_VERSION.lstrip("v").split(".")[:2])
