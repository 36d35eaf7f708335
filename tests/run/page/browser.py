# SPDX-License-Identifier: BSD-3-Clause
"""A browser driven over W3C WebDriver, with nothing but Python's own library: chromium, without a window, by chromedriver.

    with Browser() as browser:
        browser.open("/path/page.html")
        browser.run("return document.title")
"""
import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

# What WebDriver calls keys that have no character.
KEYS = {"Enter": "\ue007", "Backspace": "\ue003", "Escape": "\ue00c", "Left": "\ue012", "Up": "\ue013", "Right": "\ue014", "Down": "\ue015", "Tab": "\ue004", "Control": "\ue009"}


def programs():
    """(chromium, chromedriver), or None where they are not installed."""
    found = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    return found if all(found) else None


class Browser:
    def __init__(self, width=1280, height=900, dark=False):
        self.folder = tempfile.mkdtemp(prefix="whywait-browser-")
        self.options = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb",
                        "--disable-background-networking", "--no-first-run", "--no-sandbox", f"--window-size={width},{height}", f"--user-data-dir={self.folder}"]
        self.options += ["--blink-settings=preferredColorScheme=0"] if dark else []
        self.session = None

    def __enter__(self):
        chromium, driver = programs()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen([driver, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       env={**os.environ, "HOME": self.folder})
        try:
            self._wait_for_driver()
            capabilities = {"browserName": "chrome", "goog:chromeOptions": {"binary": chromium, "args": self.options},
                            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
            self.session = self._call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})["sessionId"]
            self.command("POST", "/timeouts", {"script": 60000, "pageLoad": 60000})
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            if self.session:
                self._call("DELETE", f"/session/{self.session}")
        finally:
            self.driver.terminate()
            self.driver.wait()
            shutil.rmtree(self.folder, ignore_errors=True)

    def _wait_for_driver(self):
        for _ in range(300):
            try:
                if self._call("GET", "/status")["ready"]:
                    return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError("chromedriver does not answer")

    def _call(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as problem:
            raise RuntimeError(json.load(problem)["value"]["message"]) from None

    def command(self, method, path, body=None):
        return self._call(method, f"/session/{self.session}{path}", body)

    def open(self, path, address=""):
        """Waits until the page has drawn itself."""
        self.command("POST", "/url", {"url": "about:blank"})
        self.command("POST", "/url", {"url": f"file://{os.path.abspath(path)}{address}"})
        self.until("return document.documentElement.dataset.openMs || document.querySelector('[role=alert]')")

    def run(self, script, *arguments):
        return self.command("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def run_async(self, script, *arguments):
        return self.command("POST", "/execute/async", {"script": script, "args": list(arguments)})

    def until(self, script, *arguments, seconds=60):
        end = time.monotonic() + seconds
        while not (value := self.run(script, *arguments)):
            if time.monotonic() > end:
                raise AssertionError(f"still not so after {seconds} s: {script}")
            time.sleep(0.05)
        return value

    def find(self, selector):
        return next(iter(self.command("POST", "/element", {"using": "css selector", "value": selector}).values()))

    def click(self, selector):
        element = self.find(selector)
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        self.command("POST", f"/element/{element}/click", {})

    def type(self, selector, text):
        self.command("POST", f"/element/{self.find(selector)}/value", {"text": text})

    def keys(self, *keys):
        actions = [{"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")]
        self.command("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def drag(self, selector, x0, y0, x1, y1, pointer="mouse"):
        """Offsets from the middle of the element."""
        origin = {"element-6066-11e4-a52e-4f735466cecf": self.find(selector)}
        move = lambda x, y, ms: {"type": "pointerMove", "duration": ms, "x": round(x), "y": round(y), "origin": origin}
        actions = [move(x0, y0, 0), {"type": "pointerDown", "button": 0}, move((x0 + x1) / 2, (y0 + y1) / 2, 50), move(x1, y1, 50), {"type": "pointerUp", "button": 0}]
        self.command("POST", "/actions", {"actions": [{"type": "pointer", "id": pointer, "parameters": {"pointerType": pointer}, "actions": actions}]})

    def wheel(self, selector, x, y, delta, control=False):
        origin = {"element-6066-11e4-a52e-4f735466cecf": self.find(selector)}
        wheel = [{"type": "scroll", "x": x, "y": y, "deltaX": 0, "deltaY": delta, "origin": origin}]
        pause = {"type": "pause", "duration": 0}
        key = [{"type": "keyDown", "value": KEYS["Control"]}, pause, {"type": "keyUp", "value": KEYS["Control"]}] if control else []
        inputs = [{"type": "wheel", "id": "wheel", "actions": ([pause] if control else []) + wheel}]
        self.command("POST", "/actions", {"actions": inputs + ([{"type": "key", "id": "keys", "actions": key}] if control else [])})

    def size(self, width, height):
        self.command("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}})

    def picture(self, path, whole=False):
        shot = self.command("POST", "/goog/cdp/execute", {"cmd": "Page.captureScreenshot", "params": {"captureBeyondViewport": whole}})
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def log(self, kind="browser"):
        return self.command("POST", "/se/log", {"type": kind})

    def problems(self):
        """Errors and warnings of the console."""
        return [entry["message"] for entry in self.log() if entry["level"] in ("SEVERE", "WARNING")]

    def requests(self):
        """Addresses that were asked for, but for the page itself and what the browser shows before it."""
        messages = [json.loads(entry["message"])["message"] for entry in self.log("performance")]
        urls = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith(("file://", "data:", "about:", "chrome://"))]
