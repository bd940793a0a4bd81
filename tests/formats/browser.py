"""A headless Chromium at the end of two pipes: pages, clicks, keys, pictures, and what the console said.

The DevTools protocol as Chromium speaks it with --remote-debugging-pipe: JSON messages that end in NUL, read
from descriptor 3 and written to 4. No driver, no port.
"""
import base64, json, os, shutil, subprocess, tempfile


def find():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return None


class Window:
    """What every browser here has: a process with a profile of its own, and elements in places."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def middle(self, selector, index):
        box = self.ask("(() => { const e = document.querySelectorAll(%s)[%d]; if (!e) return null; e.scrollIntoView({block:"
                       " 'center'}); const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2] })()"
                       % (json.dumps(selector), index))
        if box is None:
            raise SystemExit("nothing to click: " + selector)
        return box

    def box(self, selector):
        return self.ask("(() => { const e = document.querySelector(%s); e.scrollIntoView({block: 'center'}); const b ="
                        " e.getBoundingClientRect(); return [b.x, b.y, b.width, b.height] })()" % json.dumps(selector))


class Browser(Window):
    def __init__(self, width=1300, height=900):
        self.profile = tempfile.mkdtemp(prefix="browser-")
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()

        def descriptors():
            os.dup2(to_read, 250), os.dup2(from_write, 251) # out of each other's way
            os.dup2(250, 3), os.dup2(251, 4)

        self.process = subprocess.Popen(
            [find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--remote-debugging-pipe", "--user-data-dir=" + self.profile, "--window-size=%d,%d" % (width, height)],
            preexec_fn=descriptors, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read), os.close(from_write)
        self.out, self.into = os.fdopen(to_write, "wb"), os.fdopen(from_read, "rb")
        self.number, self.events, self.session, self.rest = 0, [], None, b""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def read(self):
        while b"\0" not in self.rest:
            got = self.into.read1(1 << 20)
            if not got:
                raise SystemExit("the browser has ended")
            self.rest += got
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.out.write(json.dumps(message).encode() + b"\0")
        self.out.flush()
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit("%s: %s" % (method, answer["error"]))
                return answer["result"]
            self.events.append(answer)

    def wait(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.read())

    # ---- What tests say ------------------------------------------------------------------------

    def open(self, path):
        self.events = []
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait("Page.loadEventFired")

    def ask(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise SystemExit("%s: %s" % (expression, answer["exceptionDetails"]))
        return answer["result"].get("value")

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)

    def click(self, selector, index=0):
        """With the mouse, in the middle of what is there."""
        x, y = self.middle(selector, index)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def drag(self, selector, begin, end):
        """Across an element, from one part of its width to another."""
        x, y, width, height = self.box(selector)
        for kind, part in (("mousePressed", begin), ("mouseMoved", (begin + end) / 2), ("mouseMoved", end), ("mouseReleased", end)):
            self.call("Input.dispatchMouseEvent", type=kind, x=x + part * width, y=y + height / 2, button="left", buttons=1, clickCount=1)

    def key(self, key, text=None):
        code = {"Escape": 27, "Enter": 13}.get(key, ord(key[0].upper()))
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code,
                  text=text or (key if len(key) == 1 else "\r" if key == "Enter" else ""))
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def complaints(self):
        """What the console said, errors of scripts, and requests for anything but the page itself."""
        said = []
        for event in self.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                said.append(parameters["exceptionDetails"]["exception"].get("description", "an exception"))
            elif method == "Runtime.consoleAPICalled":
                said.append("console.%s" % parameters["type"])
            elif method == "Log.entryAdded":
                said.append(parameters["entry"]["text"])
            elif method == "Network.requestWillBeSent" and not parameters["request"]["url"].startswith("file://"):
                said.append("asked for " + parameters["request"]["url"][:200])
        return said
