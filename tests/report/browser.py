"""A real browser for tests: chromium, driven over its debugging protocol."""

import base64
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ABSENT = "no chromium here: install it (Debian: apt-get install chromium) to test the page in a browser"


class Page:
    """One tab, with everything that was requested and complained about."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket
        self.number = 0
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.dialogs: list[str] = []
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """Call a method of the protocol and wait for its answer."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv(timeout=60))
            if message.get("id") == self.number:
                assert "error" not in message, f"{method}: {message['error']}"
                return message["result"]
            self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        kind, what = message.get("method"), message.get("params", {})
        if kind == "Network.requestWillBeSent":
            self.requests.append(what["request"]["url"])
        elif kind == "Page.javascriptDialogOpening":
            self.dialogs.append(what["message"])
            self.call("Page.handleJavaScriptDialog", accept=True)
        elif kind == "Runtime.exceptionThrown":
            self.complaints.append(str(what["exceptionDetails"]))
        elif kind == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(what["args"]))
        elif kind == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
            self.complaints.append(str(what["entry"]))

    def run(self, script: str) -> Any:
        """The value of an expression; promises are waited for."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def open(self, path: Path, width: int = 1400, *, dark: bool = False, drawn: bool = True) -> None:
        """Show a file at a width, and wait until its charts are `drawn`."""
        for noted in (self.requests, self.complaints, self.dialogs):
            noted.clear()
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=path.resolve().as_uri())
        if drawn:
            self.wait("document.documentElement?.hasAttribute('data-drawn') === true")

    def wait(self, condition: str, seconds: float = 30) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + seconds
        while not self.run(condition):
            assert time.monotonic() < end, f"never true: {condition}; complaints: {self.complaints}"
            time.sleep(0.03)

    def screenshot(self, path: Path) -> None:
        """A picture of the whole page."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        shot = self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))


@contextmanager
def browser() -> Iterator[Page]:
    """A headless chromium with one empty tab."""
    from urllib.request import Request, urlopen

    from websockets.sync.client import connect

    assert CHROMIUM is not None, ABSENT
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"]
        command += ["--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run", f"--user-data-dir={profile}"]
        process = subprocess.Popen([*command, "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            port_file = Path(profile, "DevToolsActivePort")
            end = time.monotonic() + 60
            while not (port_file.exists() and port_file.read_text().strip()):
                assert time.monotonic() < end, "chromium did not start"
                time.sleep(0.1)
            port = port_file.read_text().split()[0]
            with urlopen(Request(f"http://127.0.0.1:{port}/json/new?about:blank", method="PUT")) as answer:
                address = json.load(answer)["webSocketDebuggerUrl"]
            with connect(address, max_size=None) as socket:
                yield Page(socket)
        finally:
            process.terminate()
            process.wait(timeout=20)


def cut(page: Page) -> list[str]:
    """Texts that are cut off: outside the window, outside their chart, hidden by their box, or shortened."""
    found: list[str] = page.run(
        """(() => {
          const seen = r => r.width > 0 && r.height > 0;
          const texts = [];
          const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          while (walk.nextNode()) {
            const node = walk.currentNode, range = document.createRange();
            if (!node.textContent.trim() || node.parentElement.closest('script, svg, .scroll, [hidden]')) continue;
            range.selectNodeContents(node);
            const r = range.getBoundingClientRect();
            if (seen(r) && (r.left < -1 || r.right > innerWidth + 1)) texts.push(node.textContent);
          }
          for (const svg of document.querySelectorAll('.chart svg')) {
            const box = svg.getBoundingClientRect();
            for (const text of svg.querySelectorAll('text')) {
              const r = text.getBoundingClientRect();
              if (!seen(r) || text.getAttribute('opacity') === '0' || getComputedStyle(text).opacity === '0') continue;
              const out = r.left < box.left - 2 || r.right > box.right + 2 || r.top < box.top - 2
                || r.bottom > box.bottom + 2;
              if (out || text.textContent.includes('…')) texts.push(text.textContent);
            }
          }
          for (const part of document.querySelectorAll('main *, header *')) {
            const style = getComputedStyle(part);
            const hides = ['hidden', 'clip'].includes(style.overflowX) && part.scrollWidth > part.clientWidth + 1;
            if (hides && !part.closest('svg')) texts.push(part.textContent);
          }
          if (document.documentElement.scrollWidth > innerWidth) texts.push('the page is wider than the window');
          return texts;
        })()"""
    )
    return found
