"""Strings far larger than an entry of the cluster may be: they go in and out in pieces, and nobody else waits."""

import hashlib
import random
import socket
import threading
import time

from harness import Client, ErrorReply, check

MIB = 1024 * 1024
# What a server needs besides, and some megabytes that are under way.
RSS_MAX_MIB = 200


def resident_mib(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) // 1024


def parts(size, seed):
    """Bytes of a size, a megabyte at a time."""
    generator = random.Random(seed)
    while size > 0:
        part = generator.randbytes(min(size, MIB))
        size -= len(part)
        yield part


def send_set(client, key, size, seed):
    """SET of a huge value; returns the sum of it. The reply is not read."""
    client.socket.sendall(b"*3\r\n$3\r\nSET\r\n$%d\r\n%b\r\n$%d\r\n" % (len(key), key, size))
    digest = hashlib.sha1()
    for part in parts(size, seed):
        digest.update(part)
        client.socket.sendall(part)
    client.socket.sendall(b"\r\n")
    return digest.hexdigest()


def read_sum(client):
    """The length and the sum of a huge reply, which is not held."""
    line = client.line()
    assert line[:1] == b"$", line
    size = left = int(line[1:])
    digest = hashlib.sha1()
    while left:
        part = client.file.read(min(left, MIB))
        assert part, "the connection was closed"
        digest.update(part)
        left -= len(part)
    client.file.read(2)
    return size, digest.hexdigest()


class Beside:
    """Asks for a short value again and again; tells the longest wait in seconds."""

    def __init__(self, port):
        self.client, self.longest_s, self.is_over = Client(port), 0, False
        self.client.call("SET", "short", "v")
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.is_over:
            begin = time.monotonic()
            self.client.call("GET", "short")
            self.longest_s = max(self.longest_s, time.monotonic() - begin)
            time.sleep(0.01)

    def end(self):
        self.is_over = True
        self.thread.join()
        return self.longest_s


def huge_values(cluster):
    """A value of 300 MiB goes in and out with bounded memory; what is cut off in the middle was never there."""
    size = 300 * MIB
    server = cluster.start("huge")
    client = Client(server.port)
    beside = Beside(server.port)
    begin = time.monotonic()
    expected = send_set(client, b"film", size, 1)
    check("SET", client.read(), b"OK")
    written_s = time.monotonic() - begin
    check("STRLEN", client.call("STRLEN", "film"), b"%d" % size)
    begin = time.monotonic()
    client.send("GET", "film")
    check("GET", read_sum(client), (size, expected))
    read_s = time.monotonic() - begin
    longest_s = beside.end()
    most = resident_mib(server.process.pid)
    print(f"  SET {size // MIB} MiB {written_s:.1f} s, GET {read_s:.1f} s, another GET {longest_s * 1000:.0f} ms, {most} MiB")
    assert most < RSS_MAX_MIB, f"{most} MiB"
    # Changed in the middle and at the end, and read in part, by another server.
    other = Client(cluster.serve("huge"))
    check("SETRANGE", other.call("SETRANGE", "film", str(100 * MIB), "inside"), b"%d" % size)
    check("GETRANGE", client.call("GETRANGE", "film", str(100 * MIB - 2), str(100 * MIB + 5))[2:], b"inside")
    send_set(client, b"short film", 5 * MIB, 2)
    check("SET", client.read(), b"OK")
    check("APPEND", other.call("APPEND", "short film", "end"), b"%d" % (5 * MIB + 3))
    check("GETRANGE", client.call("GETRANGE", "short film", "-5", "-1")[2:], b"end")
    check("COPY", client.call("COPY", "short film", "copy"), b"1")
    check("RENAME", client.call("RENAME", "copy", "{another slot}"), b"OK")
    other.send("GET", "{another slot}")
    check("GET of a renamed copy", read_sum(other)[0], 5 * MIB + 3)
    # Too long, too long as an element, and cut off.
    client.socket.sendall(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n" % (512 * MIB + 1))
    try:
        raise AssertionError(f"taken: {client.read()}")
    except ErrorReply as error:
        assert "invalid bulk length" in str(error), error
    cut = Client(server.port)
    cut.socket.sendall(b"*3\r\n$3\r\nSET\r\n$4\r\nfilm\r\n$%d\r\n" % size)
    for part in parts(20 * MIB, 3):
        cut.socket.sendall(part)
    server.kill()
    check("what a killed server leaves", other.call("STRLEN", "film"), b"%d" % size)
    check("DEL", other.call("DEL", "film"), b"1")
    check("GET", other.call("GET", "film"), None)


def slow_reader(cluster):
    """A client that reads slowly costs no memory, and gets all of a value that is deleted meanwhile."""
    size = 64 * MIB
    server = cluster.start("slow")
    client = Client(server.port)
    expected = send_set(client, b"film", size, 4)
    check("SET", client.read(), b"OK")
    readers = [Client(server.port) for _ in range(8)]
    for reader in readers:
        reader.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
        reader.send("GET", "film")
    time.sleep(1)
    check("DEL", client.call("DEL", "film"), b"1")
    for reader in readers:
        check("GET", read_sum(reader), (size, expected))
    most = resident_mib(server.process.pid)
    assert most < RSS_MAX_MIB, f"{most} MiB"
