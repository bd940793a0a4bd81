"""The programs of rounds.py: each is started, loaded with requests, and checked."""
import glob
import http.client
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
HANG = 2.0
LONG = "86400"


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as stream:
            return [int(word) for word in stream.read().split()]
    except OSError:
        return []


class Program:
    """A process in a folder of its own. Clients are threads that call `ask` again and again."""

    needs = ()
    clients = 0

    def __init__(self, name, options):
        self.name, self.title, self.options = name, name, options
        self.folder = tempfile.mkdtemp(prefix=f"rounds-{name.replace(':', '-')}-")
        os.chmod(self.folder, 0o755)
        self.process, self.threads = None, []
        self.ending, self.lock = False, threading.Lock()
        self.asked, self.longest, self.wrong = 0, 0.0, []

    # ---- What a program defines
    def command(self):
        raise NotImplementedError

    def ready(self):
        """True when it answers."""
        return True

    def connect(self):
        return None

    def ask(self, connection, number):
        """Sends a request; returns what is wrong with the answer, or None."""

    # ---- The rest
    def spawn(self, words, **more):
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=open(f"{self.folder}/out", "ab"),
                                stderr=subprocess.STDOUT, cwd=self.folder, start_new_session=True, **more)

    def start(self):
        self.process = self.spawn(self.command())
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                if self.ready():
                    break
            except OSError:
                pass
            time.sleep(0.1)
        else:
            raise RuntimeError(f"{self.name} does not start: {self.said()[-500:]}")
        self.threads = [threading.Thread(target=self.client, args=(i,), daemon=True) for i in range(self.clients)]
        for thread in self.threads:
            thread.start()

    def client(self, which):
        connection, number = None, which
        while not self.ending:
            begun = time.monotonic()
            try:
                if connection is None:
                    connection = self.connect()
                wrong = self.ask(connection, number)
            except (OSError, http.client.HTTPException) as error:
                wrong = f"no answer: {error!r}"
                connection = None
                time.sleep(0.05)
            took = time.monotonic() - begun
            number += self.clients
            with self.lock:
                self.asked += 1
                self.longest = max(self.longest, took)
                if wrong and not self.ending:
                    self.wrong.append(wrong)
                if took > HANG:
                    self.wrong.append(f"an answer took {took:.1f} s")

    def pids(self):
        return [self.process.pid]

    def may_end(self, pid):
        return False

    def faults(self):
        with self.lock:
            wrong, self.wrong = self.wrong, []
        return wrong

    def said(self):
        with open(f"{self.folder}/out", encoding="utf-8", errors="replace") as stream:
            return stream.read()

    def end(self):
        self.ending = True
        for thread in self.threads:
            thread.join(5)
        return self.faults()

    def answers(self):
        return f"{self.asked:,}, {self.longest * 1e3:.0f}"

    def kill(self):
        self.ending = True
        if self.process:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except OSError:
                pass
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server(Program):
    clients = 4

    def __init__(self, name, options):
        super().__init__(name, options)
        self.port = free_port()

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection.makefile("rwb")

    def ready(self):
        socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        return True


class Redis(Server):
    needs = ("redis-server",)

    def command(self):
        return ["redis-server", "--port", str(self.port), "--save", "", "--appendonly", "no"]

    def ask(self, connection, number):
        value = b"v%d" % number * (1 + number % 40)
        key = b"k%d" % (number % 1000 * self.clients + number % self.clients)
        connection.write(b"*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n*2\r\n$3\r\nGET\r\n$%d\r\n%s\r\n" %
                         (len(key), key, len(value), value, len(key), key))
        connection.flush()
        answer = connection.readline() + connection.readline() + connection.readline()
        return None if answer == b"+OK\r\n$%d\r\n%s\r\n" % (len(value), value) else f"answer {answer[:40]!r}"


class Memcached(Redis):
    needs = ("memcached",)

    def command(self):
        return ["memcached", "-u", "nobody", "-p", str(self.port), "-l", "127.0.0.1", "-t", "3"]

    def ask(self, connection, number):
        value = b"v%d" % number * (1 + number % 40)
        key = b"k%d" % (number % 1000 * self.clients + number % self.clients)
        connection.write(b"set %s 0 0 %d\r\n%s\r\nget %s\r\n" % (key, len(value), value, key))
        connection.flush()
        answer = b"".join(connection.readline() for _ in range(4))
        expected = b"STORED\r\nVALUE %s 0 %d\r\n%s\r\nEND\r\n" % (key, len(value), value)
        return None if answer == expected else f"answer {answer[:40]!r}"


class Web(Server):
    """Some thousand bytes, of a file or made by the program."""

    body = b"".join(b"line %d of the page\n" % i for i in range(300))

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)

    def ask(self, connection, number):
        connection.request("GET", f"/page.html?{number}")
        answer = connection.getresponse()
        read = answer.read()
        return None if answer.status == 200 and read == self.body else f"{answer.status}, {len(read)} bytes"


class Nginx(Web):
    needs = ("nginx",)
    workers = None

    def command(self):
        with open(f"{self.folder}/page.html", "wb") as stream:
            stream.write(self.body)
        with open(f"{self.folder}/conf", "w", encoding="ascii") as stream:
            stream.write(f"""daemon off; worker_processes 2; pid {self.folder}/pid; error_log {self.folder}/log;
                events {{ worker_connections 64; }}
                http {{ gzip on; gzip_min_length 1; keepalive_requests 50; access_log off;
                client_body_temp_path {self.folder}/t; proxy_temp_path {self.folder}/t;
                fastcgi_temp_path {self.folder}/t; uwsgi_temp_path {self.folder}/t; scgi_temp_path {self.folder}/t;
                server {{ listen 127.0.0.1:{self.port}; root {self.folder}; }} }}""")
        return ["nginx", "-c", f"{self.folder}/conf", "-e", f"{self.folder}/log"]

    def pids(self):
        """The children of later are those of leak checks."""
        self.workers = self.workers or children(self.process.pid)
        return self.workers + [self.process.pid]

    def end(self):
        with open(f"{self.folder}/log", encoding="utf-8", errors="replace") as stream:
            return [line.strip() for line in stream if "exited" in line or "crit" in line] + super().end()


class Haproxy(Nginx):
    needs = ("haproxy", "nginx")

    def command(self):
        inner, self.behind = self.port, None
        words = super().command()
        self.behind = self.spawn(words)
        self.port = free_port()
        with open(f"{self.folder}/haproxy", "w", encoding="ascii") as stream:
            stream.write(f"""global
  nbthread 3
defaults
  mode http
  timeout client 30s
  timeout server 30s
  timeout connect 5s
frontend f
  bind 127.0.0.1:{self.port}
  default_backend b
backend b
  server s 127.0.0.1:{inner}
""")
        return ["haproxy", "-db", "-f", f"{self.folder}/haproxy"]

    def pids(self):
        return [self.process.pid]

    def kill(self):
        if self.behind:
            os.killpg(self.behind.pid, signal.SIGKILL)
            self.behind.wait()
        super().kill()


class Node(Web):
    needs = ("node",)

    def command(self):
        with open(f"{self.folder}/server.js", "w", encoding="ascii") as stream:
            stream.write("""const zlib = require('zlib'), body = Buffer.from(Array.from({length: 300},
                (_, i) => `line ${i} of the page\\n`).join(''));
            require('http').createServer((request, answer) => {
                zlib.deflate(body, (error, small) => zlib.inflate(small, (error, same) => answer.end(same)));
            }).listen(%d, '127.0.0.1');
            setInterval(() => { JSON.parse(JSON.stringify(Array(20000).fill({a: 1}))); }, 5);""" % self.port)
        return ["node", "server.js"]


class Ruby(Web):
    needs = ("ruby",)

    def command(self):
        with open(f"{self.folder}/server.rb", "w", encoding="ascii") as stream:
            stream.write("""require 'socket'
            body = (0...300).map { |i| "line #{i} of the page\\n" }.join
            Thread.new { loop { (0...20000).map(&:to_s).sort; sleep 0.001 } }
            server = TCPServer.new('127.0.0.1', %d)
            loop { Thread.start(server.accept) { |c|
                while c.gets
                    nil while c.gets.to_s.strip != ''
                    c.write "HTTP/1.1 200 OK\\r\\nContent-Length: #{body.bytesize}\\r\\n\\r\\n#{body}"
                end } }""" % self.port)
        return ["ruby", "server.rb"]


class Postgres(Program):
    needs = ("postgres", "initdb", "runuser")

    def command(self):
        self.port = free_port()
        user = pwd.getpwnam("postgres")
        os.chown(self.folder, user.pw_uid, user.pw_gid)
        self.tools = os.path.dirname(os.path.realpath(shutil.which("initdb")))
        self.run("initdb", "-D", f"{self.folder}/data", "-A", "trust", "--no-sync")
        return ["runuser", "-u", "postgres", "--", f"{self.tools}/postgres", "-D", f"{self.folder}/data", "-p", str(self.port),
                "-k", self.folder, "-c", "fsync=off", "-c", "max_parallel_workers=2"]

    def run(self, tool, *words):
        words = ["runuser", "-u", "postgres", "--", os.path.join(self.tools, tool), *words]
        return subprocess.run(words, capture_output=True, text=True, check=True, cwd=self.folder).stdout

    def sql(self, text):
        return self.run("psql", "-h", self.folder, "-p", str(self.port), "-At", "-c", text).strip()

    def ready(self):
        try:
            return self.sql("select 1") == "1"
        except subprocess.CalledProcessError:
            return False

    def start(self):
        super().start()
        self.run("pgbench", "-i", "-s", "2", "-q", "-h", self.folder, "-p", str(self.port))
        self.bench = subprocess.Popen(["runuser", "-u", "postgres", "--", f"{self.tools}/pgbench", "-h", self.folder, "-p",
                                       str(self.port), "-c", "4", "-j", "2", "-T", LONG, "-n", "-P", "1"],
                                      stdout=subprocess.PIPE, stderr=open(f"{self.folder}/bench", "wb"), text=True)
        time.sleep(1)

    def pids(self):
        return children(self.process.pid)[:1] + children(children(self.process.pid)[0])

    def may_end(self, pid):
        """An autovacuum worker does."""
        return pid not in self.pids() and self.bench.poll() is None

    def faults(self):
        return [] if self.bench.poll() is None else [f"pgbench ended with {self.bench.returncode}"]

    def end(self):
        faults = self.faults()
        for pid in children(self.bench.pid) + [self.bench.pid]:
            os.kill(pid, signal.SIGKILL)
        self.bench.wait()
        with open(f"{self.folder}/bench", encoding="utf-8", errors="replace") as stream:
            lines = stream.read().splitlines()
        self.rates = [float(line.split()[3]) for line in lines if line.startswith("progress:")]
        self.latest = max([float(line.split()[6]) for line in lines if line.startswith("progress:")] or [0])
        faults += [line for line in lines if "error" in line.lower() or "fatal" in line.lower()][:5]
        faults += ["no transaction in a second" for rate in self.rates[1:-1] if rate == 0]
        sums = self.sql("select (select sum(abalance) from pgbench_accounts) = (select sum(tbalance) from pgbench_tellers)"
                        " and (select sum(bbalance) from pgbench_branches) = (select sum(delta) from pgbench_history)")
        if sums != "t":
            faults.append("sums of the accounts differ")
        faults += [line for line in self.said().splitlines() if ("terminated" in line or "PANIC" in line or "FATAL" in line)
                   and "connection to client lost" not in line][:5]  # end() has killed pgbench
        return faults

    def answers(self):
        return f"{sum(self.rates):,.0f} transactions"


class Mariadb(Server):
    needs = ("mariadbd", "mariadb", "mysqlslap")
    clients = 0

    def command(self):
        user = pwd.getpwnam("mysql")
        os.chown(self.folder, user.pw_uid, user.pw_gid)
        subprocess.run(["mariadb-install-db", f"--datadir={self.folder}/data", "--user=mysql", "--auth-root-authentication-method=normal"],
                       check=True, capture_output=True)
        return ["mariadbd", "--no-defaults", f"--datadir={self.folder}/data", "--user=mysql", f"--port={self.port}",
                f"--socket={self.folder}/s", "--bind-address=127.0.0.1", f"--pid-file={self.folder}/p"]

    def start(self):
        super().start()
        self.slap = subprocess.Popen(["sh", "-c", f"while mysqlslap --no-defaults -S {self.folder}/s -u root -a -c 4 "
                                      "--auto-generate-sql-load-type=mixed --number-of-queries=2000 >/dev/null; do echo 2000; done"],
                                     stdout=open(f"{self.folder}/slaps", "wb"), stderr=subprocess.STDOUT, start_new_session=True)

    def faults(self):
        return [] if self.slap.poll() is None else ["mysqlslap: " + open(f"{self.folder}/slaps", encoding="utf-8").read()[-200:]]

    def end(self):
        faults = self.faults()
        os.killpg(self.slap.pid, signal.SIGKILL)
        self.slap.wait()
        with open(f"{self.folder}/slaps", encoding="utf-8", errors="replace") as stream:
            self.asked = 2000 * len(stream.read().split())
        return faults

    def answers(self):
        return f"{self.asked:,} queries"


class Own(Program):
    """Checks itself: a line for each wrong result, and "done ROUNDS LONGEST" at the end."""

    words = ()

    def start(self):
        super().start()

    def ready(self):
        return "ready" in self.said()

    def faults(self):
        lines = [line for line in self.said().splitlines() if line and line != "ready" and not line.startswith("done")]
        return lines if self.process.poll() is None else lines + [f"ended with {self.process.returncode}"]

    def end(self):
        """It ends when its time is up: a file says so to the programs of this folder, which else run on."""
        faults = self.faults()
        if not faults and self.worst_gap() > HANG:
            faults.append(f"stood still for {self.worst_gap():.1f} s")
        return faults

    def worst_gap(self):
        return 0

    def answers(self):
        return ""


class Busy(Own):
    def __init__(self, name, options):
        super().__init__(name, options)
        self.kind, self.work = name.split(":", 1)
        self.title = f"asleep in {self.work}" if self.kind == "blocked" else f"busy: {self.work}"

    def command(self):
        program = f"{self.options.build}/bench/{self.kind}"
        return [os.path.abspath(program), self.work, LONG]

    def faults(self):
        return [line for line in self.said().splitlines() if line and line != "ready" and not line.startswith("done")]

    def start(self):
        super().start()
        self.begun = time.monotonic()

    def end(self):
        os.kill(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            return ["does not end"]
        faults = self.faults()
        done = [line.split() for line in self.said().splitlines() if line.startswith("done ")]
        if not done:
            return faults + [f"ended with {self.process.returncode}"]
        self.asked, self.longest = int(done[0][1]), float(done[0][2]) / 1e3
        if self.longest > HANG:
            faults.append(f"a round took {self.longest:.1f} s")
        return faults

    answers = Program.answers


class Script(Own):
    """Reports the longest time between two rounds in its output, once a second."""

    def faults(self):
        lines = [line for line in self.said().splitlines() if line and line != "ready" and not line.startswith("done")]
        return lines if self.process.poll() is None else lines + [f"ended with {self.process.returncode}"]

    def end(self):
        faults = self.faults()
        last = [line.split() for line in self.said().splitlines() if line.startswith("done ") and len(line.split()) == 3][-1:]
        if last:
            self.asked, self.longest = int(last[0][1]), float(last[0][2]) / 1e3
        if not last or self.longest > HANG:
            faults.append(f"a round took {self.longest:.1f} s")
        return faults

    answers = Program.answers


class Python(Script):
    needs = ("/usr/bin/python3",)

    def command(self):
        with open(f"{self.folder}/loop.py", "w", encoding="ascii") as stream:
            stream.write("""import threading, time, json, sys, zlib
rounds, longest = 0, 0.0
def work(which):
    global rounds, longest
    while True:
        begun = time.monotonic()
        data = {str(i): [i] * 3 for i in range(300)}
        text = json.dumps(data)
        if json.loads(zlib.decompress(zlib.compress(text.encode()))) != data:
            print("wrong: a copy differs", flush=True)
        if sum(range(1000)) != 499500:
            print("wrong: a sum", flush=True)
        time.sleep(0.001 * which)
        rounds += 1
        longest = max(longest, time.monotonic() - begun)
for i in range(5):
    threading.Thread(target=work, args=(i,), daemon=True).start()
print("ready", flush=True)
while True:
    time.sleep(0.5)
    print("done", rounds, int(longest * 1000), flush=True)
""")
        return ["/usr/bin/python3", "loop.py"]


class Java(Script):
    needs = ("java", "javac")

    def command(self):
        with open(f"{self.folder}/Loop.java", "w", encoding="ascii") as stream:
            stream.write("""import java.util.*; import java.util.zip.*; import java.nio.*;
public class Loop {
    static volatile long rounds; static volatile double longest;
    static void work() {
        try {
            Random random = new Random(7);
            for (;;) {
                long begun = System.nanoTime();
                byte[] data = new byte[20000]; random.nextBytes(data);
                Deflater d = new Deflater(); d.setInput(data); d.finish();
                byte[] small = new byte[40000]; int n = d.deflate(small); d.end();
                Inflater i = new Inflater(); i.setInput(small, 0, n); byte[] same = new byte[20000];
                int m = i.inflate(same); i.end();
                if (m != 20000 || !Arrays.equals(data, same)) System.out.println("wrong: a copy differs");
                ByteBuffer buffer = ByteBuffer.allocateDirect(10000); buffer.putInt(0, 5);
                Map<Integer, String> map = new TreeMap<>();
                for (int k = 0; k < 500; k++) map.put(k, "v" + k);
                if (!map.get(77).equals("v77")) System.out.println("wrong: a map");
                synchronized (Loop.class) { rounds++; longest = Math.max(longest, (System.nanoTime() - begun) / 1e6); }
            }
        } catch (Throwable e) { System.out.println("wrong: " + e); }
    }
    public static void main(String[] words) throws Exception {
        for (int i = 0; i < 3; i++) { Thread t = new Thread(Loop::work); t.setDaemon(true); t.start(); }
        System.out.println("ready");
        for (;;) { Thread.sleep(500); System.out.println("done " + rounds + " " + (long)longest); }
    }
}
""")
        subprocess.run(["javac", "Loop.java"], cwd=self.folder, check=True)
        return ["java", "-Xmx300m", "Loop"]


class Pid(Program):
    """--pid: a process that runs already."""

    def start(self):
        self.title = f"process {self.options.pid}"

    def pids(self):
        return [self.options.pid]

    def kill(self):
        shutil.rmtree(self.folder, ignore_errors=True)


SERVERS = {"redis": Redis, "nginx": Nginx, "postgres": Postgres, "python3": Python, "java": Java, "node": Node,
           "memcached": Memcached, "haproxy": Haproxy, "mariadb": Mariadb, "ruby": Ruby, "pid": Pid}
BUSY = ["malloc", "spin", "forks", "timers", "faults", "threads", "jumps"]


def blocked_kinds():
    with open(f"{HERE}/blocked.c", encoding="ascii") as stream:
        return [line.split("(")[1].split(",")[0] for line in stream if line.startswith("    K(")]


NAMES = [name for name in SERVERS if name != "pid"] + [f"busy:{work}" for work in BUSY] + [f"blocked:{kind}" for kind in blocked_kinds()]


def make(name, options):
    """None: it is not installed."""
    kind = SERVERS.get(name, Busy)
    return kind(name, options) if all(shutil.which(tool) for tool in kind.needs) else None
