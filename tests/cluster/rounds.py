"""What commands take of a cluster: requests by its own counts, rounds by the server's, bytes, and time with a slow network.

A round is what a command waits for: requests that go out together are one.
"""

import random
import time

from harness import Client, ErrorReply, check

# Commands with the requests that the cluster must count, beside the timestamps.
ROUND_TRIPS = [
    ("SET a 1", {"KvPrewrite": 1}),
    ("GET a", {"KvGet": 1}),
    ("MGET a b c d e f g h i j", {"KvBatchGet": 1}),
    ("SETEX s 100 v", {"KvPrewrite": 1}),
    ("INCR a", {"KvGet": 1, "KvPrewrite": 1}),
    ("HSET h f 1", {"KvGet": 1, "KvPrewrite": 1}),
    ("HGETALL sixty", {"KvGet": 1}),
    ("DEL a", {"KvGet": 1, "KvPrewrite": 1}),
    ("HGET h f", {"KvGet": 1}),
    ("HMGET h f g", {"KvGet": 1}),
    ("SADD s{1} a b", {"KvGet": 1, "KvPrewrite": 1}),
    ("SISMEMBER s{1} a", {"KvGet": 1}),
    ("ZADD z 1 a", {"KvGet": 1, "KvPrewrite": 1}),
    ("ZSCORE z a", {"KvGet": 1}),
    ("MSET {m}a 1 {m}b 2", {"KvPrewrite": 1}),
    ("LPUSH l a b", {"KvGet": 1, "KvPrewrite": 1}),
    ("LPOP l", {"KvGet": 1, "KvPrewrite": 1}),
    ("SET e 1", {"KvPrewrite": 1}),
    ("EXPIRE e 100", {"KvGet": 1, "KvPrewrite": 1}),
]

MEMBERS = 1_000_000

# So many members come with one command.
AT_ONCE = 100

# So often a count may be disturbed by what a server does by itself.
TRIES = 40

# So many commands of a kind are looked at.
SAMPLES = 9

# Reads of one command in the large set stay below this.
BYTES_MAX = 64 * 1024


class Rounds:
    """Counts the rounds of one server, and the requests and bytes of its cluster."""

    def __init__(self, cluster, gateway, client):
        self.cluster, self.gateway, self.client = cluster, gateway, client

    def counted(self):
        """Rounds of reading, and writes, since the server began."""
        return [self.gateway.fact(f"cluster_{what}", "cluster-store") for what in ("reads", "writes")]

    def of(self, *words):
        """Rounds of reading, writes, bytes of reading and requests that a command takes."""
        before = self.counted()
        self.cluster.counts()
        self.cluster.ask("/bytes?reset=1")
        self.client.call(*words)
        requests, moved = self.cluster.counts(), self.cluster.ask("/bytes?reset=1")
        reads, writes = (after - before for after, before in zip(self.counted(), before, strict=True))
        read_bytes = sum(moved.get(method, 0) for method in ("KvGet", "KvBatchGet", "KvScan"))
        return reads, writes, read_bytes, requests


def undisturbed(look):
    """Calls what looks at counts until it finds them as they should be: now and then a server asks something by itself."""
    for _ in range(TRIES - 1):
        try:
            return look()
        except AssertionError:
            time.sleep(0.1)
    return look()


def round_trips(cluster):
    """A command takes no more requests to the cluster than it must."""
    client = Client(cluster.serve("round-trips"))
    client.call("HSET", "sixty", *[word for number in range(60) for word in (f"field{number}", "v")])

    def look():
        cluster.counts()
        for line, expected in ROUND_TRIPS:
            client.call(*line.split())
            check(line, cluster.counts(), expected)
        client.call("MULTI")
        for number in range(100):
            client.call("SET", f"{{tag}}{number}", "value")
        client.call("EXEC")
        check("MULTI of 100 SETs", cluster.counts(), {"KvPrewrite": 1})

    undisturbed(look)


def together(client, requests):
    """Sends requests at once and reads their replies; returns the seconds that it took."""
    begin = time.monotonic()
    client.send_all(requests)
    for _ in requests:
        client.read()
    return time.monotonic() - begin


def pipelines(cluster):
    """A pipeline takes as many rounds as one of its commands, and the replies are those of the commands alone."""
    client = Client(cluster.serve("pipelines"))
    gets = [("GET", f"key{number}") for number in range(16)]
    sets = [("SET", f"key{number}", "1") for number in range(16)]
    counters = [("INCR", f"key{number}") for number in range(16)]
    read, write = {"KvBatchGet": 1}, {"KvPrewrite": 1}

    def look(what, requests, expected):
        cluster.counts()
        took = together(client, requests)
        check(f"requests for 16 {what}", cluster.counts(), expected)
        return took

    cluster.ask("/delay?us=1000")
    for what, requests, expected in [("SETs", sets, write), ("GETs", gets, read), ("INCRs", counters, read | write)]:
        took = undisturbed(lambda: look(what, requests, expected))  # noqa: B023
        alone = sum(together(client, [words]) for words in requests)
        print(f"  16 {what}: {took * 1000:.1f} ms together, {alone * 1000:.1f} ms one by one", flush=True)
    cluster.ask("/delay?us=0")
    client.send_all([("SET", "key0", "text"), ("SET", "key1", "3"), ("INCR", "key0"), ("INCR", "key1"), ("LPUSH", "key1", "a"), ("GET", "key1")])
    found = [client.whole() for _ in range(6)]
    found = [str(reply).split()[0] if isinstance(reply, ErrorReply) else reply for reply in found]
    check("replies of a pipeline in which two fail", found, [b"OK", b"OK", "ERR", b"4", "WRONGTYPE", b"4"])


def fill(client, members):
    """Makes the set: member and score of the same place, in no order within a command."""
    shuffle = random.Random(7).shuffle
    waiting = 0
    for start in range(0, members, AT_ONCE):
        numbers = list(range(start, start + AT_ONCE))
        shuffle(numbers)
        client.send("ZADD", "large", *[word for number in numbers for word in (str(number), f"member:{number:06}")])
        waiting += 1
        if waiting > 1:
            client.read()
            waiting -= 1
    for _ in range(waiting):
        client.read()


def small_large_set(cluster):
    """The same of one that is made in seconds."""
    large_set(cluster, 20_000)


def large_set(cluster, members=MEMBERS):
    """What commands over a sorted set of a million members take."""
    gateway = cluster.start("large")
    client = gateway.client()
    begin = time.monotonic()
    fill(client, members)
    check("ZCARD", client.call("ZCARD", "large"), str(members).encode())
    print(f"  a sorted set of {members} members, made in {time.monotonic() - begin:.0f} s:", flush=True)
    rounds, draw = Rounds(cluster, gateway, client), random.Random(3)

    def member():
        return f"member:{draw.randrange(members):06}"

    def place(below=members - 200):
        return draw.randrange(100, below)

    def ranks():
        at = place()
        return str(at), str(at + 99)

    # Each with the most rounds of reading, and writes.
    commands = [
        ("ZSCORE", lambda: (member(),), 1, 0),
        ("ZRANK", lambda: (member(),), 2, 0),
        ("ZREVRANK", lambda: (member(),), 2, 0),
        ("ZRANGE", ranks, 3, 0),
        ("ZREVRANGE", ranks, 3, 0),
        ("ZRANGEBYSCORE", ranks, 3, 0),
        ("ZCOUNT", lambda: (str(place()), str(place())), 2, 0),
        ("ZADD", lambda: (f"{place()}.5", f"new:{draw.random()}"), 2, 1),
        ("ZADD", lambda: (f"{place()}.25", member()), 4, 1),
        ("ZINCRBY", lambda: ("1000", member()), 4, 1),
        ("ZREM", lambda: (member(),), 3, 1),
        ("ZPOPMIN", lambda: (), 2, 1),
    ]
    print(f"  {'':34} {'reads':>5} {'writes':>6} {'bytes read':>10}  requests", flush=True)
    for name, arguments, most, writes in commands:
        samples = []
        for _ in range(SAMPLES):
            words = (name, "large", *arguments())
            samples.append((*rounds.of(*words), " ".join(words)))
        # What a server asks by itself comes on top, but seldom.
        samples.sort(key=lambda sample: sample[:3])
        reads, written, _, requests, shown = samples[SAMPLES // 2]
        read_bytes = max(sample[2] for sample in samples if sample[:2] <= (most, writes))
        print(f"  {shown:34.34} {reads:5} {written:6} {read_bytes:10}  {requests}", flush=True)
        assert reads <= most and written == writes, f"{shown}: {reads} reads and {written} writes, not {most} and {writes}"
        assert read_bytes <= BYTES_MAX, f"{shown} has read {read_bytes} bytes"
