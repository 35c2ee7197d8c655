"""The flows of one connection at a time: every type, pipelines, transactions, iterators."""

import time

from connections import PROTOCOL, client, tuples
from harness import eventually, raises, same

ALL_BYTES = bytes(range(256)) * 4 + b"\r\n$3\r\n\0"


def connect():
    with client(client_name="flows") as r, client(db=1) as other:
        same(r.ping(), True)
        same(r.echo("hello"), "hello")
        same(r.client_getname(), "flows")
        same(r.client_info()["resp"], str(PROTOCOL))
        same(r.info("server")["redis_mode"], "standalone")
        other.set("only", "here")
        same(r.exists("only"), 0)
        same(other.dbsize(), 1)
        other.flushdb()


def strings():
    with client() as r:
        same(r.set("s", "1", nx=True), True)
        same(r.set("s", "2", nx=True), None)
        same(r.set("s", "2", get=True), "1")
        same(r.incrby("s", 40), 42)
        same(r.incrbyfloat("s", 0.5), 42.5)
        same(r.append("s", "0"), 5)
        same(r.getrange("s", 0, 1), "42")
        same(r.mset({"a": 1, "b": 2}), True)
        same(r.mget("a", "nothing", "b"), ["1", None, "2"])
        same(r.getdel("a"), "1")
        same(r.type("s"), "string")
        raises("wrong kind of value", r.lpush, "s", "x")


def hashes():
    with client() as r:
        same(r.hset("h", mapping={"f": "1", "g": "2"}), 2)
        same(r.hgetall("h"), {"f": "1", "g": "2"})
        same(r.hincrby("h", "f", 9), 10)
        same(r.hincrbyfloat("h", "g", 0.5), 2.5)
        same(r.hmget("h", ["f", "none"]), ["10", None])
        same(r.hsetnx("h", "f", "0"), 0)
        same(r.hdel("h", "f", "none"), 1)
        same((r.hlen("h"), r.hexists("h", "g"), r.hstrlen("h", "g")), (1, True, 3))
        same(tuples(r.hrandfield("h", 1, withvalues=True))[0] in [("g", "2.5"), ("g",)], True)


def lists():
    with client() as r:
        same(r.rpush("l", *"abcd"), 4)
        same(r.lpush("l", "z"), 5)
        same(r.lrange("l", 0, -1), list("zabcd"))
        same(r.lpop("l", 2), ["z", "a"])
        same(r.linsert("l", "before", "c", "x"), 4)
        same(r.lpos("l", "c"), 2)
        same(r.lmove("l", "m", "RIGHT", "LEFT"), "d")
        same(r.lrem("l", 0, "x"), 1)
        same(r.ltrim("l", 0, 0), True)
        same((r.llen("l"), r.lindex("m", 0)), (1, "d"))


def sets():
    with client() as r:
        same(r.sadd("s1", *"abc"), 3)
        same(r.sadd("s2", *"bcd"), 3)
        same(r.sinter("s1", "s2"), {"b", "c"})
        same(r.sunionstore("s3", "s1", "s2"), 4)
        same(r.sdiff("s1", "s2"), {"a"})
        same(r.smismember("s1", ["a", "z"]), [1, 0])
        same(r.smove("s1", "s2", "a"), True)
        same(r.spop("s1") in {"b", "c"}, True)
        same(set(r.srandmember("s3", 9)), set("abcd"))


def sorted_sets():
    with client() as r:
        same(r.zadd("z", {"a": 1, "b": 2.5, "c": float("inf")}), 3)
        same(tuples(r.zrange("z", 0, -1, withscores=True)), [("a", 1.0), ("b", 2.5), ("c", float("inf"))])
        same(r.zincrby("z", 2, "a"), 3.0)
        same(r.zrank("z", "a"), 1)
        same(r.zrangebyscore("z", "(2.5", "+inf"), ["a", "c"])
        same(r.zscore("z", "b"), 2.5)
        same(r.zadd("z", {"b": 1}, gt=True, ch=True), 0)
        same(tuples(r.zpopmin("z", 2)), [("b", 2.5), ("a", 3.0)])
        same(r.zmscore("z", ["c", "none"]), [float("inf"), None])
        same(r.zrangestore("z2", "z", 0, -1), 1)


def bits():
    with client() as r:
        same([r.setbit("bm", place, 1) for place in (1, 7, 100)], [0, 0, 0])
        same((r.getbit("bm", 7), r.bitcount("bm"), r.bitcount("bm", 0, 7, "BIT")), (1, 3, 2))
        same((r.bitpos("bm", 1, 1), r.bitop("NOT", "not bm", "bm"), r.bitcount("not bm")), (100, 13, 101))
        same(r.bitfield("f", "SAT").set("u8", "#0", 250).incrby("u8", "#0", 10).get("i4", 0).execute(), [0, 255, -1])


def hyperloglog():
    with client() as r:
        same(r.pfadd("p1", *range(1000)), 1)
        same(r.pfadd("p2", *range(500, 1500)), 1)
        same(r.pfmerge("p", "p1", "p2"), True)
        same((r.pfcount("p1"), 1450 < r.pfcount("p1", "p2") == r.pfcount("p") < 1550), (1001, True))


def geo():
    with client() as r:
        same(r.geoadd("g", (13.361389, 38.115556, "Palermo", 15.087269, 37.502669, "Catania")), 2)
        same(round(r.geodist("g", "Palermo", "Catania", unit="km"), 1), 166.3)
        same(r.geohash("g", "Palermo"), ["sqc8b49rny0"])
        same([round(part, 4) for part in r.geopos("g", "Catania")[0]], [15.0873, 37.5027])
        same(r.geosearch("g", longitude=15, latitude=37, radius=200, unit="km", sort="ASC"), ["Catania", "Palermo"])
        same(r.geosearchstore("near", "g", member="Catania", width=10, height=10, unit="km"), 1)


def sort():
    with client() as r:
        r.rpush("ids", 3, 1, 2)
        r.mset({"weight:1": 30, "weight:2": 20, "weight:3": 10, "name:1": "a", "name:2": "b", "name:3": "c"})
        same(r.sort("ids"), ["1", "2", "3"])
        same(r.sort("ids", by="weight:*", get=["#", "name:*"], groups=True), [("3", "c"), ("2", "b"), ("1", "a")])
        same(r.sort("ids", desc=True, start=0, num=2, store="sorted"), 2)


def expiry():
    with client() as r:
        same(r.set("e", "v", px=60_000), True)
        same(0 < r.pttl("e") <= 60_000, True)
        same(r.set("e", "v", px=60), True)
        eventually(lambda: r.get("e") is None, "the expiry")
        same(r.ttl("e"), -2)
        r.set("e", "v")
        same((r.ttl("e"), r.expire("e", 100), r.expire("e", 50, gt=True)), (-1, True, False))
        same(r.persist("e"), True)


def administration():
    with client() as r:
        same({"used_memory", "connected_clients", "role", "redis_version"} <= set(r.info()), True)
        r.config_resetstat()
        r.set("a", 1)
        same(r.info("commandstats")["cmdstat_set"]["calls"], 1)
        same(r.config_set("slowlog-log-slower-than", 0), True)
        same(r.config_get("slowlog-*")["slowlog-log-slower-than"], "0")
        r.get("a")
        same(b"GET a" in [each["command"] for each in r.slowlog_get()], True)
        same((r.config_set("slowlog-log-slower-than", 10_000), r.slowlog_reset()), (True, True))
        same((r.object("encoding", "a"), r.memory_usage("a") > 0), ("int", True))
        same({"addr", "id", "cmd", "db"} <= set(r.client_list()[0]), True)
        same(r.command_getkeys("MSET", "x", 1, "y", 2), ["x", "y"])
        same(r.command_count() > 150, True)
        same(abs(r.time()[0] - time.time()) < 60, True)
        same((r.wait(0, 10), r.role()[0], r.lastsave() is not None), (0, "master", True))


def dump_and_restore():
    with client(decode_responses=False) as r:
        r.hset("d", mapping={"f": ALL_BYTES})
        payload = r.dump("d")
        same(r.restore("d2", 100_000, payload), b"OK")
        same((r.hgetall("d2"), 0 < r.ttl("d2") <= 100), ({b"f": ALL_BYTES}, True))
        raises("BUSYKEY", r.restore, "d2", 0, payload)
        raises("checksum", r.restore, "d3", 0, payload[:-1] + b"?")
        same((r.copy("d", "d4"), r.rename("d4", "d5"), r.move("d5", 1)), (True, True, True))


def binary_values():
    with client(decode_responses=False) as r:
        same(r.set(ALL_BYTES, ALL_BYTES), True)
        same(r.get(ALL_BYTES), ALL_BYTES)
        same(r.hset(b"bh\0", ALL_BYTES, ALL_BYTES), 1)
        same(r.hgetall(b"bh\0"), {ALL_BYTES: ALL_BYTES})
        same(r.zadd("bz", {ALL_BYTES: 1}), 1)
        same(tuples(r.zrange("bz", 0, -1, withscores=True)), [(ALL_BYTES, 1.0)])


def large_values():
    with client(decode_responses=False) as r:
        large = bytes(range(251)) * 20_000
        same(len(large) > 5_000_000, True)
        same(r.set("large", large), True)
        same(r.get("large") == large, True)
        same(r.append("large", b"end"), len(large) + 3)
        same(r.getrange("large", -5, -1), large[-2:] + b"end")
        r.rpush("large list", large, large)
        same(r.lrange("large list", 0, -1) == [large, large], True)
        r.delete("large", "large list")


def pipelines():
    with client() as r, r.pipeline(transaction=False) as pipe:
        for number in range(1000):
            pipe.set(f"p:{number}", number)
            pipe.incr(f"p:{number}")
        replies = pipe.execute()
        same(replies, [reply for number in range(1000) for reply in (True, number + 1)])
        pipe.set("p:x", "text").incr("p:x").get("p:x")
        replies = pipe.execute(raise_on_error=False)
        same((replies[0], str(replies[1])[:25], replies[2]), (True, "value is not an integer o", "text"))


def transactions():
    with client() as r, r.pipeline() as pipe:
        same(pipe.set("t", 1).incr("t").lrange("none", 0, -1).execute(), [True, 2, []])

        def double(pipe):
            value = int(pipe.get("t"))
            pipe.multi()
            pipe.set("t", value * 2)

        same(r.transaction(double, "t"), [True])
        same(r.get("t"), "4")
        pipe.set("t", "text").incr("t").set("after", 1)
        raises("not an integer", pipe.execute)
        same((r.get("t"), r.get("after")), ("text", "1"))


def aborted_transaction():
    with client() as r, client() as other, r.pipeline() as pipe:
        r.set("w", 1)
        pipe.watch("w")
        other.set("w", 2)
        pipe.multi()
        pipe.set("w", 3)
        raises("Watched variable changed", pipe.execute)
        same(r.get("w"), "2")
        pipe.watch("w")
        other.set("w", 4)
        pipe.unwatch()
        pipe.multi()
        same(pipe.set("w", 5).execute(), [True])
        raises("wrong number of arguments", pipe.execute_command("GET").execute)


def lock_without_scripts():
    """SET NX PX takes it; WATCH gives it back only if it is still one's own."""
    with client() as r, client() as other:
        def release(holder, token):
            def give_back(pipe):
                mine = pipe.get("lock") == token
                pipe.multi()
                if mine:
                    pipe.delete("lock")
            return holder.transaction(give_back, "lock") == [1]

        same(r.set("lock", "one", nx=True, px=10_000), True)
        same(other.set("lock", "two", nx=True, px=10_000), None)
        same(release(other, "two"), False)
        same(release(r, "one"), True)
        same(other.set("lock", "two", nx=True, px=10_000), True)


def scan_iterators():
    with client() as r:
        names = {f"scan:{number}" for number in range(1000)}
        r.mset(dict.fromkeys(names, "v"))
        same(set(r.scan_iter("scan:*", count=50)), names)
        same(set(r.scan_iter("scan:1??", _type="string")), {f"scan:1{rest:02}" for rest in range(100)})
        same(list(r.scan_iter("scan:*", _type="hash")), [])
        r.hset("scanned hash", mapping=dict.fromkeys(names, "v"))
        same(dict(r.hscan_iter("scanned hash")), dict.fromkeys(names, "v"))
        r.sadd("scanned set", *names)
        same(set(r.sscan_iter("scanned set", count=7)), names)
        r.zadd("scanned zset", dict.fromkeys(names, 1.5))
        same(dict(r.zscan_iter("scanned zset")), dict.fromkeys(names, 1.5))
        same(r.unlink(*names), 1000)


FLOWS = [
    connect, strings, hashes, lists, sets, sorted_sets, bits, hyperloglog, geo, sort, expiry, administration,
    dump_and_restore, binary_values, large_values, pipelines, transactions, aborted_transaction,
    lock_without_scripts, scan_iterators,
]
