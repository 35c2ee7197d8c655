"""Housekeeping: what nobody needs goes from the cluster by itself, and one server looks after what is common to all."""

import time

from harness import check
from harness import until as until_at_once

# Old versions stay so long here; walks over the store begin five times as seldom.
LIFE_S = 8
FLAGS = ("--tikv-gc-life-ms", str(LIFE_S * 1000), "--tikv-timeout-ms", "2000")
KEYS = 40
FIELDS = 1000


def until(limit_s, what, is_so):
    """The same with looks that cost something."""

    def look():
        time.sleep(0.5)
        return is_so()

    return until_at_once(limit_s, what, look)


class Stored:
    """What the cluster holds of a store."""

    def __init__(self, cluster, store):
        self.cluster = cluster
        self.prefix = bytes([len(store)]) + store.encode()

    def names(self, what=b""):
        """Names that begin with something, behind the name of the store."""
        prefix = self.prefix + what
        return [bytes.fromhex(name)[len(self.prefix) :] for name in self.cluster.ask(f"/keys?prefix={prefix.hex()}")]

    def data(self):
        """Those of databases."""
        return [name for name in self.names() if not name.startswith(b"\xff\xff\xff\xff")]

    def hints(self):
        """Those of the index of keys that expire."""
        return self.names(b"\xff\xff\xff\xfft")

    def versions(self):
        return self.cluster.ask(f"/versions?prefix={self.prefix.hex()}")


def expired(cluster, servers, stored):
    """Keys expire without being read, once each, and so do their hints."""
    listener = servers[0].client(30)
    listener.call("CONFIG", "SET", "notify-keyspace-events", "Ex")
    servers[1].client().call("CONFIG", "SET", "notify-keyspace-events", "Ex")
    listener.call("SUBSCRIBE", "__keyevent@0__:expired")
    clients = [server.client() for server in servers]
    for number in range(KEYS):
        client = clients[number % 2]
        # Of some a hint is written, the others are remembered.
        client.call("SET", f"expiring{number}", "value", "PX", "9000" if number % 4 < 2 else "700")
    begin = time.monotonic()
    until(6, "hints are written", lambda: len(stored.hints()) == KEYS // 2)
    until(10, "keys that are remembered expire", lambda: len(stored.data()) == KEYS // 2)
    until(25, "keys with hints expire", lambda: not stored.data())
    print(f"  keys with 9 s to live are gone from the cluster after {time.monotonic() - begin:.1f} s", flush=True)
    until(15, "hints go", lambda: not stored.hints())
    check("expired_keys", sum(server.fact("expired_keys") for server in servers), KEYS)
    heard = sorted(listener.read()[2] for _ in range(KEYS))
    check("notifications", heard, sorted(f"expiring{number}".encode() for number in range(KEYS)))


def large(client, key):
    client.call("HSET", key, *[word for number in range(FIELDS) for word in (f"field{number}", "value")])


def dropped(cluster, servers, stored):
    """What a large collection leaves goes, whether somebody has looked at it or not, and what a renamed one has stays."""
    first, second = (server.client() for server in servers)
    for key in ("deleted", "renamed", "overwritten"):
        large(first, key)
    first.call("SET", "long", "x" * 300_000)
    second.call("RENAME", "renamed", "elsewhere")
    second.call("DEL", "deleted", "long")
    kept = len(stored.data())
    assert kept > 2 * FIELDS, kept
    until(20, "a deleted set goes", lambda: len(stored.data()) < 2 * FIELDS + 400)
    # SET does not look at what was there.
    second.call("SET", "overwritten", "short")
    took = until(12 * LIFE_S, "a walk finds what SET leaves", lambda: len(stored.data()) < FIELDS + 200)
    print(f"  a walk has found what SET left after {took:.1f} s", flush=True)
    check("HLEN", first.call("HLEN", "elsewhere"), str(FIELDS).encode())
    check("HGET", first.call("HGET", "elsewhere", "field999"), b"value")
    check("GET", first.call("GET", "overwritten"), b"short")


def emptied(cluster, servers, stored):
    """The data of an emptied database goes, but for what was moved to another one."""
    first, second = (server.client() for server in servers)
    large(first, "moved")
    first.call("MOVE", "moved", "1")
    begin = time.monotonic()
    second.call("FLUSHDB")
    assert time.monotonic() - begin < 6
    took = until(6 * LIFE_S, "the data of an emptied database goes", lambda: len(stored.data()) < FIELDS + 200)
    print(f"  an emptied database is destroyed after {took:.1f} s", flush=True)
    first.call("SELECT", "1")
    check("HLEN of what was moved", first.call("HLEN", "moved"), str(FIELDS).encode())
    check("HGET of what was moved", first.call("HGET", "moved", "field500"), b"value")
    first.call("FLUSHALL")
    until(12 * LIFE_S, "everything goes", lambda: not stored.data())


def versions(cluster, servers, stored):
    """Old versions go."""
    client = servers[0].client()
    for _ in range(300):
        client.call("INCR", "counter")
    assert stored.versions() > 300, stored.versions()
    took = until(4 * LIFE_S, "old versions go", lambda: stored.versions() < 250)
    print(f"  of 300 versions {stored.versions()} are left after {took:.1f} s", flush=True)
    check("GET", client.call("GET", "counter"), b"300")


def leaders(cluster, servers, stored):
    """One server leads, and another one as soon as that one is gone."""
    leading = [server for server in servers if server.fact("cluster_leads")]
    check("servers that lead", len(leading), 1)
    other = servers[1 - servers.index(leading[0])]
    check("its number", other.fact("cluster_leader"), leading[0].fact("cluster_leader"))
    leading[0].kill()
    took = until(25, "another server leads", lambda: other.fact("cluster_leads"))
    print(f"  another server leads {took:.1f} s after kill -9", flush=True)


def housekeeping(cluster):
    """Everything that goes by itself, on two servers."""
    servers = [cluster.start("house", *FLAGS) for _ in range(2)]
    stored = Stored(cluster, "house")
    for part in (expired, dropped, emptied, versions, leaders):
        part(cluster, servers, stored)
