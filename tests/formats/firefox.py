"""A headless Firefox with the words of browser.py, by the Marionette protocol: "LENGTH:JSON" on a socket.

A command is [0, number, name, parameters], its answer [1, number, error, result].
"""
import base64, json, os, shutil, socket, subprocess, tempfile, time

from browser import Window

KEYS = {"Escape": "\ue00c", "Enter": "\ue007", "Backspace": "\ue003", "Tab": "\ue004",
        "ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015"}
SETTINGS = ("browser.shell.checkDefaultBrowser", "app.normandy.enabled", "datareporting.policy.dataSubmissionEnabled",
            "toolkit.telemetry.enabled", "network.captive-portal-service.enabled", "network.connectivity-service.enabled",
            "browser.safebrowsing.update.enabled", "extensions.update.enabled", "browser.newtabpage.enabled")


def find():
    return shutil.which("firefox-esr") or shutil.which("firefox")


class Browser(Window):
    def __init__(self, width=1300, height=900):
        self.profile = tempfile.mkdtemp(prefix="firefox-")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with open(os.path.join(self.profile, "user.js"), "w") as settings:
            settings.write('user_pref("marionette.port", %d);\n' % port)
            settings.writelines('user_pref("%s", false);\n' % name for name in SETTINGS)
        self.said = open(os.path.join(self.profile, "said"), "w+")
        self.process = subprocess.Popen([find(), "--headless", "--marionette", "--no-remote", "--profile", self.profile],
                                        stdin=subprocess.DEVNULL, stdout=self.said, stderr=self.said,
                                        env={**os.environ, "HOME": self.profile, "MOZ_HEADLESS": "1"})
        self.socket, self.rest, self.number = self.connect(port), b"", 0
        self.read()
        self.call("WebDriver:NewSession", capabilities={"alwaysMatch": {"acceptInsecureCerts": False}})
        self.resize(width, height)

    def connect(self, port):
        while self.process.poll() is None:
            try:
                return socket.create_connection(("127.0.0.1", port))
            except ConnectionRefusedError:
                time.sleep(0.1)
        raise SystemExit("the browser has ended")

    def read(self):
        while b":" not in self.rest:
            self.more()
        length, self.rest = self.rest.split(b":", 1)
        while len(self.rest) < int(length):
            self.more()
        message, self.rest = self.rest[:int(length)], self.rest[int(length):]
        return json.loads(message)

    def more(self):
        got = self.socket.recv(1 << 16)
        if not got:
            raise SystemExit("the browser has ended")
        self.rest += got

    def call(self, name, **parameters):
        self.number += 1
        text = json.dumps([0, self.number, name, parameters]).encode()
        self.socket.sendall(b"%d:" % len(text) + text)
        _, number, error, result = self.read()
        if error or number != self.number:
            raise SystemExit("%s: %s" % (name, error))
        return result

    def act(self, kind, actions, **more):
        self.call("WebDriver:PerformActions", actions=[{"type": kind, "id": kind, "actions": actions, **more}])

    # ---- What tests say ------------------------------------------------------------------------

    def open(self, path):
        self.call("WebDriver:Navigate", url="file://" + os.path.abspath(path))

    def ask(self, expression):
        return self.call("WebDriver:ExecuteScript", script="return (%s)" % expression, args=[])["value"]

    def resize(self, width, height):
        """The page gets this size; the window has a frame around it."""
        for _ in range(2):
            frame = self.ask("[outerWidth - innerWidth, outerHeight - innerHeight]")
            self.call("WebDriver:SetWindowRect", width=width + frame[0], height=height + frame[1])

    def click(self, selector, index=0):
        x, y = self.middle(selector, index)
        self.act("pointer", [{"type": "pointerMove", "x": round(x), "y": round(y)},
                             {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}])

    def drag(self, selector, begin, end):
        x, y, width, height = self.box(selector)
        moves = [{"type": "pointerMove", "x": round(x + part * width), "y": round(y + height / 2)} for part in (begin, (begin + end) / 2, end)]
        self.act("pointer", [moves[0], {"type": "pointerDown", "button": 0}, *moves[1:], {"type": "pointerUp", "button": 0}])

    def key(self, key):
        self.type(KEYS.get(key, key))

    def type(self, text):
        self.act("key", [{"type": kind, "value": letter} for letter in text for kind in ("keyDown", "keyUp")])

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("WebDriver:TakeScreenshot", full=False)["value"]))

    def complaints(self):
        """Errors of scripts, which Firefox prints."""
        self.said.seek(0)
        return [line.strip() for line in self.said if "JavaScript error: file:" in line]
