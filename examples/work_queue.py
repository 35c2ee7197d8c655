#!/usr/bin/env python3
"""A work queue that loses no job, with redis-py: workers take jobs, one of them dies with a job in its hands.

    python3 examples/work_queue.py

A worker moves a job from the queue to a list of its own in one step (BLMOVE), so a job is always in some list. When the
job is done, its result is stored and the job is removed in one transaction. What a dead worker had taken is still in its
list and goes back to the queue. A job may run twice if a worker dies between the work and the transaction.

EDGECASK_URL says where the server is.
"""

import os
import threading

import redis

URL = os.environ.get("EDGECASK_URL", "redis://127.0.0.1:6379")
JOBS = 20
QUEUE, RESULTS = "example:queue", "example:results"
# A worker that finds nothing for so long ends.
PATIENCE_S = 0.2


def list_of(worker):
    return f"example:taken:{worker}"


def take(server, worker):
    """The next job, which is now in the worker's own list; None if none comes."""
    return server.blmove(QUEUE, list_of(worker), PATIENCE_S, "LEFT", "RIGHT")


def finish(server, worker, job):
    """Stores the result and forgets the job: both or neither."""
    with server.pipeline(transaction=True) as transaction:
        transaction.hset(RESULTS, job, int(job) ** 2)
        transaction.hincrby("example:runs", job, 1)
        transaction.lrem(list_of(worker), 1, job)
        transaction.execute()


def work(worker):
    with redis.from_url(URL, decode_responses=True) as server:
        while (job := take(server, worker)) is not None:
            finish(server, worker, job)


def recover(server, worker):
    """Puts what a dead worker had taken back to the front of the queue."""
    jobs = 0
    while server.lmove(list_of(worker), QUEUE, "RIGHT", "LEFT") is not None:
        jobs += 1
    return jobs


def main():
    with redis.from_url(URL, decode_responses=True) as server:
        server.delete(QUEUE, RESULTS, "example:runs", *map(list_of, "abc"))
        server.rpush(QUEUE, *range(JOBS))
        print(f"{server.llen(QUEUE)} jobs are queued")

        taken = take(server, "a")
        print(f"worker a has taken job {taken} and dies")

        workers = [threading.Thread(target=work, args=(name,)) for name in "bc"]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        print(f"{server.hlen(RESULTS)} jobs are done by workers b and c")

        print(f"{recover(server, 'a')} job goes back to the queue")
        work("b")
        runs = server.hvals("example:runs")
        print(f"{len(runs)} jobs are done, the most runs of one: {max(map(int, runs))}")


if __name__ == "__main__":
    main()
