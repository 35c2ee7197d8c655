"""The test cluster, the servers on it and their clients, for the suites beside this file."""

import binascii
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/support"))
from resp import Connection, encode  # noqa: E402

SLOTS = 16384
CLOCK_TICK = os.sysconf("SC_CLK_TCK")
# No server on a healthy machine takes longer to start or to end; it only bounds how long a broken one hangs.
PATIENCE_S = 60


class ErrorReply(RuntimeError):
    """An error that a server replied."""

    def is_unknown(self):
        """Nobody knows whether the write has happened."""
        return str(self).startswith("UNKNOWN ")

    def is_refusal(self):
        """The cluster did not answer, and nothing has happened."""
        return str(self).startswith("TRYAGAIN ")


class Client(Connection):
    """A connection. Replies are bytes (numbers too), None or lists; an error is raised, but is a value inside of a list."""

    def __init__(self, port, patience_s=PATIENCE_S):
        super().__init__(port, patience_s)

    def send(self, *words):
        super().send(encode(*words))

    def send_all(self, requests):
        """Several requests in one piece."""
        super().send(b"".join(encode(*words) for words in requests))

    def read(self):
        value = self.whole()
        if isinstance(value, ErrorReply):
            raise value
        return value

    def whole(self):
        """A reply of either version of the protocol; an error is a value here."""
        line = self.line()
        kind, rest = line[:1], line[1:]
        if kind == b"-":
            return ErrorReply(rest.decode())
        if kind in b"+:,#(":
            return rest
        if kind == b"_" or rest == b"-1":
            return None
        if kind in b"$=!":
            return self.file.read(int(rest) + 2)[:-2]
        return [self.whole() for _ in range(int(rest) * (2 if kind == b"%" else 1))]

    def call(self, *words):
        self.send(*words)
        return self.read()

    def answer(self, *words):
        """The reply as it is: an error is a value here."""
        self.send(*words)
        return self.whole()

    def transaction(self, *requests):
        """The replies to requests in a MULTI; None if a watched key was changed."""
        self.send_all([("MULTI",), *requests, ("EXEC",)])
        for words in [("MULTI",), *requests]:
            queued = self.whole()
            if isinstance(queued, ErrorReply):
                raise AssertionError(f"{words[0]} is not queued: {queued}")
        return self.read()

    def hears(self, patience_s):
        """Whether anything arrives within so many seconds."""
        self.socket.settimeout(patience_s)
        try:
            return bool(self.file.peek(1))
        except TimeoutError:
            # What was read from a file that timed out once cannot be read any more.
            self.file = self.socket.makefile("rb")
            return False
        finally:
            self.socket.settimeout(PATIENCE_S)

    def close(self):
        self.file.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Gateway:
    """A server on the cluster."""

    def __init__(self, command):
        self.port = free_port()
        self.process = subprocess.Popen([*map(str, command), "--port", str(self.port)])

    def wait_until_it_serves(self):
        """It listens before it has its store, and replies to this once it has."""
        begin = time.monotonic()
        while time.monotonic() < begin + PATIENCE_S and self.process.poll() is None:
            try:
                with self.client() as client:
                    client.call("EXISTS", "key")
                    return self
            except (OSError, ErrorReply):
                time.sleep(0.02)
        raise AssertionError("a server does not serve")

    def client(self, patience_s=PATIENCE_S):
        return Client(self.port, patience_s)

    def fact(self, name, section="ALL"):
        """A number of INFO; to tell some sections the server asks the cluster."""
        with self.client() as client:
            return int(re.search(rb"^%b:(\d+)" % name.encode(), client.call("INFO", section), re.M).group(1))

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return sum(map(int, fields[11:13])) / CLOCK_TICK

    def kill(self):
        """As kill -9 does; it is gone afterwards."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE_S)

    def pause(self):
        """Stands still when this returns."""
        self.process.send_signal(signal.SIGSTOP)
        tasks = Path(f"/proc/{self.process.pid}/task")
        until(PATIENCE_S, "it stands still", lambda: all(state_of(task) == "T" for task in tasks.iterdir()))

    def resume(self):
        self.process.send_signal(signal.SIGCONT)


class Cluster:
    """The test cluster, and the servers on it. `is_long` asks suites for their figures and not for a quick look."""

    def __init__(self, edgecask, python=sys.executable, is_long=False, tls=None):
        self.edgecask, self.python, self.is_long = edgecask, python, is_long
        self.gateways = []
        self.server = subprocess.Popen(
            [ROOT / ".build/cluster/mocktikvd", "-stores", "3", "-stdin", *(["-tls", tls] if tls else [])], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.pd, self.admin = re.match(r"PD (\S+) ADMIN (\S+)", self.server.stdout.readline()).groups()

    def ask(self, path):
        with urllib.request.urlopen(f"http://{self.admin}{path}", timeout=10) as answer:
            return json.load(answer)

    def counts(self):
        """What was asked since the last call, but for what clients of the cluster ask by themselves."""
        counts = self.ask("/counts?reset=1")
        return {method: count for method, count in counts.items() if method.startswith("Kv")}

    def start(self, store, *flags, is_quiet=False):
        """Starts a server; a quiet one says nothing of a cluster that is broken on purpose."""
        gateway = self.begin_to_start(store, *flags, is_quiet=is_quiet)
        return gateway.wait_until_it_serves()

    def begin_to_start(self, store, *flags, is_quiet=False):
        """The same without waiting for it."""
        arguments = ["--engine", "tikv", "--pd", self.pd, "--tikv-prefix", store, *([] if "--http-port" in flags else ["--http-port", "off"]), *flags]
        level = "error" if is_quiet else "warn"
        gateway = Gateway([self.edgecask, "serve", *arguments, *([] if "--log-level" in flags else ["--log-level", level])])
        self.gateways.append(gateway)
        return gateway

    def serve(self, store):
        """Starts a server and returns its port."""
        return self.start(store).port

    def split_at(self, store, slot):
        """Begins a region at a slot of the first database of a store."""
        return self.ask(f"/split?key={place(store, slot).hex()}")

    def merge_any(self, draw):
        """Makes one region of two neighbours by chance."""
        regions = sorted(self.ask("/regions"), key=lambda region: region["Start"])
        if len(regions) > 1:
            at = draw.randrange(len(regions) - 1)
            self.ask(f"/merge?left={regions[at]['ID']}&right={regions[at + 1]['ID']}")

    def heal(self):
        """Ends all faults, but begins no server that has ended."""
        self.ask("/heal")

    def end(self):
        running = [gateway.process for gateway in self.gateways if gateway.process.poll() is None]
        for process in running:
            process.send_signal(signal.SIGCONT)
            process.terminate()
        for process in running:
            process.wait(PATIENCE_S)
        self.server.stdin.close()
        self.server.wait(PATIENCE_S)


def state_of(task):
    """The letter of the system for what a thread does."""
    return (task / "stat").read_text().rsplit(")", 1)[1].split()[0]


STORES = (1, 2, 3)
# What servers ask of the cluster.
METHODS = (
    "KvGet", "KvBatchGet", "KvScan", "KvPrewrite", "KvCommit", "KvBatchRollback", "KvCheckTxnStatus", "KvResolveLock", "KvScanLock",
    "GetRegion", "GetRegionByID", "GetStore", "own%20KvPrewrite", "own%20KvScan",
)


def slot_of(key):
    """The slot of a key, as Redis Cluster counts them."""
    tag = re.search(rb"\{([^}]+)\}", key.encode())
    return binascii.crc_hqx(tag.group(1) if tag else key.encode(), 0) % SLOTS


def place(store, slot, db=0):
    """Where what a database has in a slot begins in the cluster."""
    return bytes([len(store)]) + store.encode() + (db + 1).to_bytes(4, "big") + slot.to_bytes(2, "big")


def until(limit_s, what, is_so):
    """Waits until something is so, and returns how many seconds that took."""
    begin = time.monotonic()
    while not is_so():
        if time.monotonic() > begin + limit_s:
            raise AssertionError(f"after {limit_s} s it is not so that {what}")
        time.sleep(0.01)
    return time.monotonic() - begin


def check(what, found, expected):
    if found != expected:
        raise AssertionError(f"{what}: {found!r}, not {expected!r}")
