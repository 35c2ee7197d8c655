"""A Celery worker for the flows."""

import os
import pathlib
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PATIENCE_S = 20


class Worker:
    """A worker process with two children; what it says is shown if a flow fails."""

    def __init__(self, queue):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "celery", "--quiet", "-A", "tasks", "worker", "--pool", "prefork",
             "--concurrency", "2", "--queues", queue, "--loglevel", "WARNING",
             "--without-mingle", "--without-gossip", "--without-heartbeat"],
            cwd=HERE, stdout=sys.stderr,
            env={**os.environ, "C_FORCE_ROOT": "1", "PYTHONWARNINGS": "ignore"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def kill(self):
        """Ends the worker and its children without a word, as a machine does that loses its power."""
        pid = self.process.pid
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for each in [pid, *map(int, children)]:
            os.kill(each, signal.SIGKILL)
        self.process.wait()
