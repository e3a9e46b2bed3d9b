"""Charts drawn by Vega: in the page by its own script, or once and for all as a picture.

Neither loads anything, and neither needs `eval`: expressions are run by Vega's interpreter, a part of Vega-Embed.
"""

from __future__ import annotations

import base64
import hashlib
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from passerby.errors import PasserbyError
from passerby.kernels import jit
from passerby.support.files import whole_or_nothing

#: The width of a picture, in pixels.
WIDTH = 640
#: The SHA-256 of the script made by a version of vl-convert for a version of Vega-Lite.
SCRIPTS = {
    ("1.9.0.post1", "6.4"): "373b1f84072b31010f15ceb787be6b415c53936411aae267c8c2b2b6ccde46e7",
}


def as_svg(spec: dict[str, Any]) -> str:
    """A chart as a self-contained image."""
    import vl_convert

    picture: str = vl_convert.vegalite_to_svg({**spec, "width": WIDTH}, vl_version=_dialect())
    code = base64.b64encode(picture.encode()).decode()
    return f'<img alt="A chart of the report" src="data:image/svg+xml;base64,{code}">'


@cache
def bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script; making it takes seconds, so it is then kept on disk.

    The kept script goes into every page. So it is taken only from the folder of the kernels, owned by this user alone.
    Its hash must be the installed version's, if this is known. Any other script is made again.
    """
    made_by = (version("vl-convert-python"), _dialect())
    for kept in jit.folder().glob(f"vega-{'-'.join(made_by)}-*.js"):
        with suppress(OSError, UnicodeError):
            script = kept.read_bytes().decode()
            found = _digest(script)
            if kept.name == _name(made_by, found) and SCRIPTS.get(made_by, found) == found:
                return script
    script = _put_together()
    with suppress(OSError, PasserbyError), whole_or_nothing(jit.folder() / _name(made_by, _digest(script))) as path:
        path.write_bytes(script.encode())
    return script


def _put_together() -> str:
    """The script, out of the installed package."""
    import vl_convert

    script: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=_dialect())
    # Browsers read every end of a line as "\n", and the page's policy knows the script by its hash.
    return script.replace("</script", "<\\/script").replace("\r\n", "\n").replace("\r", "\n")


def _digest(script: str) -> str:
    return hashlib.sha256(script.encode()).hexdigest()


def _name(made_by: tuple[str, str], digest: str) -> str:
    """The name of the file of a script."""
    return f"vega-{'-'.join(made_by)}-{digest}.js"


@cache
def script() -> str:
    """The page's own script for drawing the charts with the bundle."""
    return files("passerby.report").joinpath("page.js").read_text(encoding="utf-8")


def _dialect() -> str:
    """The charts' version of Vega-Lite."""
    import altair

    return ".".join(altair.SCHEMA_VERSION.lstrip("v").split(".")[:2])
