"""kill -9 of a server: what it has acknowledged is there for the others, and nothing of it is there by halves."""

import random
import threading
import time

from harness import PATIENCE_S, ErrorReply, check, slot_of, until

STORE = "kills"
QUICK_KILLS, LONG_KILLS = 5, 50
WRITERS = 4
RUN_S = (0.05, 0.5)
# The two keys of a transaction lie in different regions, so it is written in two phases.
PAIR = ("left", "right")
# A lock that a dead server has left is anybody's after three seconds; the rest is the time of the reply itself.
LEASE_LIMIT_S = 8


class Ledger(threading.Thread):
    """A client that counts: how often each kind of write was acknowledged. At most one more was sent."""

    def __init__(self, number):
        super().__init__(daemon=True)
        self.name_of = f"writer{number}"
        self.acknowledged = dict.fromkeys(("set", "incr", "rpush", "hset", "multi", "blind"), 0)
        self.problem = None

    def begin(self, gateway):
        super().__init__(daemon=True)
        self.client, self.problem = gateway.client(), None
        self.start()

    def run(self):
        try:
            while True:
                for kind in self.acknowledged:
                    self.write(kind, self.acknowledged[kind] + 1)
                    self.acknowledged[kind] += 1
        except OSError:
            # The server is dead.
            return
        except Exception as error:  # The suite tells it.
            self.problem = error

    def key(self, kind):
        return f"{self.name_of}:{kind}"

    def write(self, kind, number):
        key = self.key(kind)
        if kind == "set":
            self.client.call("SET", key, number)
        elif kind == "incr":
            check("INCR", int(self.client.call("INCR", key)), number)
        elif kind == "rpush":
            check("RPUSH", int(self.client.call("RPUSH", key, number)), number)
        elif kind == "hset":
            check("HSET", int(self.client.call("HSET", key, number, number)), 1)
        elif kind == "multi":
            left, right = self.pair()
            self.client.transaction(("SET", left, number), ("INCR", right), ("RPUSH", key, number))
        else:
            # Large enough to lie in pieces beside its root.
            self.client.call("SET", key, f"{number}:" + "x" * 200_000)

    def pair(self):
        return [f"{self.name_of}:{half}" for half in PAIR]

    def compare(self, client):
        """What is there is what was acknowledged, or one more. It is acknowledged from now on."""
        left, right = self.pair()
        found = {
            "set": int(client.call("GET", self.key("set")) or 0),
            "incr": int(client.call("GET", self.key("incr")) or 0),
            "rpush": numbers(client.call("LRANGE", self.key("rpush"), 0, -1)),
            "hset": numbers(sorted(client.call("HKEYS", self.key("hset")), key=int)),
            "blind": self.blind(client.call("GET", self.key("blind"))),
        }
        halves = client.transaction(("GET", left), ("GET", right), ("LRANGE", self.key("multi"), 0, -1))
        counts = int(halves[0] or 0), int(halves[1] or 0), numbers(halves[2])
        assert len(set(counts)) == 1, f"{self.name_of}: half a transaction: {counts}"
        found["multi"] = counts[0]
        for kind, acknowledged in self.acknowledged.items():
            assert found[kind] in (acknowledged, acknowledged + 1), (
                f"{self.name_of}: {acknowledged} of {kind} were acknowledged, and {found[kind]} are there"
            )
        self.acknowledged = found

    def blind(self, value):
        if value is None:
            return 0
        number, rest = value.split(b":")
        check("a long value", len(rest), 200_000)
        return int(number)


def numbers(elements):
    """How many there are, which must be 1, 2, 3 and so on."""
    check("elements", [int(element) for element in elements], list(range(1, len(elements) + 1)))
    return len(elements)


def kills(cluster):
    """Nothing that was acknowledged is lost with a server, and no transaction is there by halves."""
    seed = random.randrange(1 << 32)
    draw = random.Random(seed)
    print(f"kills: seed {seed}", flush=True)
    other = cluster.start(STORE).client()
    ledgers = [Ledger(number) for number in range(WRITERS)]
    for ledger in ledgers:
        cluster.split_at(STORE, slot_of(ledger.pair()[0]))
    count = LONG_KILLS if cluster.is_long else QUICK_KILLS
    for _ in range(count):
        gateway = cluster.start(STORE)
        for ledger in ledgers:
            ledger.begin(gateway)
        before = acknowledged(ledgers)
        until(PATIENCE_S, "something is acknowledged", lambda: acknowledged(ledgers) > before + WRITERS)
        time.sleep(draw.uniform(*RUN_S))
        gateway.kill()
        for ledger in ledgers:
            ledger.join()
            if ledger.problem:
                raise ledger.problem
            ledger.compare(other)
    # Nobody waits for these: upkeep finds them, which may take its turns on a busy machine.
    until(3 * LEASE_LIMIT_S, "no key is locked", lambda: not cluster.ask("/locks"))
    print(f"kills: {count} times kill -9, {acknowledged(ledgers)} acknowledged writes, none lost, none by halves", flush=True)


def acknowledged(ledgers):
    return sum(sum(ledger.acknowledged.values()) for ledger in ledgers)


# What hangs when a server is killed in a transaction of two regions: requests of a method, so many after so many that pass, and so many
# were sent then. And what is there afterwards.
PHASES = (
    ("neither key is locked", "KvPrewrite", (9, 0, 2), b"before"),
    ("only the first key is locked", "KvPrewrite", (9, 1, 2), b"before"),
    ("only the second key is locked", "KvPrewrite", (1, 0, 2), b"before"),
    ("both keys are locked", "KvCommit", (9, 0, 1), b"before"),
    ("one key is committed", "KvCommit", (9, 1, 2), b"after"),
)


def killed_between_phases(cluster):
    """What a server has locked when it was killed is free after the lease, and the transaction is there as a whole or not at all."""
    other = cluster.start(STORE).client()
    left, right = PAIR
    cluster.split_at(STORE, max(slot_of(left), slot_of(right)))
    for what, method, (hung, passed, sent), expected in PHASES * (10 if cluster.is_long else 1):
        begin = time.monotonic()
        patient_call(other, begin, "MSET", left, "before", right, "before")
        gateway = cluster.start(STORE)
        client = gateway.client()
        client.call("GET", left)
        cluster.counts()
        cluster.ask(f"/hang?method={method}&n={hung}&pass={passed}")
        client.send_all([("MULTI",), ("SET", left, "after"), ("SET", right, "after"), ("EXEC",)])
        until(5, "it has come so far", lambda: cluster.ask("/counts").get(method, 0) >= sent)
        gateway.kill()
        cluster.ask(f"/hang?method={method}&n=0")
        begin = time.monotonic()
        for key in (right, left, right):
            check(f"{key} where {what}", patient_call(other, begin, "GET", key), expected)
        took_s = time.monotonic() - begin
        until(1, "no key is locked", lambda: not cluster.ask("/locks"))
        patient_call(other, begin, "MSET", left, "again", right, "again")
        print(f"killed_between_phases: {what}: free after {took_s:.1f} s", flush=True)
        assert took_s < LEASE_LIMIT_S, took_s


def patient_call(client, begin, *words):
    """A reply, asked for again while the cluster refuses it: a lock that is waited for is a reason to."""
    while True:
        try:
            return client.call(*words)
        except ErrorReply as error:
            if not error.is_refusal() or time.monotonic() > begin + LEASE_LIMIT_S:
                raise
