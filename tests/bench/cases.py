"""What is measured: every case by name, what is in the servers before it, and which cases run unless asked otherwise.

Names: `SET 3 B`, `HSET 100 B -P 16`, `GET 3 B -c 1000`. `-P` is the pipeline, `-c` the connections (50 if not named).
INCR, SADD and ZADD have no size. Each case begins with empty servers.
"""

import dataclasses
import functools
import hashlib
import itertools
import typing

import load
from resp import encode as request

SIZES = {"3 B": 3, "100 B": 100, "2 kB": 2_000, "20 kB": 20_000, "2 MB": 2_000_000}
PIPELINES = (1, 16, 64)
# Keys (fields, for a hash) that random keys are drawn from, by size: at most some 200 MB.
KEYSPACE = {3: 1_000_000, 100: 1_000_000, 2_000: 100_000, 20_000: 2_000, 2_000_000: 100}
# Values in a request or its reply, where it is not one.
VALUES = {"MSET (10 keys)": 10, "LRANGE_100": 100, "LRANGE_600": 600}
# Bytes under way at once are kept below this by fewer connections, so that no server runs out of memory.
IN_FLIGHT_BYTES = 200_000_000
SIZED = ("SET", "GET", "MSET (10 keys)", "HSET", "LPUSH", "LPOP", "LRANGE_100", "LRANGE_600", "XADD")
UNSIZED = ("INCR", "SADD", "ZADD")

MEMORY_LIMIT_BYTES = 256 * 1024 * 1024
USUAL = ("edgecask", "redis", "valkey", "none")
LOGGED = ("edgecask", "redis", "valkey")


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    arguments: tuple  # further ones of redis-benchmark; of no meaning to other loads
    connections: int = 50
    pipeline: int = 1
    requests: int = 0  # a round; 0: as many as take the time wanted
    fill: typing.Callable = lambda server: None  # once, before everything
    before: typing.Callable = lambda server, requests: None  # before each round of so many requests, unmeasured
    stdin: bytes = b""
    load: typing.Callable = load.redis_benchmark  # (server, case, requests) -> sample
    servers: tuple = USUAL
    policy: str = ""  # appendfsync, if it is not the run's
    memory_limit_bytes: int = 0
    remark: str = ""

    def benchmark_arguments(self, requests):
        pipeline = ("-P", str(self.pipeline)) if self.pipeline > 1 else ()
        return ("-n", str(requests), "-c", str(self.connections), *pipeline, *self.arguments)


# What is in the servers before


def fill_strings(server, count, size):
    """Every key that redis-benchmark may draw with `-r count`, so every GET hits."""
    head, tail = b"*3\r\n$3\r\nSET\r\n$16\r\n", b"\r\n" + request(b"x" * size)[4:]
    server.pipe(head + b"key:%012d" % key + tail for key in range(count))


def push(server, count, size):
    """Lets `mylist` have `count` elements at least."""
    missing = count - int(server.call("LLEN mylist")[1:])
    at_once = max(1, min(1000, 1_000_000 // size))
    # Rounded up to whole requests; nobody minds a longer list.
    batch = request(b"RPUSH", b"mylist", *[b"x" * size] * at_once)
    server.pipe(batch for _ in range(0, missing, at_once))


# A script, and a function of a library, that are one GET: what is around it is the cost of scripting.
SCRIPT = "return redis.call('GET',KEYS[1])"
LIBRARY = "#!lua name=bench\nredis.register_function('get', function(keys) return redis.call('GET', keys[1]) end)"


def fill_for_scripts(server, count):
    """Strings of 3 bytes, and what the scripts need."""
    fill_strings(server, count, 3)
    server.pipe([request(b"SCRIPT", b"LOAD", SCRIPT.encode()), request(b"FUNCTION", b"LOAD", LIBRARY.encode())])


def drop(server, _requests, key):
    server.call(f"UNLINK {key}")


# Cases


def product_case(command, size_name, pipeline):
    """One case of the product {commands} x {pipelines} x {sizes}; None if a single pipeline is too large."""
    size = SIZES.get(size_name, 3)
    under_way = size * pipeline * VALUES.get(command, 1)
    if under_way > IN_FLIGHT_BYTES:
        return None
    # The peers published SET of 3 bytes with this many keys.
    keyspace = 100_000_000 if (command, size) == ("SET", 3) else KEYSPACE[size]
    drawn, value = ("-r", str(keyspace)), ("-d", str(size))
    own = {
        "SET": {"arguments": ("-t", "set", *value, *drawn)},
        "GET": {"arguments": ("-t", "get", *drawn), "fill": functools.partial(fill_strings, count=keyspace, size=size)},
        "INCR": {"arguments": ("-t", "incr", *drawn)},
        "MSET (10 keys)": {"arguments": ("-t", "mset", *value, *drawn)},
        "HSET": {"arguments": ("-t", "hset", *value, *drawn)},
        "SADD": {"arguments": ("-t", "sadd", *drawn)},
        "ZADD": {"arguments": ("-t", "zadd", *drawn)},
        "LPUSH": {"arguments": ("-t", "lpush", *value)},
        # Some more than are asked for: the last pipelines of all connections may go beyond the number of requests.
        "LPOP": {"arguments": ("-t", "lpop"),
                 "before": lambda server, requests: push(server, requests + 50 * pipeline, size)},
        # Not `-t lrange_100`, which pushes the list itself while the CPU is counted.
        "LRANGE_100": {"arguments": ("LRANGE", "mylist", "0", "99"),
                       "fill": functools.partial(push, count=1000, size=size)},
        "LRANGE_600": {"arguments": ("LRANGE", "mylist", "0", "599"),
                       "fill": functools.partial(push, count=1000, size=size)},
        "XADD": {"arguments": ("-x", "XADD", "mystream", "*", "myfield"), "stdin": b"x" * size},
    }[command]
    if size > 2_000 and command in ("LPUSH", "XADD"):
        own["before"] = functools.partial(drop, key={"LPUSH": "mylist", "XADD": "mystream"}[command])
    connections = min(50, IN_FLIGHT_BYTES // under_way)
    return Case(name(command, size_name, pipeline), connections=connections, pipeline=pipeline, **own)


def name(command, size_name, pipeline):
    return " ".join(filter(None, (command, size_name, f"-P {pipeline}" if pipeline > 1 else "")))


def in_default(command, size_name, pipeline):
    if command in ("SET", "GET"):
        return pipeline == 1 or size_name in ("3 B", "100 B", "2 kB")
    return pipeline < 64 and size_name in ("", "3 B", "100 B")


def published_cases():
    """Commands that peers published figures of, requests included; each `-t get,set` as a SET and a GET of its own."""
    for size_name in ("3 B", "100 B", "2 kB", "20 kB"):
        size = SIZES[size_name]
        common = ("-d", str(size), "-r", "2000", "-k", "1")
        yield Case(f"published SET {size_name} -r 2000", ("-t", "set", *common), requests=100_000)
        yield Case(f"published GET {size_name} -r 2000", ("-t", "get", *common), requests=100_000,
                   fill=functools.partial(fill_strings, count=2000, size=size))
    # With fewer keys and requests than published: 2,000 values of 2 MB are 4 GB in each server.
    common = ("-d", "2000000", "-r", "100", "-k", "1")
    yield Case("published SET 2 MB -r 100", ("-t", "set", *common), requests=1000)
    yield Case("published GET 2 MB -r 100", ("-t", "get", *common), requests=1000,
               fill=functools.partial(fill_strings, count=100, size=2_000_000))
    for connections in (50, 200):
        yield Case(f"published SET -c {connections} -r 100000000", ("-t", "set", "-r", "100000000"), connections,
                   requests=500_000)


def other_cases():
    for connections in (1_000, 10_000):
        for command in ("SET", "GET"):
            usual = product_case(command, "3 B", 1)
            # A number known before, since redis-benchmark takes ten seconds to connect 10,000 times.
            yield dataclasses.replace(usual, name=f"{usual.name} -c {connections}", connections=connections,
                                      requests=50_000)
    for pipeline in (1, 16):
        usual = product_case("SET", "3 B", pipeline)
        yield dataclasses.replace(usual, name=f"SET always 3 B{' -P 16' if pipeline > 1 else ''}",
                                  servers=LOGGED, policy="always", remark="all with `appendfsync always`")
    yield from published_cases()
    calls = {"EVALSHA": hashlib.sha1(SCRIPT.encode()).hexdigest(), "FCALL": "get"}
    for (command, called), pipeline in itertools.product(calls.items(), (1, 16)):
        yield Case(name(f"{command} of a GET", "3 B", pipeline),
                   ("-r", "100000", command, called, "1", "key:__rand_int__"), pipeline=pipeline,
                   fill=functools.partial(fill_for_scripts, count=100_000), remark="a script of one GET, in Lua")
    keys, size = 1_000_000, 100
    yield Case("Zipf 90/10 100 B -P 16", (), load.ZIPF_PROCESSES, 16,
               load=functools.partial(load.zipf, keys=keys, size=size),
               fill=functools.partial(fill_strings, count=keys, size=size),
               remark=f"own load, no redis-benchmark: 90 % GET, 10 % SET, keys of {keys:,} by Zipf's law (s = 0.99)")
    keys, size = MEMORY_LIMIT_BYTES // 1024 * 4, 1000
    yield Case("GET 1 kB memory limit", ("-t", "get", "-r", str(keys)),
               fill=functools.partial(fill_strings, count=keys, size=size), servers=("edgecask",),
               memory_limit_bytes=MEMORY_LIMIT_BYTES,
               remark=f"{keys:,} values in {MEMORY_LIMIT_BYTES >> 20} MiB of memory, page cache included; "
                      "Redis keeps all values in memory and cannot hold them")


def all_cases():
    """Every case with whether it runs by default."""
    for command in SIZED + UNSIZED:
        for size_name in SIZES if command in SIZED else ("",):
            for pipeline in PIPELINES:
                if case := product_case(command, size_name, pipeline):
                    yield case, in_default(command, size_name, pipeline)
    for case in other_cases():
        yield case, True
