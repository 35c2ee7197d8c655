#!/usr/bin/env python3
"""Scripts and functions over a socket: edgecask and redis-server must answer the same bytes, but for what is explained.

    run.py              everything; EDGECASK_BIN names the edgecask
    run.py users        only the files of requests whose name has this in it

The snippets of core/lua/tests/conformity, of which recorded answers test the interpreter alone, run here in the whole server.
"""

import contextlib
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import lasting
import replies
import snippets
from explained import Explained
from servers import Server


class Servers:
    """Starts servers of both kinds on empty folders; all end with the `with`."""

    def __init__(self, program):
        self.program = program
        self.running = contextlib.ExitStack()

    def __enter__(self):
        self.folder = self.running.enter_context(tempfile.TemporaryDirectory(prefix="scripts-"))
        return self

    def __exit__(self, *error):
        return self.running.__exit__(*error)

    def start(self, command):
        folder = tempfile.mkdtemp(dir=self.folder)
        return self.running.enter_context(Server([*command, "--dir", folder], os.path.join(self.folder, "log")))

    def ours(self):
        return self.start([self.program, "serve"])

    def theirs(self):
        return self.start(["redis-server", "--bind", "127.0.0.1", "--save", ""])


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    program = os.environ.get("EDGECASK_BIN", str(HERE.parents[1] / "target" / "debug" / "edgecask"))
    explained = Explained(HERE / "explained.txt")
    problems, snippet_count, reply_count = [], 0, 0
    for path in sorted(path for path in (HERE / "requests").glob("*.txt") if wanted in path.stem):
        with Servers(program) as servers:
            count, found = replies.compare(path, (servers.ours().port, servers.theirs().port), explained)
        reply_count += count
        problems += found
    if not wanted:
        with Servers(program) as servers:
            snippet_count, found = snippets.compare(servers.ours, servers.theirs, explained)
            problems += found
        with tempfile.TemporaryDirectory(prefix="scripts-") as folder:
            problems += lasting.problems(program, folder)
        problems += explained.unmet()
    print("\n".join(problems))
    print(f"scripts: {snippet_count} snippets and {reply_count} replies compared with redis-server, "
          f"{len(explained.differences)} differences explained, {len(problems)} unexplained")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
