"""The Celery application of the flows; the worker process imports it too.

`SCRIPTS=1` runs it as Celery does by default: a worker keeps what it took in a hash until it is done, gives back what
others left there under a lock of redis-py's, and listens to broadcasts by a queue that expires, all of which it does
with scripts. Without it a taken task is the worker's and lost with it, and nobody can speak to the worker.
"""

import os

from celery import Celery

# The queue of the worker that acknowledges.
ACKNOWLEDGED = "acknowledged"
URL = f"redis://127.0.0.1:{os.environ['REDIS_PORT']}"
HAS_SCRIPTS = os.environ.get("SCRIPTS") == "1"

app = Celery("flows", broker=f"{URL}/0", backend=f"{URL}/1")
app.conf.broker_transport_options = {"ack_emulation": HAS_SCRIPTS}
app.conf.worker_enable_remote_control = HAS_SCRIPTS
app.conf.worker_hijack_root_logger = False
app.conf.broker_connection_retry_on_startup = True


@app.task
def add(one, other):
    return one + other


@app.task
def total(numbers):
    return sum(numbers)


@app.task(bind=True)
def flaky(self):
    if self.request.retries < 2:
        raise self.retry(countdown=0.05)
    return self.request.retries


@app.task
def broken():
    raise ValueError("as asked")
