"""One fault at a time: a client gets a reply within a bounded time, never a wrong one, and afterwards everything goes on by itself."""

import time

from harness import METHODS, STORES, ErrorReply, check, slot_of, until

STORE = "faults"
# Short, so that what hangs is over soon.
TIMEOUT_MS = 500
# Where nothing is to hang.
LONG_TIMEOUT_MS = 5000
# A request waits for the cluster in a few phases, and each of them may take twice the time.
REPLY_LIMIT_S = 8
HEAL_LIMIT_S = 15

# Requests of every kind that a client may be waiting for, on keys in two regions.
REQUESTS = (
    ("GET", "text"),
    ("SET", "text", "v"),
    ("MGET", "text", "other"),
    ("INCR", "count"),
    ("MSET", "text", "v", "other", "v"),
    ("HSET", "hash", "f", "v"),
    ("LRANGE", "list", "0", "-1"),
    ("ZADD", "sorted", "1", "m"),
    ("SCAN", "0"),
    ("DBSIZE",),
    ("EVAL", "return redis.call('INCR', KEYS[1])", "1", "count"),
    ("BLPOP", "empty", "0.2"),
    ("XADD", "stream", "*", "f", "v"),
    ("EXPIRE", "text", "100"),
    ("DEL", "gone", "other"),
)
READS = (("GET", "text"), ("MGET", "text", "other"), ("LRANGE", "list", "0", "-1"), ("SCAN", "0"))


class Patient:
    """A client for which no reply may take too long; `outcome` says what became of a request."""

    def __init__(self, gateway):
        self.client, self.slowest_s = gateway.client(REPLY_LIMIT_S), 0.0

    def outcome(self, *words):
        """"done" with the reply, "refused" or "unknown"; another error is a problem of the server."""
        begin = time.monotonic()
        try:
            return "done", self.client.call(*words)
        except ErrorReply as error:
            if error.is_unknown():
                return "unknown", None
            if error.is_refusal():
                return "refused", None
            raise AssertionError(f"{words[0]}: {error}") from None
        except TimeoutError:
            raise AssertionError(f"{' '.join(words)}: no reply for {REPLY_LIMIT_S} s") from None
        finally:
            self.slowest_s = max(self.slowest_s, time.monotonic() - begin)

    def sure(self, *words):
        """The reply to a request that changes nothing, as soon as there is one."""
        begin = time.monotonic()
        while time.monotonic() < begin + HEAL_LIMIT_S:
            outcome, reply = self.outcome(*words)
            if outcome == "done":
                return reply
        raise AssertionError(f"{words[0]} has no reply for {HEAL_LIMIT_S} s")

    def heals(self, what):
        """It reads and writes again; returns after how many seconds."""
        def is_well():
            return self.outcome("INCR", "healed")[0] == "done" and self.outcome("GET", "text")[0] == "done"

        return until(HEAL_LIMIT_S, f"it works again after {what}", is_well)


def prepare(cluster, timeout_ms=TIMEOUT_MS):
    """A server with something in its store, in two regions."""
    # Another server makes it, which has more time.
    maker = cluster.start(STORE)
    gateway = cluster.start(STORE, "--tikv-timeout-ms", timeout_ms, is_quiet=True)
    patient = Patient(gateway)
    cluster.split_at(STORE, max(slot_of("text"), slot_of("other")))
    with maker.client() as client:
        client.call("MSET", "text", "v", "other", "v", "count", "0")
        client.call("RPUSH", "list", *map(str, range(10)))
    maker.stop()
    return patient


def regions_change(cluster):
    """Regions are split and merged and change their leaders while a transaction is on its way: it succeeds."""
    patient = prepare(cluster, LONG_TIMEOUT_MS)
    changes = {
        "a split": lambda: cluster.split_at(STORE, slot_of("text") + 1),
        "a merge": lambda: merge_all(cluster),
        "a split of both": lambda: [cluster.split_at(STORE, slot_of(key)) for key in ("text", "other")],
        "other leaders": lambda: [cluster.ask(f"/leader/away?store={store}") for store in STORES],
    }
    for number, (what, change) in enumerate(changes.items()):
        for delayed in ("KvGet", "KvBatchGet", "KvPrewrite", "KvCommit"):
            cluster.ask(f"/delay?method={delayed}&us=200000")
            patient.client.send_all([
                ("MULTI",), ("SET", "text", f"{number}"), ("SET", "other", f"{number}"), ("INCR", "changes"), ("GET", "text"), ("EXEC",)
            ])
            time.sleep(0.1)
            change()
            cluster.ask(f"/delay?method={delayed}&us=0")
            for _ in range(5):
                patient.client.read()
            replies = patient.client.read()
            check(f"after {what} during {delayed}", (replies[0], replies[3]), (b"OK", f"{number}".encode()))
            check("MGET", patient.client.call("MGET", "text", "other"), [f"{number}".encode()] * 2)
    check("all transactions, each once", patient.client.call("GET", "changes"), str(len(changes) * 4).encode())


def merge_all(cluster):
    while len(regions := sorted(cluster.ask("/regions"), key=lambda region: region["Start"])) > 1:
        cluster.ask(f"/merge?left={regions[0]['ID']}&right={regions[1]['ID']}")


def lost_answers(cluster):
    """A request of which the answer is lost is made once or not at all, and one that is refused is not made later."""
    patient = prepare(cluster)
    outcomes = {}
    for fault in ("drop", "refuse"):
        for method in METHODS:
            for times in (1, 3, 30):
                count = int(patient.sure("GET", "count"))
                cluster.ask(f"/{fault}?method={method}&n={times}")
                outcome, reply = patient.outcome("INCR", "count")
                cluster.heal()
                patient.heals(f"{fault} of {method}")
                allowed = {"done": (count + 1,), "refused": (count,), "unknown": (count, count + 1)}[outcome]
                found = int(patient.sure("GET", "count"))
                assert found in allowed, f"{fault} of {times} {method}: INCR of {count} was {outcome}, and it is {found}"
                assert reply is None or int(reply) == found, f"INCR has replied {reply}, and it is {found}"
                outcomes[outcome] = outcomes.get(outcome, 0) + 1
    print(f"lost_answers: {outcomes}; the slowest took {patient.slowest_s:.1f} s", flush=True)


def hung_answers(cluster):
    """Every request has its reply in time, whichever answer of the cluster never comes."""
    patient = prepare(cluster)
    outcomes = {}
    for fault, method in (
        ("hang", "KvGet"), ("hang", "KvBatchGet"), ("hang", "KvScan"), ("hang", "KvPrewrite"), ("mute", "KvPrewrite"), ("mute", "KvCommit"),
    ):
        for words in REQUESTS:
            cluster.ask(f"/{fault}?method={method}&n=100")
            outcome, _ = patient.outcome(*words)
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
            cluster.heal()
    patient.heals("hung answers")
    print(f"hung_answers: {outcomes}; the slowest took {patient.slowest_s:.1f} s", flush=True)


def late_writes(cluster):
    """A write that the cluster does only when nobody waits for it any more was not refused: the client was told that it may happen."""
    patient = prepare(cluster)
    for words in (("SET", "late", "new"), ("MSET", "text", "new", "other", "new"), ("INCR", "count")):
        key = words[1]
        before = patient.sure("GET", key)
        cluster.ask(f"/delay?method=KvPrewrite&us={TIMEOUT_MS * 8000}")
        outcome, _ = patient.outcome(*words)
        assert outcome != "done", f"{words[0]} is done before the cluster has done it"
        cluster.ask("/delay?method=KvPrewrite&us=0")
        time.sleep(TIMEOUT_MS / 1000 * 9)
        patient.heals("a late write")
        found = patient.sure("GET", key)
        assert outcome == "unknown" or found == before, f"{words[0]} was refused, and {key} has changed from {before} to {found}"
        print(f"late_writes: {words[0]}: {outcome}, and it has {'not ' if found == before else ''}happened", flush=True)


def stores_and_pd(cluster):
    """A store or PD is away and comes back: replies in time meanwhile, right ones only, and it goes on by itself."""
    patient = prepare(cluster)
    count = int(patient.sure("GET", "count"))
    least, told = count, []
    faults = {f"store {store} is down": (f"/store?id={store}&up=0", f"/store?id={store}&up=1") for store in STORES}
    faults |= {f"store {store} has ended": (f"/end?id={store}", f"/begin?id={store}") for store in STORES}
    faults |= {"PD is down": ("/pd?up=0", "/pd?up=1"), "PD has ended": ("/end?id=0", "/begin?id=0")}
    faults |= {"leaders of an ended store go": ("/end?id=1", "/leader/away?store=1"), "and it is back": ("/begin?id=1", "/pd?up=1")}
    for what, (breaks, heals) in faults.items():
        cluster.ask(breaks)
        for words in READS:
            patient.outcome(*words)
        for _ in range(3):
            outcome, reply = patient.outcome("INCR", "count")
            count += outcome != "refused"
            least += outcome == "done"
            if reply is not None:
                assert least <= int(reply) <= count, f"while {what}: INCR has replied {reply}, not {least} to {count}"
                least = count = int(reply)
        cluster.ask(heals)
        told.append(f"{what}: {patient.heals(what):.1f}")
        found = int(patient.sure("GET", "count"))
        assert least <= found <= count, f"after {what} the count is {found}, not {least} to {count}"
        least = count = found
    print(f"stores_and_pd: seconds until it works again: {'; '.join(told)}; slowest reply {patient.slowest_s:.1f} s", flush=True)
