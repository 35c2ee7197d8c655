"""redis-py's own flows: `flows.py PORT PROTOCOL`."""

import asyncio
import pathlib
import sys
import threading
import time

import redis
import redis.asyncio
from redis.cache import CacheConfig
from redis.connection import CacheProxyConnection

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import eventually, raises, run, same

PORT, PROTOCOL = int(sys.argv[1]), int(sys.argv[2])
ALL_BYTES = bytes(range(256)) * 4 + b"\r\n$3\r\n\0"


def client(**options):
    return redis.Redis(port=PORT, protocol=PROTOCOL, **{"decode_responses": True, **options})


def later(call, *arguments):
    """Makes a call from another thread, once the caller most likely waits for its outcome."""
    timer = threading.Timer(0.1, call, arguments)
    timer.start()
    return timer


def tuples(rows):
    """RESP3 has lists where redis-py makes tuples of RESP2's."""
    return [tuple(row) for row in rows]


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


def expiry():
    with client() as r:
        same(r.set("e", "v", px=60), True)
        same(0 < r.pttl("e") <= 60, True)
        eventually(lambda: r.get("e") is None, "the expiry")
        same(r.ttl("e"), -2)
        r.set("e", "v")
        same((r.ttl("e"), r.expire("e", 100), r.expire("e", 50, gt=True)), (-1, True, False))
        same(r.persist("e"), True)


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


def lock_of_the_client():
    with client() as r:
        with r.lock("own lock", timeout=10) as lock:
            same(r.lock("own lock", timeout=10).acquire(blocking=False), False)
            same(lock.extend(10), True)
        same(r.exists("own lock"), 0)


lock_of_the_client.needs = "EVAL"


def messages(subscriber, count):
    found = []
    while len(found) < count:
        message = subscriber.get_message(timeout=5)
        if message is None:
            raise AssertionError(f"only {found} came")
        found.append(message)
    return [(each["type"], each["pattern"], each["channel"], each["data"]) for each in found]


def pub_sub():
    with client() as r, r.pubsub() as subscriber:
        subscriber.subscribe("news", "other")
        same(messages(subscriber, 2), [("subscribe", None, "news", 1), ("subscribe", None, "other", 2)])
        same(r.publish("news", "hello"), 1)
        same(r.publish("nobody", "hello"), 0)
        same(messages(subscriber, 1), [("message", None, "news", "hello")])
        same(sorted(r.pubsub_channels()), ["news", "other"])
        same(tuples(r.pubsub_numsub("news", "nobody")), [("news", 1), ("nobody", 0)])
        if PROTOCOL == 2:  # Under RESP3 it is a reply like any other, which redis-py does not tell.
            subscriber.ping()
            same(messages(subscriber, 1)[0][0], "pong")
        subscriber.unsubscribe("news")
        same(messages(subscriber, 1), [("unsubscribe", None, "news", 1)])
        same((r.publish("news", "lost"), r.publish("other", "seen")), (0, 1))
        same(messages(subscriber, 1), [("message", None, "other", "seen")])
        subscriber.unsubscribe()
        same(messages(subscriber, 1), [("unsubscribe", None, "other", 0)])


def pub_sub_patterns():
    with client() as r, r.pubsub() as subscriber:
        subscriber.psubscribe("n*", "?ews")
        messages(subscriber, 2)
        same(r.publish("news", "twice"), 2)
        same(sorted(messages(subscriber, 2)),
             [("pmessage", "?ews", "news", "twice"), ("pmessage", "n*", "news", "twice")])
        same(r.pubsub_numpat(), 2)
        subscriber.punsubscribe("n*")
        same(messages(subscriber, 1), [("punsubscribe", None, "n*", 1)])
        same(r.publish("news", "once"), 1)
        same(messages(subscriber, 1), [("pmessage", "?ews", "news", "once")])


def pub_sub_while_writing():
    """A thread of redis-py's own hands messages to a function while this one sends a thousand."""
    with client() as r, r.pubsub(ignore_subscribe_messages=True) as subscriber:
        seen = []
        subscriber.subscribe(**{"many": lambda message: seen.append(int(message["data"]))})
        reader = subscriber.run_in_thread(sleep_time=0.01)
        eventually(lambda: r.pubsub_numsub("many")[0][1] == 1, "the subscription")
        with r.pipeline(transaction=False) as pipe:
            for number in range(1000):
                pipe.publish("many", number)
            same(pipe.execute(), [1] * 1000)
        eventually(lambda: len(seen) == 1000, "the last message")
        reader.stop()
        reader.join()
        same(seen, list(range(1000)))


def blocking_timeout():
    with client() as r:
        for call in (lambda: r.blpop("none", timeout=0.1), lambda: r.brpop(["none", "no"], timeout=0.1),
                     lambda: r.blmove("none", "no", timeout=0.1), lambda: r.bzpopmin("none", timeout=0.1),
                     lambda: r.blmpop(0.1, 1, "none", direction="LEFT"),
                     lambda: r.bzmpop(0.1, 1, ["none"], min=True)):
            begin = time.monotonic()
            same(call(), None)
            same(0.09 < time.monotonic() - begin < 5, True)
        r.rpush("full", "a")
        same(r.blpop(["none", "full"], timeout=5), ("full", "a") if PROTOCOL == 2 else ["full", "a"])


def blocking_with_producer():
    with client() as r, client() as other:
        later(other.rpush, "q", "job")
        same(tuple(r.blpop(["empty", "q"], timeout=5)), ("q", "job"))
        later(other.lpush, "q", "moved")
        same(r.blmove("q", "done", 5, "RIGHT", "LEFT"), "moved")
        same(other.lrange("done", 0, -1), ["moved"])
        later(other.zadd, "zq", {"low": 1, "high": 2})
        same(tuple(r.bzpopmax("zq", timeout=5)), ("zq", "high", 2.0))
        later(lambda: other.pipeline().lpush("q", "x").rpush("q", "y").execute())
        same(list(r.blmpop(5, 1, "q", direction="LEFT", count=5)), ["q", ["x", "y"]])
        taken = []
        workers = [threading.Thread(target=lambda: taken.append(client().blpop("many", timeout=5)[1]))
                   for _ in range(10)]
        for worker in workers:
            worker.start()
        for number in range(10):
            other.rpush("many", number)
        for worker in workers:
            worker.join()
        same(sorted(map(int, taken)), list(range(10)))


def entries(reply):
    """XREAD's streams as (name, entries), which RESP3 has as a map whose values are wrapped once more."""
    if isinstance(reply, dict):
        return [(name, tuples(found[0])) for name, found in reply.items()]
    return [(name, tuples(found)) for name, found in reply]


def streams():
    with client() as r:
        ids = [r.xadd("st", {"n": number}) for number in range(10)]
        same(r.xlen("st"), 10)
        same(tuples(r.xrange("st", ids[1], ids[2])), [(ids[1], {"n": "1"}), (ids[2], {"n": "2"})])
        same(tuples(r.xrevrange("st", count=1)), [(ids[9], {"n": "9"})])
        same(entries(r.xread({"st": ids[8]})), [("st", [(ids[9], {"n": "9"})])])
        same(r.xdel("st", ids[0]), 1)
        same(r.xtrim("st", maxlen=3, approximate=False), 6)
        same(r.xinfo_stream("st")["length"], 3)
        raises("equal or smaller", r.xadd, "st", {"a": 1}, "1-1")


def stream_groups():
    with client() as r, client() as other:
        same(r.xgroup_create("gs", "group", id="$", mkstream=True), True)
        raises("BUSYGROUP", r.xgroup_create, "gs", "group")
        ids = [r.xadd("gs", {"n": number}) for number in range(4)]
        mine = entries(r.xreadgroup("group", "one", {"gs": ">"}, count=3))
        same([entry for entry, _ in mine[0][1]], ids[:3])
        same(entries(other.xreadgroup("group", "two", {"gs": ">"})), [("gs", [(ids[3], {"n": "3"})])])
        same(r.xack("gs", "group", ids[0]), 1)
        pending = r.xpending("gs", "group")
        same((pending["pending"], pending["min"], pending["max"]), (3, ids[1], ids[3]))
        same([each["message_id"] for each in r.xpending_range("gs", "group", "-", "+", 10, "one")], ids[1:3])
        same(tuples(r.xclaim("gs", "group", "two", 0, [ids[1]])), [(ids[1], {"n": "1"})])
        cursor, claimed = r.xautoclaim("gs", "group", "two", 0, count=10)[:2]
        same((cursor, [entry for entry, _ in claimed]), ("0-0", ids[1:]))
        same(r.xack("gs", "group", *ids[:3]), 2)
        group = r.xinfo_groups("gs")[0]
        same((group["name"], group["consumers"], group["pending"]), ("group", 2, 1))
        same({each["name"] for each in r.xinfo_consumers("gs", "group")}, {"one", "two"})
        same(r.xgroup_delconsumer("gs", "group", "two"), 1)
        same(r.xgroup_destroy("gs", "group"), 1)


def blocking_stream_reads():
    with client() as r, client() as other:
        same(len(r.xread({"bs": "$"}, block=50)), 0)
        later(other.xadd, "bs", {"n": "1"}, "1-1")
        same(entries(r.xread({"none": "$", "bs": "$"}, block=5000)), [("bs", [("1-1", {"n": "1"})])])
        r.xgroup_create("bs", "group", id="$")
        same(len(r.xreadgroup("group", "one", {"bs": ">"}, block=50)), 0)
        later(other.xadd, "bs", {"n": "2"}, "2-1")
        same(entries(r.xreadgroup("group", "one", {"bs": ">"}, block=5000)), [("bs", [("2-1", {"n": "2"})])])
        same(r.xpending("bs", "group")["pending"], 1)


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


def keyspace_notifications():
    with client() as r, r.pubsub() as subscriber:
        r.config_set("notify-keyspace-events", "KEA")
        subscriber.psubscribe("__key*@0__:*")
        messages(subscriber, 1)
        r.set("noted", 1, px=30)
        seen = [(channel.split(":", 1)[1], data) for _, _, channel, data in messages(subscriber, 4)]
        same(seen, [("noted", "set"), ("set", "noted"), ("noted", "expire"), ("expire", "noted")])
        seen = [(channel.split(":", 1)[1], data) for _, _, channel, data in messages(subscriber, 2)]
        same(seen, [("noted", "expired"), ("expired", "noted")])
        r.config_set("notify-keyspace-events", "")


def monitor():
    with client(single_connection_client=True) as r, client().monitor() as watched:
        later(r.set, "monitored", "a b")
        told = watched.next_command()
        same((told["command"], told["db"], told["client_type"]), ("SET monitored a b", 0, "tcp"))


def reconnect():
    with client(single_connection_client=True) as r, client() as other:
        r.client_setname("victim")
        first = r.client_id()
        same(other.client_kill_filter(_id=first), 1)
        eventually(lambda: not any(each["name"] == "victim" for each in other.client_list()), "the end")
        same(r.set("back", "again"), True)
        same(r.client_id() > first, True)


def reconnect_of_a_subscriber():
    with client() as r, r.pubsub() as subscriber:
        subscriber.subscribe("lasting")
        messages(subscriber, 1)
        same(r.client_kill_filter(_type="pubsub"), 1)
        eventually(lambda: r.pubsub_numsub("lasting")[0][1] == 0, "the end")
        same(messages(subscriber, 1)[0][:3], ("subscribe", None, "lasting"))
        same(r.publish("lasting", "still here"), 1)
        same(messages(subscriber, 1), [("message", None, "lasting", "still here")])


def client_side_cache():
    # redis-py asks for Redis 7.4, where its makers tested it; what it uses is there since 6.0.
    CacheProxyConnection.MIN_ALLOWED_VERSION = "6.0.0"
    with client(cache_config=CacheConfig()) as r, client() as other:
        other.set("cached", "1")
        same((r.get("cached"), r.get("cached")), ("1", "1"))
        same(r.get_cache().size, 1)
        other.set("cached", "2")
        eventually(lambda: r.get("cached") == "2", "the invalidation")
        other.hset("cached hash", "f", "1")
        same(r.hget("cached hash", "f"), "1")
        other.delete("cached hash")
        eventually(lambda: r.hget("cached hash", "f") is None, "the invalidation by DEL")
        other.flushdb()
        eventually(lambda: r.get("cached") is None, "the invalidation by FLUSHDB")


def asynchronous_client():
    async def many():
        async with redis.asyncio.Redis(port=PORT, protocol=PROTOCOL, decode_responses=True) as r:
            same(sorted(await asyncio.gather(*(r.incr("counted") for _ in range(100)))), list(range(1, 101)))
            async with r.pipeline() as pipe:
                same(await pipe.set("t", 1).incr("t").execute(), [True, 2])
            async with r.pubsub() as subscriber:
                await subscriber.subscribe("news")
                waiting = asyncio.create_task(r.blpop("q", timeout=5))
                await r.publish("news", "hello")
                await r.rpush("q", "job")
                same(list(await waiting), ["q", "job"])
                arrived = [each["data"] async for each in limited(subscriber.listen(), 2)]
                same(arrived, [1, "hello"])
            same(len([key async for key in r.scan_iter("counted")]), 1)

    async def limited(source, count):
        async for each in source:
            yield each
            count -= 1
            if count == 0:
                return

    asyncio.run(many())


FLOWS = [
    connect, strings, hashes, lists, sets, sorted_sets, bits, hyperloglog, geo, sort, expiry, administration,
    dump_and_restore, binary_values, large_values, pipelines, transactions, aborted_transaction, lock_without_scripts,
    lock_of_the_client, pub_sub, pub_sub_patterns, pub_sub_while_writing, blocking_timeout, blocking_with_producer,
    streams, stream_groups, blocking_stream_reads, scan_iterators, keyspace_notifications, monitor, reconnect, reconnect_of_a_subscriber,
    asynchronous_client,
]
if PROTOCOL == 3:
    FLOWS.append(client_side_cache)

run(FLOWS)
