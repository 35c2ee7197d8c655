#!/usr/bin/env python3
"""Commands that take long, beside redis-server: how long each takes, and what a client of another connection notices.

    blocking.py --edgecask target/release/edgecask [--only bitcount] [--bytes 512mb] [--threads 0]

Both servers run at the same time and are asked in turn. While a command runs, another connection sends PING, one after the
other; its slowest percent and its slowest one are shown, in milliseconds. Each command runs `--rounds` times, and the
median of its times counts. Sizes are those of the issue that this script was written for, where Redis takes them.
"""

import argparse
import pathlib
import random
import statistics
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from resp import Connection, encode
from servers import Server

PATIENCE_S = 300


class Client(Connection):
    def __init__(self, port):
        super().__init__(port, PATIENCE_S)


class Pinger(threading.Thread):
    """Sends PING as long as the command runs and notes how long each one took."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.client = Client(port)
        self.times_ms = []
        self.is_over = False

    def run(self):
        request = encode("PING")
        while not self.is_over:
            begin = time.perf_counter()
            self.client.send(request)
            self.client.reply()
            self.times_ms.append((time.perf_counter() - begin) * 1000)
            time.sleep(0.0005)

    def end(self):
        self.is_over = True
        self.join()
        times = sorted(self.times_ms)
        return times[min(len(times) - 1, int(len(times) * 0.99))], times[-1]


def fill(client, requests, at_a_time=500):
    """Sends many requests in pipelines."""
    for first in range(0, len(requests), at_a_time):
        some = requests[first:first + at_a_time]
        client.send(b"".join(some))
        for _ in some:
            client.reply()


def members(count, start=0):
    return [b"member:%08d" % number for number in range(start, start + count)]


class Cases:
    """Each case prepares what it needs and names the request that is timed."""

    def __init__(self, size_bytes):
        self.size_bytes = size_bytes
        self.random = random.Random(15)

    def big_string(self, client):
        piece = self.random.randbytes(1 << 20)
        client.call("DEL", "big")
        for at in range(0, self.size_bytes, 1 << 20):
            client.call("SETRANGE", "big", at, piece)

    def bitcount(self, client):
        """BITCOUNT of a whole string."""
        self.big_string(client)
        return encode("BITCOUNT", "big")

    def bitpos(self, client):
        """BITPOS that finds the last bit of a string of zeros."""
        client.call("DEL", "zeros")
        client.call("SETBIT", "zeros", self.size_bytes * 8 - 1, 1)
        return encode("BITPOS", "zeros", 1)

    def bitop(self, client):
        """BITOP NOT of a long string."""
        client.call("DEL", "third")
        piece = self.random.randbytes(1 << 20)
        for at in range(0, self.size_bytes // 8, 1 << 20):
            client.call("SETRANGE", "third", at, piece)
        return encode("BITOP", "NOT", "target", "third")

    def rpush(self, client):
        """RPUSH of 200,000 elements."""
        client.call("DEL", "list")
        return encode("RPUSH", "list", *members(200_000))

    def sadd(self, client):
        """SADD of 200,000 members."""
        client.call("DEL", "new-set")
        return encode("SADD", "new-set", *members(200_000))

    def hset(self, client):
        """HSET of 100,000 fields."""
        client.call("DEL", "new-hash")
        pairs = [word for member in members(100_000) for word in (member, b"value")]
        return encode("HSET", "new-hash", *pairs)

    def zadd(self, client):
        """ZADD of 100,000 members."""
        client.call("DEL", "new-zset")
        pairs = [word for member in members(100_000)
                 for word in (b"%d" % self.random.randrange(10**6), member)]
        return encode("ZADD", "new-zset", *pairs)

    def sort(self, client):
        """SORT of 100,000 numbers with STORE."""
        if client.call("EXISTS", "numbers") == b":0":
            numbers = [b"%d" % self.random.randrange(10**9) for _ in range(100_000)]
            for at in range(0, len(numbers), 1000):
                client.call("RPUSH", "numbers", *numbers[at:at + 1000])
        return encode("SORT", "numbers", "STORE", "sorted")

    def zsets(self, client):
        if client.call("EXISTS", "left") == b":0":
            for name, start in (("left", 0), ("right", 50_000)):
                for some in range(0, 100_000, 1000):
                    pairs = [word for member in members(1000, start + some)
                             for word in (b"%d" % self.random.randrange(10**6), member)]
                    client.call("ZADD", name, *pairs)

    def zunionstore(self, client):
        """ZUNIONSTORE of 2 x 100,000 members."""
        self.zsets(client)
        return encode("ZUNIONSTORE", "union", 2, "left", "right")

    def zinterstore(self, client):
        """ZINTERSTORE of 2 x 100,000 members."""
        self.zsets(client)
        return encode("ZINTERSTORE", "common", 2, "left", "right")

    def sunionstore(self, client):
        """SUNIONSTORE of 2 x 100,000 members."""
        if client.call("EXISTS", "set1") == b":0":
            for name, start in (("set1", 0), ("set2", 50_000)):
                for some in range(0, 100_000, 1000):
                    client.call("SADD", name, *members(1000, start + some))
        return encode("SUNIONSTORE", "set-union", 2, "set1", "set2")

    def keyspace(self, client, count):
        if int(client.call("DBSIZE")[1:]) < count:
            fill(client, [encode("SET", b"key:%07d" % number, "x") for number in range(count)])

    def stars(self, client):
        """KEYS with 500,000 stars, over 100,000 keys."""
        self.keyspace(client, 100_000)
        return encode("KEYS", b"*" * 500_000 + b"nosuch")

    def keys(self, client):
        """KEYS over 300,000 keys, of which few match."""
        self.keyspace(client, 300_000)
        return encode("KEYS", "*:00000??")

    def all(self):
        names = ["bitcount", "bitpos", "bitop", "rpush", "sadd", "hset", "zadd", "sort", "zunionstore", "zinterstore",
                 "sunionstore", "stars", "keys"]
        return [(name, getattr(self, name)) for name in names]


def measure(server, case, rounds):
    """Median seconds of the command, and of PING meanwhile the slowest percent and the slowest in milliseconds."""
    times, slow, slowest = [], [], []
    client = Client(server.port)
    for _ in range(rounds):
        request = case(client)
        pinger = Pinger(server.port)
        pinger.start()
        time.sleep(0.02)
        begin = time.perf_counter()
        client.send(request)
        reply = client.reply()
        times.append(time.perf_counter() - begin)
        percent, worst = pinger.end()
        if reply.startswith(b"-"):
            sys.exit(f"{case.__name__}: {reply.decode()}")
        slow.append(percent)
        slowest.append(worst)
    return statistics.median(times), statistics.median(slow), statistics.median(slowest)


def size(text):
    units = {"kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30}
    return int(text[:-2]) * units[text[-2:]] if text[-2:] in units else int(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edgecask", required=True)
    parser.add_argument("--redis", default="redis-server")
    parser.add_argument("--only", action="append", help="the name of a case; may be repeated")
    parser.add_argument("--bytes", type=size, default=512 << 20, help="length of the long strings")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=0)
    arguments = parser.parse_args()

    cases = Cases(arguments.bytes)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        edgecask = [arguments.edgecask, "--dir", str(folder / "store"), "--threads", str(arguments.threads)]
        redis = [arguments.redis, "--save", "", "--appendonly", "no", "--dir", str(folder),
                 "--proto-max-bulk-len", "64gb"]
        with Server(edgecask, folder / "edgecask.log") as ours, Server(redis, folder / "redis.log") as theirs:
            print(f"{'':14}{'edgecask':>30}{'redis-server':>30}")
            print(f"{'command':14}" + 2 * f"{'s':>10}{'p99 ms':>10}{'max ms':>10}", flush=True)
            for name, case in cases.all():
                if arguments.only and name not in arguments.only:
                    continue
                cells = []
                for server in (ours, theirs):
                    took_s, percent_ms, worst_ms = measure(server, case, arguments.rounds)
                    cells.append(f"{took_s:10.3f}{percent_ms:10.1f}{worst_ms:10.1f}")
                print(f"{name:14}" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
