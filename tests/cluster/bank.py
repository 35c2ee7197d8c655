"""Transfers between accounts by two servers while the cluster is broken in every way: no money is made or lost.

A transfer changes two accounts and the journal of the client that makes it, by a MULTI, by WATCH and MULTI, or by a script. Others read
all accounts at once, in the same three ways, and must see the same sum every time. In the end the accounts are what they were at the
beginning and what the journals say; every transfer that was acknowledged is in its journal, none that was refused is, and of those
with an unknown outcome either is right.
"""

import collections
import random
import threading
import time

from chaos import Chaos
from harness import ErrorReply, check, slot_of, until

STORE = "bank"
ACCOUNTS = [f"account{number}" for number in range(12)]
OPENING = 1000
WRITERS, READERS = 4, 2
QUICK_S, LONG_S = 12, 60
# Short, so that what hangs is over soon, and many faults fit into a run.
TIMEOUT_MS = 1000
# No reply takes longer: a request waits for the cluster in a few phases, each of which has its time.
REPLY_LIMIT_S = 20
HEAL_LIMIT_S = 20
# A lock that a dead transaction has left is anybody's after three seconds.
LOCKS_LIMIT_S = 15

TRANSFER = """
local from, to = redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2])
redis.call('SET', KEYS[1], from - ARGV[2])
redis.call('SET', KEYS[2], to + ARGV[2])
redis.call('HSET', KEYS[3], ARGV[1], KEYS[1] .. ' ' .. KEYS[2] .. ' ' .. ARGV[2])
return 'OK'
"""
SUM = "local sum = 0 for _, key in ipairs(KEYS) do sum = sum + redis.call('GET', key) end return sum"


class Worker(threading.Thread):
    """A client that works until it is told to stop."""

    def __init__(self, gateway, seed, is_over):
        super().__init__(daemon=True)
        self.client, self.draw, self.is_over = gateway.client(), random.Random(seed), is_over
        self.counts, self.slowest_s, self.problem = collections.Counter(), 0.0, None

    def run(self):
        try:
            while not self.is_over.is_set():
                begin = time.monotonic()
                self.step()
                self.slowest_s = max(self.slowest_s, time.monotonic() - begin)
        except Exception as error:  # The suite tells it.
            self.problem = error


class Writer(Worker):
    """Makes transfers and knows what became of each."""

    def __init__(self, gateway, seed, is_over, journal):
        super().__init__(gateway, seed, is_over)
        self.journal = journal
        self.number, self.made, self.unknown = 0, {}, {}

    def step(self):
        self.number += 1
        source, target = self.draw.sample(ACCOUNTS, 2)
        amount = self.draw.randint(1, 100)
        entry = f"{source} {target} {amount}".encode()
        way = self.draw.choice((self.by_multi, self.by_watch, self.by_script))
        try:
            made = way(source, target, amount, entry)
        except ErrorReply as error:
            if error.is_unknown():
                self.unknown[self.number] = entry
            elif not error.is_refusal():
                raise
            self.counts["unknown" if error.is_unknown() else "refused"] += 1
            self.client.call("UNWATCH")
            return
        self.counts["made" if made else "conflicts"] += 1
        if made:
            self.made[self.number] = entry

    def by_multi(self, source, target, amount, entry):
        requests = ("DECRBY", source, amount), ("INCRBY", target, amount), ("HSET", self.journal, self.number, entry)
        return self.all_done(self.client.transaction(*requests))

    def by_watch(self, source, target, amount, entry):
        self.client.call("WATCH", source, target)
        left, right = int(self.client.call("GET", source)), int(self.client.call("GET", target))
        requests = ("SET", source, left - amount), ("SET", target, right + amount), ("HSET", self.journal, self.number, entry)
        return self.all_done(self.client.transaction(*requests))

    def by_script(self, source, target, amount, entry):
        self.client.call("EVAL", TRANSFER, "3", source, target, self.journal, self.number, amount)
        return True

    def all_done(self, replies):
        """Whether a transaction was made; one of which a part fails is neither made nor not."""
        for reply in replies or ():
            if isinstance(reply, ErrorReply):
                raise AssertionError(f"a part of a transaction has failed: {reply}")
        return replies is not None


class Reader(Worker):
    """Reads all accounts at once."""

    def step(self):
        way = self.draw.choice((self.by_multi, self.by_many, self.by_script))
        try:
            total = way()
        except ErrorReply as error:
            if not error.is_refusal():
                raise
            self.counts["reads refused"] += 1
            return
        self.counts["snapshots"] += 1
        check(f"the sum of all accounts, read {way.__name__}", total, OPENING * len(ACCOUNTS))

    def by_multi(self):
        replies = self.client.transaction(*[("GET", account) for account in ACCOUNTS])
        return sum(map(int, replies))

    def by_many(self):
        return sum(map(int, self.client.call("MGET", *ACCOUNTS)))

    def by_script(self):
        return int(self.client.call("EVAL", SUM, len(ACCOUNTS), *ACCOUNTS))


def bank(cluster):
    """No money is made or lost, whatever happens to the cluster."""
    seed = random.randrange(1 << 32)
    print(f"bank: seed {seed}", flush=True)
    gateways = [cluster.start(STORE, "--tikv-timeout-ms", TIMEOUT_MS, is_quiet=True) for _ in range(2)]
    client = gateways[0].client()
    for account in ACCOUNTS:
        client.call("SET", account, OPENING)
    for account in ACCOUNTS[::3]:
        cluster.split_at(STORE, slot_of(account))
    is_over = threading.Event()
    writers = [
        Writer(gateways[number % 2], f"{seed} {number}", is_over, f"journal{number}") for number in range(WRITERS * 2)
    ]
    readers = [Reader(gateways[number % 2], f"{seed} reader {number}", is_over) for number in range(READERS * 2)]
    chaos = Chaos(cluster, STORE, random.Random(f"{seed} chaos"))
    for thread in [*writers, *readers, chaos]:
        thread.start()
    is_over.wait(LONG_S if cluster.is_long else QUICK_S)
    chaos.end()
    healed_s = until(HEAL_LIMIT_S, "both servers read", lambda: all(reads(gateway) for gateway in gateways))
    is_over.set()
    for thread in [*writers, *readers]:
        thread.join(REPLY_LIMIT_S)
        assert not thread.is_alive(), "a reply does not come"
        if thread.problem:
            raise thread.problem
    counts = sum((worker.counts for worker in [*writers, *readers]), collections.Counter())
    for gateway in gateways:
        compare(gateway, writers)
    until(LOCKS_LIMIT_S, "no key is locked", lambda: not cluster.ask("/locks"))
    slowest_s = max(worker.slowest_s for worker in [*writers, *readers])
    told = ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))
    faults = ", ".join(f"{count} {what}" for what, count in sorted(chaos.done.items()))
    print(f"bank: {told}; the slowest took {slowest_s:.1f} s, healed after {healed_s:.1f} s\nbank: faults: {faults}", flush=True)
    assert slowest_s < REPLY_LIMIT_S, slowest_s
    assert counts["made"] > 0 and counts["snapshots"] > 0, counts


def reads(gateway):
    with gateway.client() as client:
        try:
            return bool(client.call("MGET", *ACCOUNTS))
        except ErrorReply:
            return False


def compare(gateway, writers):
    """The accounts with the journals, and the journals with what their clients know."""
    with gateway.client() as client:
        balances = dict.fromkeys(ACCOUNTS, OPENING)
        for writer in writers:
            words = client.call("HGETALL", writer.journal)
            found = {int(number): entry for number, entry in zip(words[::2], words[1::2])}
            for number, entry in found.items():
                source, target, amount = entry.decode().split()
                balances[source] -= int(amount)
                balances[target] += int(amount)
            lost = writer.made.keys() - found.keys()
            assert not lost, f"{len(lost)} acknowledged transfers are lost: {sorted(lost)[:5]} of {writer.journal}"
            invented = found.keys() - writer.made.keys() - writer.unknown.keys()
            assert not invented, f"{len(invented)} refused transfers have happened: {sorted(invented)[:5]} of {writer.journal}"
        found = dict(zip(ACCOUNTS, map(int, client.call("MGET", *ACCOUNTS))))
        check("the accounts", found, balances)
