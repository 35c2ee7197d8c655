"""RQ end to end, with a worker process that forks for each job: `flows.py PORT`."""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
sys.path.append(str(HERE))
from harness import eventually, run, same

import jobs
import redis
from rq import Queue, Retry
from rq.command import send_shutdown_command
from rq.registry import FailedJobRegistry
from rq.worker import Worker

PORT = sys.argv[1]


def worker(connection, *options):
    """The worker's own command, until it finds its queue empty or is told to end."""
    return subprocess.Popen(
        [str(pathlib.Path(sys.executable).with_name("rq")), "worker", "--url", f"redis://127.0.0.1:{PORT}", "--quiet",
         "--path", str(HERE), *options],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(HERE)})


def jobs_through_a_worker_process():
    with redis.Redis(port=PORT) as connection:
        queue = Queue(connection=connection)
        asked = [queue.enqueue(jobs.double, number) for number in range(10)]
        same(worker(connection, "--burst").wait(), 0)
        same([job.return_value(refresh=True) for job in asked], [2 * number for number in range(10)])
        same(queue.count, 0)


def errors_retries_and_dependencies():
    with redis.Redis(port=PORT) as connection:
        queue = Queue("special", connection=connection)
        broken = queue.enqueue(jobs.broken, retry=Retry(max=1))
        first = queue.enqueue(jobs.double, 1)
        second = queue.enqueue(jobs.double, 2, depends_on=first)
        same(second.get_status(), "deferred")
        same(worker(connection, "--burst", "special").wait(), 0)
        same((first.get_status(refresh=True), second.get_status(refresh=True)), ("finished", "finished"))
        same(broken.get_status(refresh=True), "failed")
        same(FailedJobRegistry(queue=queue).get_job_ids(), [broken.id])
        same("as asked" in broken.latest_result().exc_string, True)


def commands_to_a_waiting_worker():
    with redis.Redis(port=PORT) as connection:
        process = worker(connection, "waiting")
        try:
            eventually(lambda: Worker.count(connection=connection) == 1, "the worker's birth")
            # It waits in a blocking pop, and a thread of it for commands over pub/sub.
            late = Queue("waiting", connection=connection).enqueue(jobs.double, 21)
            eventually(lambda: late.get_status(refresh=True) == "finished", "the job")
            send_shutdown_command(connection, Worker.all(connection=connection)[0].name)
            same(process.wait(20), 0)
            same(Worker.count(connection=connection), 0)
        finally:
            process.kill()
            process.wait()


run([jobs_through_a_worker_process, errors_retries_and_dependencies, commands_to_a_waiting_worker])
