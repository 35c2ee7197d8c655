"""Celery end to end, with a worker process: `flows.py PORT`."""

import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
from harness import raises, run, same

os.environ["REDIS_PORT"] = sys.argv[1]
import tasks
from celery import chain, chord, group

PATIENCE_S = 20


class Worker:
    """A worker process with two children; what it says is shown if a flow fails."""

    def __init__(self, queue, **environment):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "celery", "--quiet", "-A", "tasks", "worker", "--pool", "prefork",
             "--concurrency", "2", "--queues", queue, "--loglevel", "WARNING",
             "--without-mingle", "--without-gossip", "--without-heartbeat"],
            cwd=HERE, stdout=sys.stderr,
            env={**os.environ, "C_FORCE_ROOT": "1", "PYTHONWARNINGS": "ignore", **environment})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


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


chords.needs = "EVAL"


def acknowledged_tasks_and_broadcasts():
    with Worker(tasks.ACKNOWLEDGED, SCRIPTS="1"):
        results = [tasks.add.apply_async((number, 1), queue=tasks.ACKNOWLEDGED) for number in range(20)]
        same([result.get(timeout=PATIENCE_S) for result in results], [number + 1 for number in range(20)])
        pongs = tasks.app.control.ping(timeout=5, limit=1)
        same([list(each.values()) for each in pongs], [[{"ok": "pong"}]])


acknowledged_tasks_and_broadcasts.needs = "EVAL"

with Worker("celery"):
    run([tasks_through_a_worker_process, retries_errors_and_delays, groups_and_chains, chords,
         acknowledged_tasks_and_broadcasts])
