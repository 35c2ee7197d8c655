#!/usr/bin/env python3
"""The flows of Tidis' own tests, with Redis' semantics, by redis-py: strings, hashes, lists, sets, sorted sets, transactions.

Where Tidis differs from Redis (SINTER with a missing key, TYPE of a missing key, PTTL, SETBIT, ZSCORE, ZRANK, DEL of several), Redis is
right here. `tidis.py PORT` runs against a server, which is emptied.
"""

import sys
import time

import redis
from harness import check

# Every expiry that is set here is so long; tests of all types wait for it together.
EXPIRY_MS = 1000


def fails(what, call, text):
    try:
        found = call()
    except redis.ResponseError as error:
        assert text in str(error), f"{what}: {error}"
        return
    raise AssertionError(f"{what}: {found!r} and no error")


class Expiring:
    """Keys of one type that get an expiry in the four ways, and must be gone after it."""

    def __init__(self, client):
        self.client, self.keys = client, []

    def add(self, name, make):
        now_ms = int(self.client.time()[0]) * 1000 + int(self.client.time()[1]) // 1000
        ways = {
            "expire": lambda key: self.client.expire(key, EXPIRY_MS // 1000),
            "pexpire": lambda key: self.client.pexpire(key, EXPIRY_MS),
            "expireat": lambda key: self.client.expireat(key, now_ms // 1000 + 2),
            "pexpireat": lambda key: self.client.pexpireat(key, now_ms + EXPIRY_MS),
        }
        for way, expire in ways.items():
            key = f"{name}:{way}"
            make(key)
            check(f"{way} of a {name}", expire(key), True)
            left = self.client.pttl(key)
            assert 0 < left <= 2 * EXPIRY_MS, f"PTTL after {way} of a {name} is {left}"
            check(f"TTL after {way} of a {name}", self.client.ttl(key) in (0, 1, 2), True)
            self.keys.append(key)

    def check(self):
        time.sleep(EXPIRY_MS * 2 / 1000 + 0.1)
        for key in self.keys:
            check(f"EXISTS {key}", self.client.exists(key), 0)
            check(f"PTTL {key}", self.client.pttl(key), -2)
            check(f"TYPE {key}", self.client.type(key), b"none")


def strings(client, expiring):
    check("SET", client.set("text", "value"), True)
    check("GET", client.get("text"), b"value")
    check("GET of a missing key", client.get("missing"), None)
    check("SET PX", client.set("short", "v", px=EXPIRY_MS), True)
    check("SET EX", client.set("long", "v", ex=100), True)
    assert 0 < client.pttl("short") <= EXPIRY_MS and 99 <= client.ttl("long") <= 100
    check("SET NX of a key that is there", client.set("text", "other", nx=True), None)
    check("SET XX of a missing key", client.set("missing", "other", xx=True), None)
    check("SET NX", client.set("fresh", "v", nx=True), True)
    check("SET XX", client.set("text", "other", xx=True), True)
    check("SETEX", client.setex("setex", 100, "plain"), True)
    check("GET after SETEX", client.get("setex"), b"plain")
    check("TTL after SETEX", client.ttl("setex"), 100)
    # The old bit is the reply, and bits are counted from the first of the first byte.
    check("SETBIT", client.setbit("bits", 7, 1), 0)
    check("SETBIT again", client.setbit("bits", 7, 0), 1)
    client.setbit("bits", 7, 1)
    check("GET of bits", client.get("bits"), b"\x01")
    check("GETBIT", [client.getbit("bits", bit) for bit in (6, 7, 100)], [0, 1, 0])
    client.set("foobar", "foobar")
    check("BITCOUNT", client.bitcount("foobar"), 26)
    check("BITCOUNT of a range", client.bitcount("foobar", 1, 1), 6)
    check("DEL", [client.delete("fresh"), client.delete("fresh")], [1, 0])
    check("MSET", client.mset({"a": "1", "b": "2", "c": "3"}), True)
    check("MGET", client.mget("a", "missing", "b", "c"), [b"1", None, b"2", b"3"])
    check("DEL of several, of which one is missing", client.delete("missing", "a", "b"), 2)
    client.set("count", 10)
    check("INCR, INCRBY, DECR, DECRBY", [client.incr("count"), client.incrby("count", 10), client.decr("count"), client.decrby("count", 5)],
          [11, 21, 20, 15])
    check("INCR of a missing key", client.incr("counted"), 1)
    fails("INCR of a text", lambda: client.incr("text"), "value is not an integer or out of range")
    client.set("most", 2**63 - 1)
    fails("INCR beyond 64 bits", lambda: client.incr("most"), "would overflow")
    check("STRLEN", [client.strlen("foobar"), client.strlen("missing")], [6, 0])
    check("TYPE", [client.type("text"), client.type("missing")], [b"string", b"none"])
    check("TTL and PTTL without", [client.ttl("text"), client.pttl("text"), client.ttl("missing"), client.pttl("missing")], [-1, -1, -2, -2])
    check("EXPIRE of a missing key", client.expire("missing", 10), False)
    # INCR keeps the expiry, SET does not.
    client.set("timed", 1, ex=100)
    client.incr("timed")
    check("TTL after INCR", client.ttl("timed"), 100)
    client.set("timed", 1)
    check("TTL after SET", client.ttl("timed"), -1)
    client.set(b"\xff\x00\xfe", b"\x00\xff")
    check("a key that is no text", client.get(b"\xff\x00\xfe"), b"\x00\xff")
    check("an empty value", [client.set("empty", ""), client.get("empty")], [True, b""])
    expiring.add("string", lambda key: client.set(key, "v"))


def hashes(client, expiring):
    fields = {f"field{number:03}".encode(): f"value{number}".encode() for number in range(200)}
    for field, value in fields.items():
        check("HSET", client.hset("hash", field, value), 1)
    check("HSET again", client.hset("hash", "field000", "value0"), 0)
    check("HGET", [client.hget("hash", field) for field in fields], list(fields.values()))
    check("HGET of a missing field", client.hget("hash", "missing"), None)
    check("HLEN", [client.hlen("hash"), client.hlen("missing")], [200, 0])
    check("HMGET", client.hmget("hash", "field001", "missing", "field199"), [b"value1", None, b"value199"])
    check("HKEYS", sorted(client.hkeys("hash")), sorted(fields))
    check("HVALS", sorted(client.hvals("hash")), sorted(fields.values()))
    check("HGETALL", client.hgetall("hash"), fields)
    check("HEXISTS", [client.hexists("hash", "field001"), client.hexists("hash", "missing"), client.hexists("missing", "f")],
          [True, False, False])
    check("HSTRLEN", [client.hstrlen("hash", "field001"), client.hstrlen("hash", "missing")], [6, 0])
    check("HMSET", client.execute_command("HMSET", "three", "a", "1", "b", "2", "c", "3"), True)
    check("HDEL of three and a missing one", client.hdel("three", "a", "b", "c", "missing"), 3)
    check("HLEN of nothing, and its EXISTS", [client.hlen("three"), client.exists("three")], [0, 0])
    client.hset("three", mapping={"a": "1", "b": "2", "c": "3"})
    check("HDEL of two", [client.hdel("three", "a", "b"), client.hlen("three")], [2, 1])
    check("HSETNX", [client.hsetnx("three", "c", "4"), client.hsetnx("three", "d", "4"), client.hget("three", "c")], [False, True, b"3"])
    check("an empty value", [client.hset("three", "e", ""), client.hget("three", "e")], [1, b""])
    check("DEL", [client.delete("hash"), client.hgetall("hash")], [1, {}])
    check("TYPE", client.type("three"), b"hash")
    expiring.add("hash", lambda key: client.hset(key, mapping=fields))


def lists(client, expiring):
    elements = [str(number).encode() for number in range(200)]
    for number, element in enumerate(elements):
        check("RPUSH", client.rpush("right", element), number + 1)
        check("LPUSH", client.lpush("left", element), number + 1)
    check("LLEN", [client.llen("right"), client.llen("missing")], [200, 0])
    check("LINDEX", [client.lindex("right", at) for at in (0, 99, -1, 200)], [b"0", b"99", b"199", None])
    check("LRANGE", client.lrange("right", 10, 100), elements[10:101])
    check("LRANGE of all", client.lrange("left", 0, -1), elements[::-1])
    check("LSET", [client.lset("right", 5, "five"), client.lindex("right", 5)], [True, b"five"])
    fails("LSET outside", lambda: client.lset("right", 200, "v"), "index out of range")
    fails("LSET of a missing key", lambda: client.lset("missing", 0, "v"), "no such key")
    client.lset("right", 5, "5")
    check("LPOP, first in first out", [client.lpop("right") for _ in range(10)], elements[:10])
    check("RPOP, first in first out", [client.rpop("left") for _ in range(10)], elements[:10])
    check("RPOP, last in first out", [client.rpop("right") for _ in range(10)], elements[:-11:-1])
    check("LTRIM", [client.ltrim("left", 0, 100), client.llen("left")], [True, 101])
    check("what LTRIM left", client.lrange("left", 0, -1), elements[::-1][:101])
    check("LPOP of a missing key", client.lpop("missing"), None)
    client.rpush("one", "v")
    check("LPOP of the last one, and EXISTS", [client.lpop("one"), client.exists("one")], [b"v", 0])
    check("DEL", [client.delete("left", "right"), client.type("left")], [2, b"none"])
    expiring.add("list", lambda key: client.rpush(key, *elements))


def members(first, last):
    return {str(number).encode() for number in range(first, last)}


def sets(client, expiring):
    check("SADD", client.sadd("first", *members(0, 150)), 150)
    check("SADD again", client.sadd("first", "0"), 0)
    client.sadd("second", *members(100, 250))
    check("SCARD", [client.scard("first"), client.scard("missing")], [150, 0])
    check("SISMEMBER", [client.sismember("first", "149"), client.sismember("first", "150")], [1, 0])
    check("SMEMBERS", client.smembers("first"), members(0, 150))
    check("SDIFF", client.sdiff("first", "second"), members(0, 100))
    check("SUNION", client.sunion("first", "second"), members(0, 250))
    check("SINTER", client.sinter("first", "second"), members(100, 150))
    check("SDIFF with a missing key", client.sdiff("first", "missing"), members(0, 150))
    check("SUNION with a missing key", client.sunion("missing", "first"), members(0, 150))
    check("SINTER with a missing key", client.sinter("first", "missing"), set())
    check("SDIFFSTORE", [client.sdiffstore("into", "first", "second"), client.smembers("into")], [100, members(0, 100)])
    check("SUNIONSTORE", [client.sunionstore("into", "first", "second"), client.scard("into")], [250, 250])
    check("SINTERSTORE", [client.sinterstore("into", "first", "second"), client.smembers("into")], [50, members(100, 150)])
    check("SINTERSTORE with a missing key", [client.sinterstore("into", "first", "missing"), client.exists("into")], [0, 0])
    check("SREM", [client.srem("second", "100", "101", "missing"), client.scard("second")], [2, 148])
    client.sadd("one", "v")
    check("SREM of the last one, and EXISTS", [client.srem("one", "v"), client.exists("one")], [1, 0])
    check("DEL", [client.delete("first"), client.scard("first")], [1, 0])
    expiring.add("set", lambda key: client.sadd(key, *members(0, 150)))


def sorted_sets(client, expiring):
    scores = {f"member{number:03}".encode(): float(number) for number in range(100)}
    pairs = sorted(scores.items(), key=lambda pair: pair[1])
    names = [name for name, _ in pairs]
    check("ZADD", client.zadd("sorted", scores), 100)
    check("ZADD again", client.zadd("sorted", {"member000": 0}), 0)
    check("ZCARD", [client.zcard("sorted"), client.zcard("missing")], [100, 0])
    check("ZRANGE", client.zrange("sorted", 0, -1), names)
    check("ZRANGE WITHSCORES", client.zrange("sorted", 10, 20, withscores=True), pairs[10:21])
    check("ZREVRANGE", client.zrevrange("sorted", 0, 9), names[:-11:-1])
    check("ZREVRANGE WITHSCORES", client.zrevrange("sorted", 0, 9, withscores=True), pairs[:-11:-1])
    check("ZRANGEBYSCORE", client.zrangebyscore("sorted", "-inf", "+inf"), names)
    check("ZRANGEBYSCORE LIMIT", client.zrangebyscore("sorted", 10, "+inf", start=5, num=3), names[15:18])
    check("ZRANGEBYSCORE without its ends", client.zrangebyscore("sorted", "(10", "(13"), names[11:13])
    check("ZRANGEBYSCORE WITHSCORES", client.zrangebyscore("sorted", 1, 3, withscores=True), pairs[1:4])
    check("ZRANGEBYSCORE, the other way round", client.zrangebyscore("sorted", 10, 5), [])
    check("ZREVRANGEBYSCORE", client.zrevrangebyscore("sorted", "+inf", "-inf"), names[::-1])
    check("ZREVRANGEBYSCORE LIMIT", client.zrevrangebyscore("sorted", 50, 0, start=1, num=2), names[49:47:-1])
    check("ZREVRANGEBYSCORE, the other way round", client.zrevrangebyscore("sorted", 5, 10), [])
    check("ZCOUNT", client.zcount("sorted", 50, "+inf"), 50)
    check("ZSCORE", [client.zscore("sorted", "member007"), client.zscore("sorted", "missing")], [7.0, None])
    check("ZRANK", [client.zrank("sorted", "member007"), client.zrank("sorted", "missing")], [7, None])
    check("ZREVRANK", client.zrevrank("sorted", "member007"), 92)
    client.zadd("words", dict.fromkeys(("aaa", "bbb", "ccc", "ddd", "eee"), 0))
    check("ZRANGEBYLEX", client.zrangebylex("words", "(aaa", "[ccc"), [b"bbb", b"ccc"])
    check("ZRANGEBYLEX of all", client.zrangebylex("words", "-", "+"), [b"aaa", b"bbb", b"ccc", b"ddd", b"eee"])
    check("ZRANGEBYLEX LIMIT", client.zrangebylex("words", "-", "+", start=1, num=2), [b"bbb", b"ccc"])
    check("ZREVRANGEBYLEX", client.zrevrangebylex("words", "[ccc", "-", start=0, num=2), [b"ccc", b"bbb"])
    check("ZLEXCOUNT", [client.zlexcount("words", "[aaa", "[ccc"), client.zlexcount("words", "-", "+")], [3, 5])
    check("ZREMRANGEBYLEX", [client.zremrangebylex("words", "[aaa", "(ccc"), client.zcard("words")], [2, 3])
    check("ZINCRBY", [client.zincrby("sorted", 10, "member099"), client.zincrby("sorted", 1.5, "new")], [109.0, 1.5])
    check("ZINCRBY of a missing key", client.zincrby("made", 2, "m"), 2.0)
    check("ZREM", [client.zrem("sorted", "new", "member099", "missing"), client.zcard("sorted")], [2, 99])
    check("ZREMRANGEBYSCORE", [client.zremrangebyscore("sorted", 0, 9), client.zcard("sorted")], [10, 89])
    check("ZREMRANGEBYRANK", [client.zremrangebyrank("sorted", 0, 8), client.zrange("sorted", 0, 0)], [9, [b"member019"]])
    check("ZREM of the last one, and EXISTS", [client.zrem("made", "m"), client.exists("made")], [1, 0])
    check("DEL", [client.delete("sorted"), client.zcard("sorted")], [1, 0])
    expiring.add("sorted set", lambda key: client.zadd(key, scores))


def transactions(client, _expiring):
    check("an empty EXEC", transaction(client), [])
    fails("EXEC without MULTI", lambda: client.execute_command("EXEC"), "EXEC without MULTI")
    fails("DISCARD without MULTI", lambda: client.execute_command("DISCARD"), "DISCARD without MULTI")
    check("SET and GET", transaction(client, ("SET", "in", "v"), ("GET", "in")), [b"OK", b"v"])
    with single(client) as one:
        one.execute_command("MULTI")
        one.execute_command("SET", "in", "w")
        one.execute_command("DISCARD")
        check("GET after DISCARD", one.get("in"), b"v")
        one.execute_command("MULTI")
        check("PING in a MULTI", one.execute_command("PING"), b"QUEUED")
        fails("a command that does not exist", lambda: one.execute_command("NOSUCH"), "unknown command")
        fails("EXEC after an error", lambda: one.execute_command("EXEC"), "Transaction discarded")
    with single(client) as one:
        one.execute_command("WATCH", "in")
        client.set("in", "x")
        one.execute_command("MULTI")
        one.execute_command("SET", "in", "y")
        check("EXEC of a watched key that was changed", one.execute_command("EXEC"), None)
        check("GET", one.get("in"), b"x")
    # A command that fails does not undo the others, which is Redis' way.
    with client.pipeline() as pipe:
        pipe.set("in", "z").lpush("in", "v").incr("counted-in")
        replies = pipe.execute(raise_on_error=False)
    check("a MULTI with a failing command", [replies[0], type(replies[1]), replies[2]], [True, redis.ResponseError, 1])
    check("GET", client.get("in"), b"z")


def transaction(client, *requests):
    with single(client) as one:
        one.execute_command("MULTI")
        for request in requests:
            one.execute_command(*request)
        return one.execute_command("EXEC")


def single(client):
    """One connection without redis-py's ideas about replies."""
    one = redis.Redis(port=client.get_connection_kwargs()["port"], single_connection_client=True)
    one.response_callbacks.clear()
    return one


def wrong_types(client, _expiring):
    client.set("text", "v")
    client.rpush("elements", "v")
    for words in (("LPUSH", "text", "v"), ("HGET", "text", "f"), ("SADD", "text", "m"), ("ZADD", "text", "1", "m"), ("GET", "elements")):
        fails(words[0], lambda words=words: client.execute_command(*words), "WRONGTYPE")
    for words in (("EXPIRE", "text"), ("TTL",), ("TYPE",), ("AUTH",)):
        fails(words[0], lambda words=words: client.execute_command(*words), "wrong number of arguments")
    fails("ZADD with half a pair", lambda: client.execute_command("ZADD", "z", "1", "m", "2"), "syntax error")
    check("PING", client.ping(), True)


def main():
    client = redis.Redis(port=int(sys.argv[1]))
    client.flushdb()
    expiring = Expiring(client)
    flows = (strings, hashes, lists, sets, sorted_sets, transactions, wrong_types)
    for flow in flows:
        flow(client, expiring)
    expiring.check()
    print(f"tidis: {len(flows)} flows, {len(expiring.keys)} keys expired")


if __name__ == "__main__":
    main()
