#!/usr/bin/python3
"""hostile.py HOST:PORT/ PID - clients that want to do harm to the server PID: long lines, many headers, half requests, many
connections, bytes at random, answers that are not read. After each the server answers an honest client, and in the end it
has the descriptors that it had, and little more memory."""
import os
import random
import socket
import sys
import threading
import time

host, port = sys.argv[1].rstrip("/").rsplit(":", 1)
pid = sys.argv[2]
HEAD = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n"


def connect():
    client = socket.create_connection((host, int(port)), timeout=20)
    return client


def exchange(data):
    """What the server says until it closes the connection, or b"" if it closes at once."""
    client = connect()
    answer = b""
    try:
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        while part := client.recv(65536):
            answer += part
    except OSError:
        pass
    client.close()
    return answer


def throw(data):
    """Sends it and goes: half a request would be kept until its time is over."""
    client = connect()
    try:
        client.sendall(data)
    except OSError:
        pass
    client.close()


def status(data):
    words = exchange(data).split(b" ", 2)
    return int(words[1]) if len(words) > 2 else 0


def descriptors():
    return len(os.listdir(f"/proc/{pid}/fd"))


def kilobytes():
    with open(f"/proc/{pid}/status") as text:
        return int(next(line for line in text if line.startswith("VmRSS")).split()[1])


def honest(after):
    """The server may close connections of others first: it is asked until it answers."""
    end = time.monotonic() + 60
    while True:
        try:
            if status(HEAD + b"Connection: close\r\n\r\n") == 200:
                return
        except (OSError, ValueError):
            pass
        if time.monotonic() > end:
            sys.exit(f"no answer after: {after}")
        time.sleep(0.1)


def expect(what, data, wanted):
    got = status(data)
    if got not in wanted:
        sys.exit(f"{what}: {got}, wanted one of {wanted}")
    honest(what)


def be_slow():
    """A byte a second keeps a connection busy, but not for ever."""
    client = connect()
    began = time.monotonic()
    try:
        for byte in HEAD * 100:
            client.sendall(bytes([byte]))
            time.sleep(1)
    except OSError:
        pass
    client.close()
    busy.append(time.monotonic() - began)


honest("nothing")
had_descriptors, had_memory = descriptors(), kilobytes()
busy = []
slow = threading.Thread(target=be_slow, daemon=True)
slow.start()

expect("a long address", b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", (0, 400, 414, 431))
expect("a long header", HEAD + b"X: " + b"a" * 100000 + b"\r\n\r\n", (0, 400, 413, 431))
expect("many headers", HEAD + b"X: a\r\n" * 20000 + b"\r\n", (0, 400, 413, 431))
expect("no end of a line", b"G" * 100000, (0, 400, 414, 431))
expect("a body without an end", b"POST /process/1/look HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999\r\n\r\n" + b"x" * 100000, (0, 400, 403, 413))
expect("a length that is none", b"POST /process/1/look HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", (0, 400, 403, 413))
expect("chunks that are none", b"POST /process/1/look HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n", (0, 400, 403))
for path in (b"/../../../../etc/passwd", b"/process/1/../../etc/passwd", b"/%2e%2e/%2e%2e/etc/passwd", b"//etc/passwd",
             b"/process/1/report%00.txt", b"/style.css/../pages.c", b"/\xff\xfe"):
    expect(path, b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", (0, 400, 404))
expect("a proxy's address", b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", (0, 400, 403, 404))
throw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 500)
honest("another protocol")

random.seed(27)
for _ in range(200):
    damaged = bytearray(HEAD + b"Connection: close\r\n\r\n")
    for _ in range(random.randint(1, 8)):
        damaged[random.randrange(len(damaged))] = random.randrange(256)
    throw(bytes(damaged))
honest("damaged requests")

# More connections than there are places, each with half a request; and their owner goes on.
crowd = []
for _ in range(150):
    try:
        client = socket.create_connection((host, int(port)), timeout=0.2)
        client.sendall(HEAD)
        crowd.append(client)
    except OSError:
        pass
time.sleep(0.5)
if descriptors() > had_descriptors + 80:
    sys.exit(f"{descriptors()} descriptors for {len(crowd)} connections")
for client in crowd:
    client.close()
honest("many connections")

# Answers that are not read.
lazy = []
for _ in range(30):
    client = connect()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    try:
        client.sendall((HEAD + b"\r\n") * 200)
    except OSError:
        pass
    lazy.append(client)
honest("answers that are not read")
for client in lazy:
    client.close()

slow.join(timeout=60)
if not busy:
    sys.exit("a slow client is kept")
end = time.monotonic() + 30
while descriptors() > had_descriptors + 2:
    if time.monotonic() > end:
        sys.exit(f"descriptors: {had_descriptors}, then {descriptors()}")
    time.sleep(0.2)
grown = kilobytes() - had_memory
print(f"memory: {had_memory} kB, {grown} more")
if grown > 32 << 10:
    sys.exit(f"{grown} kB more than before")
