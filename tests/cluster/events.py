"""What happens at one server and must reach the clients of another: pushes, messages, invalidations, flushes, definitions.

Every case has two servers, `here` and `there`, and connections to each.
"""

import collections
import contextlib
import random
import threading
import time

from harness import ErrorReply, check, until

QUICK_TIMES, LONG_TIMES = 5, 50
# A message that comes at all comes by then; one that must not come is waited for so long.
ARRIVAL_LIMIT_S, SILENCE_S = 2.0, 0.3
# Others hear so late that nobody listens any more, since somebody often listens again.
INTEREST_LIMIT_S = 15.0
# Where a message was lost with its server, waiting clients look for themselves each second.
WAKE_LIMIT_S = 1.6
# A server that stands still counts as gone when its lease of three seconds is over.
LEASE_LIMIT_S = 6.0


@contextlib.contextmanager
def two(cluster, store, *flags):
    gateways = [cluster.begin_to_start(store, *flags) for _ in range(2)]
    here, there = [gateway.wait_until_it_serves() for gateway in gateways]
    yield here, there


def told(name, seconds):
    """Prints how long something took."""
    ordered = sorted(seconds)
    print(f"{name}: median {ordered[len(ordered) // 2] * 1000:.1f} ms, slowest {ordered[-1] * 1000:.1f} ms of {len(ordered)}", flush=True)


def heard(client, expected):
    """Reads what comes by itself, and returns when it came."""
    if not client.hears(ARRIVAL_LIMIT_S * 5):
        raise AssertionError(f"{expected} does not come")
    found = client.whole()
    check("a message", found, expected)
    return time.monotonic()


def is_silent(client):
    assert not client.hears(SILENCE_S), f"something comes: {client.whole()}"


def messages(cluster):
    """PUBLISH at one server reaches subscribers of the other, and nothing is sent where nobody listens."""
    with two(cluster, "messages") as (here, there):
        client, channel, pattern, shard = there.client(), here.client(), here.client(), here.client()
        sent = there.fact("peer_messages_sent")
        for number in range(20):
            client.call("PUBLISH", "news", number)
            client.call("SET", f"key{number}", number)
        check("messages to servers where nobody listens", there.fact("peer_messages_sent"), sent)
        channel.call("SUBSCRIBE", "news")
        pattern.call("PSUBSCRIBE", "n*s")
        shard.call("SSUBSCRIBE", "news")
        took = []
        for number in range(20):
            begin = time.monotonic()
            client.call("PUBLISH", "news", number)
            text = str(number).encode()
            took.append(heard(channel, [b"message", b"news", text]) - begin)
            heard(pattern, [b"pmessage", b"n*s", b"news", text])
            client.call("SPUBLISH", "news", text)
            heard(shard, [b"smessage", b"news", text])
        # The order of one publisher stays, also in a pipeline.
        client.send_all([("PUBLISH", "news", number) for number in range(100)])
        for number in range(100):
            client.read()
            heard(channel, [b"message", b"news", str(number).encode()])
            pattern.whole()
        channel.call("UNSUBSCRIBE", "news")
        pattern.call("PUNSUBSCRIBE", "n*s")
        shard.call("SUNSUBSCRIBE", "news")
        # That nobody listens any more is heard a little later.
        until(INTEREST_LIMIT_S, "nothing is sent after everybody has gone", lambda: not sends(there, client))
        is_silent(channel)
        told("messages", took)


def sends(gateway, client):
    """Whether a message of a client makes its server send some."""
    sent = gateway.fact("peer_messages_sent")
    client.call("PUBLISH", "news", "after")
    return gateway.fact("peer_messages_sent") > sent


def notifications(cluster):
    """Events of the keyspace reach subscribers of the other server."""
    with two(cluster, "notifications") as (here, there):
        client, listener = there.client(), here.client()
        for server in (here, there):
            with server.client() as admin:
                admin.call("CONFIG", "SET", "notify-keyspace-events", "KEA")
        listener.call("PSUBSCRIBE", "__key*__:*")
        client.call("SET", "key", "value")
        heard(listener, [b"pmessage", b"__key*__:*", b"__keyspace@0__:key", b"set"])
        heard(listener, [b"pmessage", b"__key*__:*", b"__keyevent@0__:set", b"key"])
        client.transaction(("RPUSH", "list", "a"), ("DEL", "key"))
        events = [listener.whole()[2:] for _ in range(4)]
        check("events of a transaction", events, [
            [b"__keyspace@0__:list", b"rpush"], [b"__keyevent@0__:rpush", b"list"],
            [b"__keyspace@0__:key", b"del"], [b"__keyevent@0__:del", b"key"],
        ])


def invalidations(cluster):
    """What a client keeps of a key is invalidated when the other server changes it."""
    with two(cluster, "invalidations") as (here, there):
        writer, client, broad = there.client(), here.client(), here.client()
        for reader in (client, broad):
            reader.call("HELLO", "3")
        client.call("CLIENT", "TRACKING", "ON")
        broad.call("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "user:")
        took = []
        for number in range(20):
            writer.call("SET", "user:1", number)
            heard(broad, [b"invalidate", [b"user:1"]])
            check("GET", client.call("GET", "user:1"), str(number).encode())
            begin = time.monotonic()
            writer.call("APPEND", "user:1", "!")
            took.append(heard(client, [b"invalidate", [b"user:1"]]) - begin)
            heard(broad, [b"invalidate", [b"user:1"]])
            # It was told once, and is not asked for again.
            writer.call("SET", "user:1", "again")
            heard(broad, [b"invalidate", [b"user:1"]])
            if number == 0:
                is_silent(client)
        client.call("GET", "user:1")
        writer.call("FLUSHDB")
        heard(client, [b"invalidate", None])
        heard(broad, [b"invalidate", None])
        told("invalidations", took)


def pushes(cluster):
    """A client that is blocked at one server is woken by a push at the other, whatever it waits for."""
    with two(cluster, "pushes") as (here, there):
        pusher, waiter = there.client(), here.client()
        kinds = [
            (("BLPOP", "list", "0"), ("RPUSH", "list", "v"), [b"list", b"v"]),
            (("BLMOVE", "list", "other", "LEFT", "RIGHT", "0"), ("RPUSH", "list", "v"), b"v"),
            (("BZPOPMIN", "sorted", "0"), ("ZADD", "sorted", "1", "v"), [b"sorted", b"v", b"1"]),
            (("XREAD", "BLOCK", "0", "STREAMS", "stream", "0"), ("XADD", "stream", "1-1", "f", "v"), [[b"stream", [[b"1-1", [b"f", b"v"]]]]]),
            (("BLPOP", "none", "list", "0"), ("LPUSH", "list", "v"), [b"list", b"v"]),
        ]
        for wait, push, reply in kinds:
            waiter.send(*wait)
            blocked(here, 1)
            pusher.call(*push)
            check(wait[0], waiter.read(), reply)
        took = []
        for number in range(50 if cluster.is_long else 20):
            waiter.send("BLPOP", "queue", "0")
            blocked(here, 1)
            begin = time.monotonic()
            pusher.call("RPUSH", "queue", number)
            check("BLPOP", waiter.read(), [b"queue", str(number).encode()])
            took.append(time.monotonic() - begin)
        told("pushes", took)
        assert sorted(took)[len(took) // 2] < 0.3, "clients are not woken but find out for themselves"


def blocked(gateway, count):
    until(5, f"{count} clients wait", lambda: gateway.fact("blocked_clients") == count)


class Taker(threading.Thread):
    """A client that takes from a list until it takes the last one."""

    def __init__(self, gateway, key):
        super().__init__(daemon=True)
        self.client, self.key, self.taken, self.problem = gateway.client(), key, [], None

    def run(self):
        try:
            while (element := self.client.call("BLPOP", self.key, "0")[1]) != b"last":
                self.taken.append((element, time.monotonic()))
        except Exception as error:  # The case tells it.
            self.problem = error


def many_wait(cluster):
    """Clients of both servers wait for one list: every element arrives exactly once, and nobody waits while there is something."""
    with two(cluster, "many-wait") as (here, there):
        takers = [Taker(gateway, "work") for gateway in (here, there) for _ in range(4)]
        for taker in takers:
            taker.start()
        pushed, clients = {}, [here.client(), there.client()]
        count = 400 if cluster.is_long else 100
        for number in range(count):
            pushed[str(number).encode()] = time.monotonic()
            clients[number % 2].call("RPUSH", "work", number)
            # Sometimes all wait, sometimes there is more than they take.
            if number % 25 == 0:
                time.sleep(0.3)
        until(WAKE_LIMIT_S + 1, "everything is taken", lambda: sum(len(taker.taken) for taker in takers) >= count)
        for _ in takers:
            clients[0].call("RPUSH", "work", "last")
        for taker in takers:
            taker.join(WAKE_LIMIT_S * len(takers))
            assert not taker.is_alive(), "a client waits though there is something"
            if taker.problem:
                raise taker.problem
        taken = [element for taker in takers for element in taker.taken]
        numbers = collections.Counter(element for element, _ in taken)
        check("every element, once", numbers, collections.Counter(pushed.keys()))
        told("many_wait", [at - pushed[element] for element, at in taken])


def timed_out_and_gone(cluster):
    """An element is not lost to a client that goes, or whose time is over, at the moment of the push."""
    with two(cluster, "gone") as (here, there):
        pusher, draw = there.client(), random.Random(19)
        taken = collections.Counter()
        count = 60 if cluster.is_long else 20
        for number in range(count):
            waiter = here.client()
            waiter.send("BLPOP", "queue", "0.1")
            time.sleep(draw.uniform(0.08, 0.11))
            pusher.call("RPUSH", "queue", number)
            reply = waiter.read()
            if reply:
                taken[reply[1]] += 1
            waiter.close()
        for element in pusher.call("LRANGE", "queue", "0", "-1"):
            taken[element] += 1
        check("elements", taken, collections.Counter(str(number).encode() for number in range(count)))


def killed_after_commit(cluster):
    """A push of which only the cluster knows, since its server was killed then, wakes a client of another server in a second or so."""
    took = []
    store = "killed"
    here = cluster.start(store)
    for number in range(LONG_TIMES if cluster.is_long else QUICK_TIMES):
        there = cluster.start(store)
        waiter, pusher = here.client(), there.client()
        pusher.call("GET", "queue")
        waiter.send("BLPOP", "queue", "0")
        blocked(here, 1)
        # The cluster does it, and its server never hears so.
        cluster.counts()
        cluster.ask("/mute?method=KvPrewrite&n=1")
        pusher.send("RPUSH", "queue", number)
        until(5, "it is pushed", lambda: cluster.ask("/counts").get("KvPrewrite", 0) > 0)
        begin = time.monotonic()
        there.kill()
        cluster.ask("/mute?method=KvPrewrite&n=0")
        check("BLPOP", waiter.read(), [b"queue", str(number).encode()])
        took.append(time.monotonic() - begin)
        waiter.close()
        assert took[-1] < WAKE_LIMIT_S, f"a client waited {took[-1]:.2f} s"
    told("killed_after_commit", took)


def flushes(cluster):
    """FLUSHDB, FLUSHALL and SWAPDB at one server are seen at the other as soon as it has replied."""
    with two(cluster, "flushes") as (here, there):
        client, other = there.client(), here.client()
        took = []
        for number in range(10):
            for flush in ("FLUSHDB", "FLUSHALL"):
                other.call("SET", "key", number)
                check("GET", client.call("GET", "key"), str(number).encode())
                begin = time.monotonic()
                client.call(flush)
                took.append(time.monotonic() - begin)
                check(f"GET after {flush}", other.call("GET", "key"), None)
                check(f"DBSIZE after {flush}", other.call("DBSIZE"), b"0")
            other.call("SET", "key", "first")
            client.call("SWAPDB", "0", "1")
            check("GET after SWAPDB", other.call("GET", "key"), None)
            client.call("SWAPDB", "0", "1")
            check("GET after another SWAPDB", other.call("GET", "key"), b"first")
        told("flushes", took)


def flush_beside_writers(cluster):
    """Writers of both servers go on while one flushes: what is acknowledged behind the flush stays."""
    with two(cluster, "flush-writers") as (here, there):
        is_over = threading.Event()
        last = {}

        def write(name, gateway):
            client, number = gateway.client(), 0
            while not is_over.is_set():
                number += 1
                client.call("SET", f"{name}:{number}", number)
                last[name] = number

        threads = [threading.Thread(target=write, args=(f"w{at}", gateway), daemon=True) for at, gateway in enumerate((here, there) * 2)]
        for thread in threads:
            thread.start()
        client = there.client()
        for _ in range(10):
            time.sleep(0.1)
            client.call("FLUSHDB")
        after = dict(last)
        time.sleep(0.3)
        is_over.set()
        for thread in threads:
            thread.join(10)
        for name, number in after.items():
            for gateway in (here, there):
                with gateway.client() as reader:
                    # The next one may have been made before the flush and acknowledged after it.
                    for later in range(number + 2, last[name] + 1):
                        check(f"{name}:{later}", reader.call("GET", f"{name}:{later}"), str(later).encode())
                    # Before the first flush, and so gone.
                    check(f"{name}:1", reader.call("GET", f"{name}:1"), None)


def paused(cluster):
    """A server that stood still while another one flushed serves nothing of before, and loses no write."""
    with two(cluster, "paused") as (here, there):
        client, reader, writer, pooled = there.client(), here.client(), here.client(), here.client()
        for number in range(3 if cluster.is_long else 1):
            client.call("MSET", "key", "old", "other", "old")
            check("GET", reader.call("GET", "key"), b"old")
            here.pause()
            reader.send("GET", "key")
            writer.send("SET", "mine", number)
            pooled.send("MGET", "key", "other")
            assert not reader.hears(SILENCE_S), "a server that stands still replies"
            begin = time.monotonic()
            client.call("FLUSHDB")
            took = time.monotonic() - begin
            client.call("SET", "new", number)
            assert took < LEASE_LIMIT_S, f"FLUSHDB took {took:.1f} s"
            here.resume()
            for waiting, stale in ((reader, b"old"), (pooled, [b"old", b"old"])):
                try:
                    reply = waiting.read()
                    assert reply != stale, f"served after the flush, which took {took:.1f} s: {reply}"
                except ErrorReply as error:
                    assert error.is_refusal(), error
            try:
                writer.read()
                check("a write beside the flush", client.call("GET", "mine"), str(number).encode())
            except ErrorReply as error:
                assert error.is_refusal() or error.is_unknown(), error
            until(LEASE_LIMIT_S, "it serves again", lambda: answers(here, "GET", "new") == str(number).encode())
            check("the old key", answers(here, "GET", "key"), None)
            print(f"paused: FLUSHDB took {took:.1f} s", flush=True)


def answers(gateway, *words):
    with gateway.client() as client:
        return client.answer(*words)


LIBRARY = """#!lua name=events
redis.register_function('twice', function(keys, args) return redis.call('INCRBY', keys[1], args[1] * 2) end)
redis.register_function('note', function(keys, args) redis.call('RPUSH', 'notes', args[1] .. ' ' .. keys[1]) end)
redis.register_function('tick', function(keys, args) redis.call('INCR', 'ticks') redis.call('RPUSH', 'due', args[2]) end)
"""


def definitions(cluster):
    """Users, functions and triggers are the same at all servers once one has acknowledged them."""
    with two(cluster, "definitions") as (here, there):
        admin, other = there.client(), here.client()
        admin.call("ACL", "SETUSER", "guest", "on", ">secret", "~open:*", "+get", "+set")
        user = here.client()
        check("AUTH", user.call("AUTH", "guest", "secret"), b"OK")
        check("SET", user.call("SET", "open:1", "v"), b"OK")
        admin.call("ACL", "SETUSER", "guest", "-set")
        assert "NOPERM" in str(user.answer("SET", "open:1", "w")), "a right that was taken is used"
        admin.call("ACL", "SETUSER", "guest", "off")
        assert "WRONGPASS" in str(answers(here, "AUTH", "guest", "secret")), "a user who is off comes in"
        admin.call("ACL", "DELUSER", "guest")
        check("users", other.call("ACL", "USERS"), [b"default"])
        admin.call("FUNCTION", "LOAD", LIBRARY)
        check("FCALL", other.call("FCALL", "twice", "1", "count", "4"), b"8")
        admin.call("TRIGGER", "CREATE", "notes", "ON", "create", "PREFIX", "item:", "CALL", "note")
        other.call("SET", "item:1", "v")
        check("notes", admin.call("LRANGE", "notes", "0", "-1"), [b"create item:1"])
        other.call("TRIGGER", "DROP", "notes")
        admin.call("SET", "item:2", "v")
        check("notes", admin.call("LRANGE", "notes", "0", "-1"), [b"create item:1"])
        admin.call("FUNCTION", "DELETE", "events")
        assert "not found" in str(other.answer("FCALL", "twice", "1", "count", "4")), "a deleted function is called"


def crons(cluster):
    """A cron runs once in all, however many servers there are, and goes on when the server that ran it is killed."""
    store = "crons"
    with two(cluster, store) as (here, there):
        admin = there.client()
        admin.call("FUNCTION", "LOAD", LIBRARY)
        admin.call("CRON", "CREATE", "ticks", "EVERY", "100", "CALL", "tick")
        until(10, "it runs", lambda: int(admin.call("GET", "ticks") or 0) >= 10)
        due = admin.call("LRANGE", "due", "0", "-1")
        check("every time only once", len(due), len(set(due)))
        other = here.client()
        there.kill()
        before = int(other.call("GET", "ticks"))
        took = until(LEASE_LIMIT_S, "it runs after the other server was killed", lambda: int(other.call("GET", "ticks")) > before + 3)
        due = other.call("LRANGE", "due", "0", "-1")
        check("every time only once", len(due), len(set(due)))
        other.call("CRON", "DROP", "ticks")
        print(f"crons: {len(due)} runs, none twice; taken over after {took:.1f} s", flush=True)


EVENTS = (
    pushes, many_wait, timed_out_and_gone, killed_after_commit, messages, notifications, invalidations, flushes, flush_beside_writers,
    paused, definitions, crons,
)
