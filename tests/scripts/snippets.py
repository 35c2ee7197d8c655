"""The snippets of core/lua/tests/conformity, sent to both servers as they answer clients: by EVAL, or as a function."""

import pathlib
import sys

from connection import Connection
from explained import shown

CORPUS = pathlib.Path(__file__).resolve().parents[2] / "core" / "lua" / "tests" / "conformity"
sys.path.insert(0, str(CORPUS))
import record


def read():
    """Pairs of a name and a snippet; the name begins with the file's and the number in it."""
    wrapper = (CORPUS / "wrapper.lua").read_text()
    for file in ("language", "redis"):
        for number, text in enumerate((CORPUS / f"{file}.txt").read_text().rstrip("\n").split("\n----\n"), 1):
            name = f"{file} {number}: {shown(text.encode())}"
            yield name, wrapper.replace("--SNIPPET--", text) if file == "language" else text


class Side:
    """One server, which is started again if a snippet has ended it: `start` gives a running one."""

    def __init__(self, start):
        self.start = start
        self.connect()

    def connect(self):
        self.server = self.start()
        self.connection = Connection(self.server.port)

    def command(self, *words):
        try:
            return self.connection.call(*words)
        except (OSError, EOFError):
            self.server.process.wait()
            self.connect()
            return b"CRASH"


def compare(start_ours, start_theirs, explained):
    """The number of snippets, and those whose replies differ without a reason."""
    ours, theirs = Side(start_ours), Side(start_theirs)
    count, problems = 0, []
    for name, snippet in read():
        count += 1
        replies = [shown(record.run(side, snippet)) for side in (theirs, ours)]
        if replies[0] != replies[1] and not explained.covers(name, *replies):
            problems.append(f"{name}\n  redis:    {replies[0][:400]}\n  edgecask: {replies[1][:400]}")
    return count, problems
