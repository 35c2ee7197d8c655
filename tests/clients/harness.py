"""How a Python program runs its flows and tells the driver about each.

A flow is a function named like what it proves; it returns if all is well and raises if not. For each one line goes
to stdout: its name, the outcome (`ok` or `failed`), the milliseconds it took, and what was wrong, separated
by tabs; after the last one comes a line `end`. The other languages' programs print the same lines.
"""

import os
import signal
import sys
import time
import traceback

# No flow waits longer than a few seconds on a healthy machine; it only bounds how long a broken one hangs.
FLOW_LIMIT_S = 30


def same(actual, wanted):
    if actual != wanted:
        raise AssertionError(f"{shortened(actual)} is not {shortened(wanted)}")


def raises(text, call, *arguments):
    """The call must fail, with this in the message."""
    try:
        call(*arguments)
    except Exception as error:
        if text not in str(error):
            raise
    else:
        raise AssertionError(f"nothing was raised that says {text!r}")


def eventually(condition, what):
    """Waits for something that another process or thread does."""
    end = time.monotonic() + FLOW_LIMIT_S / 2
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not happen")
        time.sleep(0.01)


def run(flows):
    """Runs the flows in order; the process' exit code says whether any failed."""
    failures = 0
    for flow in flows:
        begin = time.monotonic()
        outcome, detail = "ok", ""
        signal.signal(signal.SIGALRM, too_long)
        signal.alarm(FLOW_LIMIT_S)
        try:
            detail = flow() or ""
        except Exception as error:
            outcome, detail = "failed", f"{type(error).__name__}: {error} ({place(error)})"
            failures += 1
        finally:
            signal.alarm(0)
        tell(flow, outcome, (time.monotonic() - begin) * 1000, detail)
    print("end", flush=True)
    sys.exit(1 if failures else 0)


def tell(flow, outcome, took_ms, detail):
    name, detail = flow.__name__.replace("_", " "), " ".join(detail.split())
    print(name, outcome, round(took_ms), detail, sep="\t", flush=True)


def too_long(*_):
    raise TimeoutError(f"took over {FLOW_LIMIT_S} s")


def place(error):
    """The line of the program itself, not of a library below it."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if "/tests/clients/" in frame.filename and not frame.filename.endswith("harness.py")]
    return f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else "harness"


def shortened(value):
    text = repr(value)
    return text if len(text) < 300 else f"{text[:300]}… ({len(text)} characters)"
