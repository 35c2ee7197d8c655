"""Celery end to end with its defaults: `flows.py PORT`. It proves that tasks, retries, delays, groups, chains and chords work.

Celery keeps what a worker has taken in a hash until it is done, counts chords, and locks what workers left there: all with scripts.
"""

import os
import pathlib
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from harness import raises, run, same

os.environ["REDIS_PORT"] = sys.argv[1]
import tasks
from celery import chain, chord, group
from worker import PATIENCE_S, Worker


def tasks_through_a_worker_process():
    results = [tasks.add.delay(number, 1) for number in range(50)]
    same([result.get(timeout=PATIENCE_S) for result in results], [number + 1 for number in range(50)])


def retries_errors_and_delays():
    begin = time.monotonic()
    delayed = tasks.add.apply_async((1, 2), countdown=1)
    flaky, broken, expired = tasks.flaky.delay(), tasks.broken.delay(), tasks.add.apply_async((1, 1), expires=-1)
    same(flaky.get(timeout=PATIENCE_S), 2)
    raises("as asked", lambda: broken.get(timeout=PATIENCE_S))
    raises("expired", lambda: expired.get(timeout=PATIENCE_S))
    same(delayed.get(timeout=PATIENCE_S), 3)
    same(time.monotonic() - begin >= 1, True)


def groups_and_chains():
    same(group(tasks.add.s(number, number) for number in range(10)).delay().get(timeout=PATIENCE_S),
         [2 * number for number in range(10)])
    same(chain(tasks.add.s(1, 2), tasks.add.s(3), tasks.add.s(4)).delay().get(timeout=PATIENCE_S), 10)


def chords():
    summed = chord((tasks.add.s(number, 1) for number in range(10)), tasks.total.s()).delay()
    same(summed.get(timeout=PATIENCE_S), 55)


def chords_of_chords():
    inner = [chord((tasks.add.s(number, 1), tasks.add.s(number, 2)), tasks.total.s()) for number in range(3)]
    same(chord(inner, tasks.total.s()).delay().get(timeout=PATIENCE_S), 15)
    failed = chord([tasks.add.s(1, 1), tasks.broken.s()], tasks.total.s()).delay()
    raises("as asked", lambda: failed.get(timeout=PATIENCE_S))


def broadcasts():
    pongs = tasks.app.control.ping(timeout=5, limit=1)
    same([list(each.values()) for each in pongs], [[{"ok": "pong"}]])


with Worker("celery"):
    run([tasks_through_a_worker_process, retries_errors_and_delays, groups_and_chains, chords, chords_of_chords, broadcasts])
