"""One key that many clients write: writers of one server share transactions, and other servers forward their writes."""

import time

from harness import ErrorReply, check

CLIENTS = 24
ROUNDS = 20


def increments(gateways, name):
    """All clients of all servers add to one counter; returns what they were told."""
    clients = [gateway.client() for gateway in gateways for _ in range(CLIENTS)]
    told = []
    for _ in range(ROUNDS):
        for client in clients:
            client.send("INCR", name)
        told += [int(client.read()) for client in clients]
    check(f"what the clients of {name} were told", sorted(told), list(range(1, ROUNDS * len(clients) + 1)))
    return len(told)


def facts(gateways, name):
    return sum(gateway.fact(name) for gateway in gateways)


def hot_key(cluster):
    """Writers of one key at one server: no write is lost, none meets another one, and many share a transaction."""
    gateway = cluster.start("hot-key")
    before = gateway.fact("cluster_writes")
    count = increments([gateway], "counter")
    writes = gateway.fact("cluster_writes") - before
    if writes > count / 3:
        raise AssertionError(f"{writes} writes for {count} increments")
    check("conflicts", gateway.fact("cluster_conflicts"), 0)
    # A client that is gone does not keep others waiting.
    leaving = [gateway.client() for _ in range(CLIENTS)]
    for client in leaving:
        client.send("INCR", "counter")
        client.close()
    client = gateway.client()
    for number in range(20):
        client.call("ZADD", "set", number, f"member{number}")
    check("ZCARD", client.call("ZCARD", "set"), b"20")


def hot_key_of_two(cluster):
    """Writers of one key at two servers: no write is lost, and they do not meet each time."""
    gateways = [cluster.start("hot-key-of-two") for _ in range(2)]
    count = increments(gateways, "counter")
    writes, conflicts = facts(gateways, "cluster_writes"), facts(gateways, "cluster_conflicts")
    print(f"{count} increments by two servers: {writes} writes, {conflicts} conflicts", flush=True)
    if conflicts > count / 10:
        raise AssertionError(f"{conflicts} conflicts for {count} increments")


def meet(gateways, *words, db=3):
    """Servers write a key at once until one of them forwards its writes to the other one; returns that one and the other."""
    clients = [gateway.client() for gateway in gateways for _ in range(4)]
    for client in clients:
        client.call("SELECT", db)
    for _ in range(500):
        for client in clients:
            client.send(*words)
        for client in clients:
            client.read()
        for sender, owner in (gateways, gateways[::-1]):
            if sender.fact("peer_requests_forwarded"):
                return sender, owner
    raise AssertionError("no server forwards its writes")


def forwarded_as_its_client(cluster):
    """A write that is forwarded acts in the client's database, as its user, and replies in its protocol."""
    sender, owner = meet([cluster.start("forwarded") for _ in range(2)], "ZINCRBY", "set", "1", "member")
    score = float(sender.client().call("ZSCORE", "set", "member") or 0)
    check("the score in another database", score, 0.0)
    client, other = sender.client(), owner.client()
    client.call("ACL", "SETUSER", "ann", "on", ">secret", "~set", "+@all", "-zrem")
    other.call("SELECT", "3")

    def forwards(*words):
        before = sender.fact("peer_requests_forwarded")
        reply = client.answer(*words)
        check(f"forwarded by {words}", sender.fact("peer_requests_forwarded"), before + 1)
        return reply

    client.call("HELLO", "3", "AUTH", "ann", "secret")
    client.call("SELECT", "3")
    client.send("ZINCRBY", "set", "0.5", "ann")
    check("a double", client.line(), b",0.5")
    check("ZSCORE there", other.call("ZSCORE", "set", "ann"), b"0.5")
    check("the reply", forwards("ZADD", "set", "CH", "2", "ann", "3", "bob"), b"2")
    for words, begin in ((("HSET", "set", "field", "value"), "WRONGTYPE"), (("ZADD", "set", "x", "ann"), "ERR value is not")):
        reply = forwards(*words)
        check(f"the reply {reply} to {words}", isinstance(reply, ErrorReply) and str(reply).startswith(begin), True)
    check("a user without the right", str(client.answer("ZREM", "set", "ann")).split()[0], "NOPERM")
    # A pipeline goes in groups, and its replies come in order, also where it names other keys between.
    requests = [("ZADD", "set", number, "ann") if number % 7 else ("ZSCORE", "set", "ann") for number in range(60)]
    client.send_all(requests)
    for number, (name, *_) in enumerate(requests):
        expected = b"0" if name == "ZADD" else b"%d" % (number - 1) if number else b"2"
        check(f"reply {number}", client.read(), expected)
    check("ZSCORE there", other.call("ZSCORE", "set", "ann"), b"59")
    # A pause of the owner's clients is no pause of others.
    other.call("CLIENT", "PAUSE", "3000", "WRITE")
    begin = time.monotonic()
    forwards("ZADD", "set", "1", "ann")
    assert time.monotonic() - begin < 1.5, "a pause of another server holds a write"
    # What a client sends and does not wait for is written.
    with sender.client() as leaving:
        leaving.call("SELECT", "3")
        leaving.send("ZADD", "set", "77", "leaving")
    other.call("CLIENT", "UNPAUSE")
    for _ in range(100):
        if other.call("ZSCORE", "set", "leaving") == b"77":
            return
        time.sleep(0.02)
    raise AssertionError("the write of a client that left is lost")


def owner_is_gone(cluster):
    """The owner of a hot key is killed, or stands still, while others forward to it: all get a reply in time, and no acknowledged write is lost."""
    for what in ("killed", "paused"):
        gateways = [cluster.start(f"owner-{what}") for _ in range(2)]
        sender, owner = meet(gateways, "INCR", "counter")
        clients = [sender.client() for _ in range(16)]
        for client in clients:
            client.call("SELECT", "3")
        before = int(clients[0].call("GET", "counter"))
        acknowledged = unknown = 0
        for number in range(30):
            for client in clients:
                client.send("INCR", "counter")
            if number == 5:
                owner.kill() if what == "killed" else owner.pause()
            begin = time.monotonic()
            for client in clients:
                try:
                    client.read()
                    acknowledged += 1
                except ErrorReply as error:
                    if not error.is_unknown() and not error.is_refusal():
                        raise
                    unknown += error.is_unknown()
            took_s = time.monotonic() - begin
            assert took_s < 12, f"{took_s:.1f} s without a reply"
        count = int(clients[0].call("GET", "counter")) - before
        print(f"owner {what}: {acknowledged} acknowledged, {unknown} unknown, {count} written", flush=True)
        assert acknowledged <= count <= acknowledged + unknown, (acknowledged, unknown, count)
        assert unknown <= len(clients), unknown
        if what == "paused":
            owner.resume()
            check("INCR there", owner.client().call("INCR", "counter"), b"1")


HOT_KEYS = (hot_key, hot_key_of_two, forwarded_as_its_client, owner_is_gone)
