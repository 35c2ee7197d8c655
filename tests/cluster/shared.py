"""Clients of one server share requests to the cluster: how many are saved, and that nobody is held up or told wrong for another one's sake."""

import time

from harness import STORES, ErrorReply, check, slot_of, until

STORE = "shared"
CLIENTS = 64
WAVES = 20
# Of so many the answers are lost, and the client asks again for some seconds.
LOST_WAVES = 3
# Of so many requests of clients at most one goes out.
SHARED_BY = 4
# A request that has nothing to do with what is broken has its reply by then.
LIMIT_S = 2
# Keys of the slots below are in another region.
MIDDLE = 8192


def wave(clients, requests):
    """One request of each client, all at once; returns the replies, of which some may be errors."""
    for client, words in zip(clients, requests, strict=True):
        client.send(*words)
    return [client.whole() for client in clients]


def requests_for(cluster, clients, waves):
    """What waves of requests ask of the cluster, and their replies."""
    cluster.counts()
    replies = [wave(clients, requests) for requests in waves]
    return cluster.counts(), replies


def sets(number):
    return [("SET", f"key:{client}", f"{number}:{client}") for client in range(CLIENTS)]


GETS = [("GET", f"key:{client}") for client in range(CLIENTS)]


def shared_requests(cluster):
    """Reads, and writes that rest on nothing, of many clients go out together; what they share makes no difference to them."""
    gateway = cluster.start(STORE)
    clients = [gateway.client() for _ in range(CLIENTS)]
    wave(clients, sets(0))
    cluster.ask("/delay?us=2000")

    counted, replies = requests_for(cluster, clients, [sets(number) for number in range(1, WAVES)])
    check("replies of SET", {reply for replies in replies for reply in replies}, {b"OK"})
    check("second phases for SETs of one region", counted.get("KvCommit", 0), 0)
    written = counted["KvPrewrite"]
    counted, replies = requests_for(cluster, clients, [GETS] * WAVES)
    check("replies of GET", replies[-1], [f"{WAVES - 1}:{client}".encode() for client in range(CLIENTS)])
    read = counted.get("KvGet", 0) + counted.get("KvBatchGet", 0)
    all_of_them = CLIENTS * WAVES
    print(f"shared_requests: {all_of_them} SETs in {written} requests, {all_of_them} GETs in {read}", flush=True)
    assert max(written, read) * SHARED_BY <= all_of_them, "clients that wait at the same time share too little"

    # A region that the server takes for a part of another one.
    cluster.split_at(STORE, slot_of("key:1"))
    counted, replies = requests_for(cluster, clients, [sets(WAVES), GETS])
    check("replies of SET behind a split", set(replies[0]), {b"OK"})
    check("replies of GET behind a split", replies[1], [f"{WAVES}:{client}".encode() for client in range(CLIENTS)])

    lost_together(cluster, clients)
    cluster.ask("/delay?us=0")


def lost_together(cluster, clients):
    """Where answers to shared writes are lost, nobody is told what nobody knows."""
    unknown = 0
    for number in range(WAVES + 1, WAVES + 1 + LOST_WAVES):
        before = wave(clients, GETS)
        cluster.ask("/drop?method=KvPrewrite&n=300")
        outcomes = wave(clients, sets(number))
        cluster.ask("/drop?method=KvPrewrite&n=0")
        after = wave(clients, GETS)
        for client, (old, outcome, new) in enumerate(zip(before, outcomes, after, strict=True)):
            written = f"{number}:{client}".encode()
            if isinstance(outcome, ErrorReply):
                assert outcome.is_unknown(), f"SET has replied {outcome}"
                unknown += 1
                assert new in (old, written), f"behind an unknown SET there is {new}"
            else:
                check(f"GET behind a SET that has replied {outcome}", new, written)
    assert unknown, "no answer was lost"


def broken_neighbours(cluster):
    """A store that does not answer holds up nobody who asks for keys of another one."""
    store = STORE + "-broken"
    gateway = cluster.start(store)
    clients = [gateway.client() for _ in range(CLIENTS)]
    broken, sound = [[key for key in range(CLIENTS) if (slot_of(f"key:{key}") < MIDDLE) == is_low] for is_low in (True, False)]
    # The lower half of the keys, and nothing else, is at the first store.
    lower = cluster.split_at(store, 0)
    cluster.split_at(store, MIDDLE)
    for region in cluster.ask("/regions"):
        at = STORES[0] if region["ID"] == lower else STORES[1]
        cluster.ask(f"/leader?region={region['ID']}&store={at}")
    check("SET", set(wave(clients, sets(0))), {b"OK"})
    check("SET", set(wave(clients, sets(1))), {b"OK"})
    for what, requests in (("GET", GETS), ("SET", sets(2))):
        cluster.ask(f"/store?id={STORES[0]}&up=0")
        for number in broken + sound:
            clients[number].send(*requests[number])
        begin = time.monotonic()
        replies = [clients[number].whole() for number in sound]
        took = time.monotonic() - begin
        failed = [reply for reply in replies if isinstance(reply, ErrorReply)]
        print(f"broken_neighbours: {len(sound)} {what}s beside a store that is gone took {took * 1000:.0f} ms, of which {len(failed)} failed", flush=True)
        assert not failed and took < LIMIT_S, f"{what} waits for a store that it does not need"
        for number in broken:
            clients[number].whole()
        cluster.ask(f"/store?id={STORES[0]}&up=1")
        until(15, "all keys can be read again", lambda: {type(reply) for reply in wave(clients, GETS)} == {bytes})

