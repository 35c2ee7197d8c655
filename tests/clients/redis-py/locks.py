"""redis-py's locks: `locks.py PORT PROTOCOL`. It proves that two clients exclude each other, and that a lock ends, is extended and
is given back only by its owner, all of which the client does with scripts."""

import threading
import time

from connections import client  # It makes the harness importable, so it comes first.
from harness import raises, run, same


def only_one_client_has_it():
    with client() as one, client() as other:
        mine, its = one.lock("excluding", timeout=10), other.lock("excluding", timeout=10)
        same(mine.acquire(blocking=False), True)
        same(its.acquire(blocking=False), False)
        same([mine.owned(), its.owned(), its.locked()], [True, False, True])
        same(its.acquire(blocking_timeout=0.2), False)
        mine.release()
        same(its.acquire(blocking=False), True)
        its.release()


def owner_alone_gives_it_back():
    with client() as one, client() as other:
        mine = one.lock("ended", timeout=0.2)
        same(mine.acquire(), True)
        time.sleep(0.3)
        its = other.lock("ended", timeout=10)
        same(its.acquire(blocking=False), True)
        raises("Cannot release a lock that's no longer owned", mine.release)
        raises("Cannot release a lock that's not owned or is already unlocked", mine.release)
        same(its.owned(), True)
        its.release()


def it_is_extended():
    with client() as one, client() as other:
        mine, its = one.lock("extended", timeout=10), other.lock("extended", timeout=10)
        raises("Cannot extend an unlocked lock", mine.extend, 1)
        mine.acquire()
        same(mine.extend(100), True)
        same(100_000 < one.pttl("extended") <= 110_000, True)
        same(mine.extend(50, replace_ttl=True), True)
        same(40_000 < one.pttl("extended") <= 50_000, True)
        same(mine.reacquire(), True)
        same(0 < one.pttl("extended") <= 10_000, True)
        other.set("extended", "a stranger's")
        raises("Cannot extend a lock that's no longer owned", mine.extend, 1)
        raises("Cannot reacquire a lock that's no longer owned", mine.reacquire)
        same(its.acquire(blocking=False), False)
        other.delete("extended")


def waiting_client_gets_it():
    with client() as one, client() as other:
        mine, its = one.lock("awaited", timeout=10), other.lock("awaited", timeout=10, sleep=0.01)
        mine.acquire()
        taken = []
        waiting = threading.Thread(target=lambda: taken.append(its.acquire(blocking_timeout=10)), daemon=True)
        waiting.start()
        time.sleep(0.1)
        same(taken, [])
        mine.release()
        waiting.join(10)
        same(taken, [True])


def counter_under_it_loses_nothing():
    """Each of four clients reads and writes the counter in two requests."""
    def count():
        with client() as r:
            for _ in range(25):
                with r.lock("lock", timeout=10, sleep=0.001):
                    r.set("counter", int(r.get("counter") or 0) + 1)

    threads = [threading.Thread(target=count, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    with client() as r:
        same(r.get("counter"), "100")


run([only_one_client_has_it, owner_alone_gives_it_back, it_is_extended, waiting_client_gets_it, counter_under_it_loses_nothing])
