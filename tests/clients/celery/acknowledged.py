"""Celery's acknowledgements: `acknowledged.py PORT`. It proves that a task of a killed worker is done by another one, and done tasks
are not done again."""

import os
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from harness import eventually, run, same

os.environ |= {"REDIS_PORT": sys.argv[1], "GIVEN_BACK_AFTER_S": "3"}
import redis
import tasks
from worker import PATIENCE_S, Worker

store = redis.Redis(port=int(sys.argv[1]))


def nothing_is_left_of_done_tasks():
    with Worker("acknowledged"):
        results = [tasks.add.apply_async((number, 1), queue="acknowledged") for number in range(20)]
        same([result.get(timeout=PATIENCE_S) for result in results], [number + 1 for number in range(20)])
        eventually(lambda: store.exists("unacked", "unacked_index", "acknowledged") == 0, "the last acknowledgement")


def task_of_a_killed_worker_is_given_back():
    with Worker("killed") as worker:
        result = tasks.hangs_at_first.apply_async(queue="killed")
        eventually(lambda: tasks.app.backend.client.get("hanging"), "the beginning of the task")
        same([store.hlen("unacked"), store.zcard("unacked_index")], [1, 1])
        worker.kill()
    with Worker("killed"):
        same(result.get(timeout=PATIENCE_S), "given back")
        eventually(lambda: store.exists("unacked", "unacked_index", "killed") == 0, "the last acknowledgement")


run([nothing_is_left_of_done_tasks, task_of_a_killed_worker_is_given_back])
