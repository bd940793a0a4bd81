"""listen.py KIND WHERE OUT - the other end of a report's target, until the sender is done.

KIND    unix, tcp        a stream socket: what comes is written to OUT as it is
        syslog           datagrams of syslog (syslog-stream: a stream of them, with NUL between)
        journal          datagrams of systemd's journal
        sleep            a stream socket that is accepted and never read
WHERE   the path of the socket; for tcp the file that the port is written to when it is known

Of messages OUT has the lines that they carry; OUT.heads has what stood before each of them.
A datagram "END" ends a log. Prints "ready" when it listens.
"""
import os
import re
import socket
import sys
import time

kind, where, out = sys.argv[1:4]
STREAMS = {"unix", "tcp", "syslog-stream", "sleep"}

if kind == "tcp":
    server = socket.create_server(("127.0.0.1", 0))
    with open(where + ".new", "w") as file:
        file.write(str(server.getsockname()[1]))
    os.rename(where + ".new", where)
else:
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM if kind in STREAMS else socket.SOCK_DGRAM)
    server.bind(where)
    if kind in STREAMS:
        server.listen(1)
print("ready", flush=True)


def stream():
    connection, _ = server.accept()
    if kind == "sleep":
        time.sleep(3600)
    data = b""
    while piece := connection.recv(65536):
        data += piece
    return data


def messages():
    if kind == "syslog-stream":
        yield from stream().split(b"\0")[:-1]
        return
    while (message := server.recv(1 << 18)) != b"END":
        yield message


def take_apart(message):
    if kind == "journal":
        head, _, text = message.partition(b"MESSAGE=")
        fields = dict(line.split(b"=", 1) for line in head.splitlines())
        return b" ".join(b"%s=%s" % pair for pair in sorted(fields.items())), text
    found = re.fullmatch(rb"(<\d+>)([A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d) (\w+)\[\d+\]: (.*)", message, re.S)
    assert found, message
    return found[1] + b" " + found[3], found[4]


if kind in ("unix", "tcp", "sleep"):
    with open(out + ".new", "wb") as file:
        file.write(stream())
else:
    parts = [take_apart(message) for message in messages()]
    with open(out + ".heads", "wb") as file:
        file.write(b"".join(head + b"\n" for head, _ in parts))
    with open(out + ".new", "wb") as file:
        file.write(b"".join(text + b"\n" for _, text in parts))
os.rename(out + ".new", out)
