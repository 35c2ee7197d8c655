"""The flows in which one connection waits for another: pub/sub, blocking commands, streams, reconnects."""

import asyncio
import threading
import time

import redis.asyncio
from connections import PORT, PROTOCOL, client, later, tuples
from harness import eventually, raises, same
from redis.cache import CacheConfig
from redis.connection import CacheProxyConnection


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
                # A message that is published before the subscription is known is lost.
                same((await subscriber.get_message(timeout=5))["data"], 1)
                waiting = asyncio.create_task(r.blpop("q", timeout=5))
                await r.publish("news", "hello")
                await r.rpush("q", "job")
                same(list(await waiting), ["q", "job"])
                arrived = [each["data"] async for each in limited(subscriber.listen(), 1)]
                same(arrived, ["hello"])
            same(len([key async for key in r.scan_iter("counted")]), 1)

    async def limited(source, count):
        async for each in source:
            yield each
            count -= 1
            if count == 0:
                return

    asyncio.run(many())


FLOWS = [
    pub_sub, pub_sub_patterns, pub_sub_while_writing, blocking_timeout, blocking_with_producer, streams,
    stream_groups, blocking_stream_reads, keyspace_notifications, monitor, reconnect, reconnect_of_a_subscriber,
    asynchronous_client,
]
if PROTOCOL == 3:
    FLOWS.append(client_side_cache)
