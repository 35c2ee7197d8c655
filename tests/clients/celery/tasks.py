"""The Celery application of the flows; the worker process imports it too."""

import os
import time

from celery import Celery

URL = f"redis://127.0.0.1:{os.environ['REDIS_PORT']}"

app = Celery("flows", broker=f"{URL}/0", backend=f"{URL}/1")
app.conf.worker_hijack_root_logger = False
app.conf.broker_connection_retry_on_startup = True
if "GIVEN_BACK_AFTER_S" in os.environ:
    # What a worker has taken and not acknowledged for so long is given back by another one, which looks once a second.
    app.conf.broker_transport_options = {
        "visibility_timeout": int(os.environ["GIVEN_BACK_AFTER_S"]), "unacked_restore_interval": 1, "unacked_restore_throttle": 1}


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


@app.task(bind=True, acks_late=True)
def hangs_at_first(self):
    """Only a task that was given back ends."""
    if not self.request.delivery_info.get("redelivered"):
        app.backend.client.set("hanging", self.request.id)
        time.sleep(1000)
    return "given back"
