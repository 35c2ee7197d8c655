"""The Celery application of the flows; the worker process imports it too.

`ACKNOWLEDGE=1` runs it as Celery does by default: a worker keeps what it took in a hash until it is done, and gives
back what others left there under a lock of redis-py's, whose release is a script. Without it a taken task is the
worker's and lost with it.
"""

import os

from celery import Celery

# The queue of the worker that acknowledges.
ACKNOWLEDGED = "acknowledged"
URL = f"redis://127.0.0.1:{os.environ['REDIS_PORT']}"

app = Celery("flows", broker=f"{URL}/0", backend=f"{URL}/1")
app.conf.broker_transport_options = {"ack_emulation": os.environ.get("ACKNOWLEDGE") == "1"}
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
