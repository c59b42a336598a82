"""A headless Chromium, driven through chromedriver's HTTP interface."""

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import closing

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chrome")
DRIVER = shutil.which("chromedriver")
_OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--disable-dev-shm-usage",
]


class Browser:
    """A browser window: open a page, run scripts in it, look at it."""

    def __init__(self, width=1100, height=1400, options=()):
        port = _free_port()
        self._driver = subprocess.Popen(
            [DRIVER, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._url = f"http://127.0.0.1:{port}"
        size = f"--window-size={width},{height}"
        chrome = {"binary": CHROMIUM, "args": [*_OPTIONS, size, *options]}
        wanted = {"goog:chromeOptions": chrome, "goog:loggingPrefs": {"browser": "ALL"}}
        try:
            self._wait_until_ready()
            session = self._post("/session", {"capabilities": {"alwaysMatch": wanted}})
        except BaseException:
            self._driver.kill()
            raise
        self._url += f"/session/{session['sessionId']}"

    def _wait_until_ready(self):
        for _ in range(100):
            try:
                urllib.request.urlopen(self._url + "/status", timeout=5).close()
                return
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        raise TimeoutError("chromedriver did not start")

    def _post(self, path, body):
        request = urllib.request.Request(
            self._url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from error

    def open(self, path):
        self._post("/url", {"url": path.resolve().as_uri()})

    def run(self, script, *arguments):
        """The value that a script returns."""
        return self._post("/execute/sync", {"script": script, "args": list(arguments)})

    def command(self, name, **parameters):
        """A command of the DevTools protocol."""
        return self._post("/goog/cdp/execute", {"cmd": name, "params": parameters})

    def console(self):
        """Messages of the console so far."""
        return [entry["message"] for entry in self._post("/se/log", {"type": "browser"})]

    def screenshot(self, path):
        """A picture of the whole page."""
        size = self.run(
            "return [document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
        )
        clip = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}
        picture = self.command(
            "Page.captureScreenshot", captureBeyondViewport=True, clip=clip, format="png"
        )
        path.write_bytes(base64.b64decode(picture["data"]))

    def close(self):
        try:
            urllib.request.urlopen(
                urllib.request.Request(self._url, method="DELETE"), timeout=10
            ).close()
        finally:
            self._driver.kill()
            self._driver.wait()


def _free_port():
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
