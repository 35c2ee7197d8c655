"""The suites that compare a server with redis-server, on the cluster: what they start is `serve`, which gives every server a store of its own.

What may differ on a cluster stands in `differences.txt`, with its reason; what stands there and does not differ is a problem as well.
"""

import os
import re
import shlex
import subprocess
from pathlib import Path

from harness import ROOT

FOLDER = Path(__file__).parent
# Requests of the differential run: enough that every command comes some hundred times.
# So many hold every command in a form that does something, which is asserted.
QUICK_REQUESTS, LONG_REQUESTS = 100_000, 300_000


def environment(cluster):
    return {
        **os.environ,
        "EDGECASK_BIN": str(FOLDER / "serve"),
        "EDGECASK_CLUSTER_BIN": str(Path(cluster.edgecask).absolute()),
        "EDGECASK_CLUSTER_PD": cluster.pd,
        "EDGECASK_COMMANDS": str(LONG_REQUESTS if cluster.is_long else QUICK_REQUESTS),
    }


def conformance(cluster):
    """The cases that were written for others pass as they do on the log."""
    subprocess.run([cluster.python, ROOT / "tests/conformance/run.py"], env=environment(cluster), check=True)


def conversations(cluster):
    """Conversations of several connections are those with redis-server, to the byte."""
    compare(cluster, "conversations", [cluster.python, ROOT / "tests/conversations/run.py"], r"^(\w+\.txt:\d+): ")


def transcripts(cluster):
    """The replies of every transcript are those that it names."""
    compare(cluster, "transcripts", [*black_box(), "transcripts_differ_over_tcp"], r"^(\w+\.txt line \d+): ")


def differential(cluster):
    """Random requests get the replies of redis-server."""
    subprocess.run([*black_box(), "replies_differ_from_redis_servers"], env=environment(cluster), check=True, cwd=ROOT)


def black_box():
    """What runs tests of the black box; EDGECASK_BLACK_BOX says it where it was built with other features, or is the program itself."""
    command = os.environ.get("EDGECASK_BLACK_BOX", "cargo test -q -p edgecask-tests --test black_box --")
    return [*shlex.split(command), "--nocapture", "--test-threads", "1"]


def compare(cluster, suite, command, place):
    """Runs a suite whose output names the places where something differs."""
    done = subprocess.run(
        command, env=environment(cluster), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    found = set(re.findall(place, done.stdout, re.M))
    excused = excuses(suite)
    print("\n".join(done.stdout.splitlines()[-3:]), flush=True)
    # A place, or a file as a whole.
    excused_found = {place for at in found for place in (at, at.split()[0]) if place in excused}
    new = {at for at in found if not {at, at.split()[0]} & excused_found}
    if new or (done.returncode and not found):
        raise AssertionError(f"{suite} differ at {sorted(new)}:\n{done.stdout}")
    gone = {place for place, reason in excused.items() if not reason.startswith("at times")} - excused_found
    if gone:
        raise AssertionError(f"{suite} do not differ any more at {sorted(gone)}: see differences.txt")


def excuses(suite):
    """The places that may differ, with their reasons."""
    lines = (FOLDER / "differences.txt").read_text().splitlines()
    rows = [line.split(" | ") for line in lines if line and not line.startswith("#")]
    return {place: reason for name, place, reason in rows if name == suite}
