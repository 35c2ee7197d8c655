"""EdgeCask as a program: servers that may refuse to start, `check` and `repair`, and what they said."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from servers import DidNotStart, Server  # noqa: F401 (for the scripts of this folder)

UPKEEP_LIMIT_S = 300
SOUND, DAMAGED = 0, 1


class Edgecask:
    """The program and a folder for logs; options are those of `serve` that every start gets."""

    def __init__(self, program, scratch, options=()):
        self.program = str(pathlib.Path(program).resolve())
        self.scratch = pathlib.Path(scratch)
        self.options = [str(option) for option in options]
        self.starts = 0

    def serve(self, directory, *options):
        """A server, whose `log_path` holds what this start said; DidNotStart if it refuses."""
        self.starts += 1
        log = self.scratch / f"log-{os.getpid()}-{self.starts % 16}"
        log.unlink(missing_ok=True)
        server = Server([self.program, "serve", "--dir", str(directory), *self.options, *map(str, options)], log)
        server.log_path = log
        return server

    def start_and_kill(self, directory, after_s, *options):
        """Begins a start and kills the process a moment later, wherever it is then."""
        with subprocess.Popen([self.program, "serve", "--dir", str(directory), *self.options, *map(str, options), "--port",
                               "0"], env={"EDGECASK_HTTP_PORT": "off", **os.environ}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(after_s)
            process.kill()

    def check(self, directory):
        """The exit status and what was printed."""
        return self.run("check", directory)

    def repair(self, directory, to):
        return self.run("repair", directory, "--to", to)

    def run(self, *words):
        done = subprocess.run([self.program, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=UPKEEP_LIMIT_S, check=False)
        return done.returncode, done.stdout.decode(errors="replace")


def quoted(key):
    """A key as messages show it."""
    shown = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\"}
    return '"' + "".join(shown.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}") for byte in key) + '"'


def fresh_copy(source, target):
    """A copy of a store that may be damaged and started."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, ignore=sockets)
    return target


def sockets(folder, names):
    """The entries of a folder that cannot be copied: the control socket of a server that was killed."""
    return [name for name in names if pathlib.Path(folder, name).is_socket()]


def digest(directory):
    """The files of a directory and what is in them, to see whether anything was changed."""
    directory = pathlib.Path(directory)
    return {path.relative_to(directory): path.read_bytes() for path in directory.rglob("*")
            if path.is_file() and path.name != "lock"}


def arguments(parser):
    """What all scripts of this folder take. From here on SIGTERM ends servers and unmounts, as an exception does."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))
    parser.add_argument("--edgecask", required=True, help="the program")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("EDGECASK_SEED", "15")), help="of what is random")
    parser.add_argument("--scratch", help="where stores are made [default: the directory for temporary files]")
    return parser


class Promises:
    """Broken promises, shown at once with what is needed to see them again."""

    def __init__(self, seed):
        self.seed = seed
        self.broken = []

    def hold(self, is_so, text):
        if not is_so:
            self.broken.append(text)
            print(f"BROKEN (--seed {self.seed}): {text}", flush=True)
        return is_so

    def end(self):
        """Ends the script, with status 1 if a promise was broken."""
        print(f"promises broken: {len(self.broken)}", flush=True)
        sys.exit(bool(self.broken))
