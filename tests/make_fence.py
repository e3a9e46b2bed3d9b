"""Makes the fence anew, out of the package as it is now: `python -m tests.make_fence`. See `tests/fence.py`."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from tests import fence, fence_audits

if __name__ == "__main__":
    fence.store([fence.said(number) for number in range(fence.CASES)])
    with TemporaryDirectory() as name:
        folder = Path(name)
        fence_audits.write_inputs(folder)
        every = {each: fence_audits.said(folder, each) for each in fence_audits.NAMES}
    fence_audits.FILE.write_text(json.dumps(every, indent=0) + "\n")
