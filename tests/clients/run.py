#!/usr/bin/env python3
"""Real clients run their own flows against a server; one line for each flow, the failures once more at the end (a log may
be cut at its beginning), exit code 1 if any failed.

    run.py                      against the edgecask named by EDGECASK_BIN
    run.py --redis              against redis-server: shows that the flows expect what Redis does
    run.py --only lettuce       only the programs whose name has this in it
    run.py --excused FILE       flows that must fail, with the reasons

`make clients` installs the clients into .build/clients and builds their programs first. A program takes the port and
the protocol, or finds address and token of REST in its environment. It prints a line for each flow (name, outcome,
milliseconds, what was wrong, separated by tabs) and at last `end`.
"""

import argparse
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "support"))
from servers import Server, free_port

BUILD = ROOT / ".build" / "clients"
PYTHON = str(BUILD / "venv" / "bin" / "python")
# It runs for seconds, so the first compiler is enough.
JAVA = ["java", "-XX:TieredStopAtLevel=1", "-cp", f"{BUILD / 'lettuce'}:{BUILD / 'jars'}/*"]

# One row a run: the name, the program, the protocol. The clients' defaults are 2 but for go-redis and Lettuce.
RUNS = [
    ("redis-py", [PYTHON, HERE / "redis-py" / "flows.py"], 2),
    ("redis-py", [PYTHON, HERE / "redis-py" / "flows.py"], 3),
    ("redis-py-locks", [PYTHON, HERE / "redis-py" / "locks.py"], 2),
    ("redis-py-locks", [PYTHON, HERE / "redis-py" / "locks.py"], 3),
    ("go-redis", [BUILD / "go-redis"], 3),
    ("go-redis", [BUILD / "go-redis"], 2),
    ("ioredis", ["node", HERE / "ioredis" / "flows.mjs"], 2),
    ("node-redis", ["node", HERE / "node-redis" / "flows.mjs"], 2),
    ("node-redis", ["node", HERE / "node-redis" / "flows.mjs"], 3),
    ("lettuce", [*JAVA, "Flows"], 3),
    ("lettuce", [*JAVA, "Flows"], 2),
    ("celery", [PYTHON, HERE / "celery" / "flows.py"], 2),
    ("celery-acks", [PYTHON, HERE / "celery" / "acknowledged.py"], 2),
    ("rq", [PYTHON, HERE / "rq" / "flows.py"], 2),
    ("bullmq", ["node", HERE / "bullmq" / "flows.mjs"], 2),
    ("bullmq-clock", ["node", HERE / "bullmq" / "schedules.mjs"], 2),
]
# Programs that speak REST, each to a server of its own, since that has a password. It and the address are in the environment,
# so that they run by hand against any server.
REST_RUNS = [
    ("upstash", ["node", HERE / "upstash" / "flows.mjs"]),
    ("upstash-ratelimit", ["node", HERE / "upstash" / "ratelimit.mjs"]),
    ("upstash-dialect", ["node", HERE / "upstash" / "dialect.mjs"]),
    ("libsql", ["node", HERE / "libsql" / "flows.mjs"]),
    ("meilisearch", ["node", HERE / "meilisearch" / "flows.mjs"]),
    ("meilisearch-newest", ["node", HERE / "meilisearch" / "flows.mjs", "meilisearch-newest"]),
    ("instant-meilisearch", ["node", HERE / "meilisearch" / "instant.mjs"]),
    ("libsql-go", [BUILD / "libsql-go"]),
    ("libsql-rust", [BUILD / "libsql-rust" / "debug" / "libsql-flows"]),
]
# Programs that speak TLS, to a server of their own with certificates made for the occasion, which asks clients for theirs
# or insists on them.
TLS_RUNS = [
    ("tls-ioredis", ["node", HERE / "tls" / "flows.mjs"], 2, "optional"),
    ("tls-redis-py", [PYTHON, HERE / "tls" / "flows.py"], 2, "optional"),
    ("tls-redis-py", [PYTHON, HERE / "tls" / "flows.py"], 3, "yes"),
]
REST_TOKEN = "a-token-of-the-tests"
REST_PAGES = "https://app.example"
# No program takes longer on a healthy machine; it only bounds how long a broken one hangs.
PROGRAM_LIMIT_S = 120
ERRORS_SHOWN_CHARS = 2000
# What --excused says.
EXCUSED = {}
UNKNOWN = re.compile(r"unknown (?:command|subcommand) ['`\"]?([\w|]+)")


def main():
    options = parse_options()
    begin = time.monotonic()
    counts, failures = dict.fromkeys(("ok", "failed", "excused"), 0), []
    EXCUSED.update(read_excused(options.excused) if options.excused else {})
    with tempfile.TemporaryDirectory(prefix="clients-") as directory, \
            Server(server_command(options.redis, directory), os.path.join(directory, "server.log")) as server:
        for name, program, protocol in RUNS:
            if options.only not in name:
                continue
            server.call("FLUSHALL")
            for outcome, line in run(f"{name} (RESP{protocol})", [*map(str, program), str(server.port), str(protocol)], {}):
                counts[outcome] += 1
                failures += [line] if outcome == "failed" else []
    if not options.redis:
        for outcome, line in itertools.chain(run_rest(options.only), run_tls(options.only)):
            counts[outcome] += 1
            failures += [line] if outcome == "failed" else []
    took_s = time.monotonic() - begin
    print(*failures, sep="\n", end="\n" if failures else "")
    print(f"clients: {counts['ok']} passed, {counts['failed']} failed, {counts['excused']} excused "
          f"in {took_s:.0f} s")
    sys.exit(1 if counts["failed"] or not counts["ok"] else 0)


def parse_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--redis", action="store_true", help="run against redis-server instead")
    parser.add_argument("--only", default="", metavar="TEXT", help="only the programs whose name has this in it")
    parser.add_argument("--excused", type=pathlib.Path, metavar="FILE", help="lines of program, flow and reason")
    return parser.parse_args()


def read_excused(path):
    """Reasons by program and flow."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return {(program, flow): reason for program, flow, reason in (line.split("\t") for line in lines)}


def server_command(is_redis, directory):
    """The server's command line but for the port."""
    if is_redis:
        return ["redis-server", "--bind", "127.0.0.1", "--save", "", "--dir", directory]
    program = os.environ.get("EDGECASK_BIN")
    if not program or not os.path.isfile(program):
        sys.exit(f"clients: EDGECASK_BIN is {program!r}, which is no program")
    return [program, "serve", "--dir", os.path.join(directory, "data")]


def run_rest(only):
    """What `run` says of the flows that speak REST."""
    for name, program in REST_RUNS:
        if only not in name:
            continue
        port = free_port()
        with tempfile.TemporaryDirectory(prefix="clients-") as directory:
            command = [*server_command(False, directory), "--http-port", str(port), "--http-origins", REST_PAGES]
            with Server(command, os.path.join(directory, "server.log")) as server:
                server.call(f"CONFIG SET requirepass {REST_TOKEN}")
                address = {"UPSTASH_REDIS_REST_URL": f"http://127.0.0.1:{port}", "UPSTASH_REDIS_REST_TOKEN": REST_TOKEN}
                yield from run(name, list(map(str, program)), address)


def run_tls(only):
    """What `run` says of the flows that speak TLS."""
    for name, program, protocol, auth_clients in TLS_RUNS:
        if only not in name:
            continue
        with tempfile.TemporaryDirectory(prefix="clients-") as directory:
            make_certificates(directory)
            tls_port, https_port = free_port(), free_port()
            command = [*server_command(False, directory), "--tls-port", str(tls_port), "--https-port", str(https_port),
                       "--tls-cert-file", f"{directory}/server.crt", "--tls-key-file", f"{directory}/server.key",
                       "--tls-ca-cert-file", f"{directory}/ca.crt", "--tls-auth-clients", auth_clients]
            with Server(command, os.path.join(directory, "server.log")) as server:
                environment = {"TLS_PORT": str(tls_port), "HTTPS_PORT": str(https_port), "TLS_DIRECTORY": directory,
                               "TLS_AUTH_CLIENTS": auth_clients, "SERVER_PID": str(server.process.pid)}
                yield from run(f"{name} (RESP{protocol})", [*map(str, program), str(tls_port), str(protocol)],
                               environment)


def make_certificates(directory):
    """An authority, a certificate of it for the server, a second one to change to, one for a client; and a stranger's."""
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=directory)

    new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    for name in ("ca", "other"):
        openssl("req", "-x509", *new_key, "-days", "2", "-keyout", f"{name}.key", "-out", f"{name}.crt",
                "-subj", f"/CN={name} of the tests")
    extensions = os.path.join(directory, "extensions")
    with open(extensions, "w") as file:
        file.write("subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")
    for name in ("server", "renewed", "client"):
        openssl("req", *new_key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial",
                "-days", "2", "-extfile", extensions, "-out", f"{name}.crt")


def run(name, command, environment):
    """The outcomes of a program's flows and the line that tells each, printed as it comes; one that ends early is one
    more failure."""
    has_ended, excused = False, 0
    with tempfile.TemporaryFile("w+") as errors, subprocess.Popen(
            ["timeout", "--kill-after=5", str(PROGRAM_LIMIT_S), *command], stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=errors, env={**os.environ, **environment}) as program:
        for line in program.stdout:
            has_ended |= line == "end\n"
            if line.count("\t") == 3:
                flow, outcome, took_ms, detail = line.rstrip("\n").split("\t")
                reason = EXCUSED.get((name, flow))
                if reason and outcome == "failed":
                    outcome, detail, excused = "excused", reason, excused + 1
                elif reason:
                    outcome, detail = "failed", "it passes: it needs no excuse any more"
                yield outcome, tell(name, flow, outcome, took_ms, detail)
        code = program.wait()
        if code != 0 and not excused:
            errors.seek(0)
            print(*errors.read()[-ERRORS_SHOWN_CHARS:].splitlines(), sep="\n    ")
        if not has_ended:
            yield "failed", tell(name, "to the end", "failed", "-", f"exit code {code} before all flows were run")


def tell(name, flow, outcome, took_ms, detail):
    """Prints what became of a flow, and returns the line."""
    unknown = UNKNOWN.search(detail)
    if outcome == "failed" and unknown:
        detail = f"needs {unknown[1].upper()}: {detail}"
    line = f"{name:20} {flow:36} {outcome:8} {took_ms:>6} ms  {detail}".rstrip()
    print(line, flush=True)
    return line


if __name__ == "__main__":
    main()
