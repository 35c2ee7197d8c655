"""One key that many clients write: writers of one server share transactions, and servers take turns."""

from harness import check

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


HOT_KEYS = (hot_key, hot_key_of_two)
