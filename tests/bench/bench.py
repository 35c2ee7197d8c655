#!/usr/bin/env python3
"""EdgeCask beside redis-server with and without its log, in one run, on this machine.

All servers of a case run at the same time on empty folders; each is measured in turn, round by round, so that a machine
that drifts drifts for all. Throughput and latency are redis-benchmark's, CPU is the server's own accounting
(/proc/PID/stat, user and system, all threads), memory is RssAnon and RssFile after the last round. What is shown are
medians over the rounds, and ratios of the medians.

    bench.py --edgecask target/release/edgecask [--rounds 5] [--only "SET 3 B,GET * -P 16"] [--out bench]

--only takes names and patterns as `--list` shows them, from the default cases first, then from all; a name without its
size means 3 B. Writes results.md, results.svg and results.json.
"""

import argparse
import contextlib
import fnmatch
import os
import pathlib
import resource
import shutil
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from servers import Failed, Server

import cases
import reopen
import report
from memory_limit import limited_memory

# What a measurement takes on average over the servers of a case.
MEASUREMENT_S = 0.9
# A calibrating run shorter than this says little.
CALIBRATION_S = 0.15
# For the case with most connections, in this process' children on either side.
MAXIMUM_CLIENTS = 20_000


def command(server, folder, case, options):
    policy = case.policy or options.appendfsync
    clients = ["--maxclients", str(MAXIMUM_CLIENTS)]
    if server == "edgecask":
        return [options.edgecask, "serve", "--dir", folder, "--appendfsync", policy, *clients,
                *options.edgecask_args.split()]
    log = {"redis": ["--appendonly", "yes", "--appendfsync", policy], "none": ["--appendonly", "no"]}[server]
    return ["redis-server", "--dir", folder, "--save", "", *log, *clients]


@contextlib.contextmanager
def started(case, options):
    """The servers of a case by name, on empty folders that are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="edgecask-bench-") as folder, contextlib.ExitStack() as stack:
        prefix = stack.enter_context(limited_memory(case.memory_limit_bytes)) if case.memory_limit_bytes else []
        servers = {}
        for name in case.servers:
            data = os.path.join(folder, name)
            os.mkdir(data)
            servers[name] = stack.enter_context(Server([*prefix, *command(name, data, case, options)], data + ".log"))
        yield servers


def requests_for(case, servers, options):
    """As many requests as take the time wanted on average over the servers, to two digits."""
    if case.requests:
        return max(case.connections, int(case.requests * min(1, options.scale)))
    seconds = MEASUREMENT_S * options.scale
    fewest = 2 * case.connections * case.pipeline
    seconds_a_request = [calibrate(case, server, fewest, min(CALIBRATION_S, seconds)) for server in servers.values()]
    wanted = int(max(fewest, seconds / statistics.mean(seconds_a_request)))
    return round(wanted, 2 - len(str(wanted)))


def calibrate(case, server, requests, seconds):
    """Seconds that a request takes, from the first run that lasts at least `seconds`; it also warms the server."""
    while True:
        elapsed = max(0.001, requests / round_on(server, case, requests)["rps"])
        if elapsed >= seconds:
            return elapsed / requests
        requests = int(requests * min(20, 1.5 * seconds / elapsed)) + 1


def measure(case, options):
    """All samples of a case, or why there are none."""
    result = {"name": case.name, "arguments": "", "remark": case.remark, "samples": {}}
    try:
        with started(case, options) as servers:
            for server in servers.values():
                case.fill(server)
            requests = requests_for(case, servers, options)
            if case.arguments:
                result["arguments"] = " ".join(case.benchmark_arguments(requests))
            samples = {name: [] for name in servers}
            for turn in range(options.rounds):
                # Another server begins each round: what one leaves to the disk disturbs the next.
                names = list(servers)
                for name in names[turn % len(names):] + names[:turn % len(names)]:
                    samples[name].append({**round_on(servers[name], case, requests), **servers[name].memory_bytes()})
            result["samples"] = samples
    except (Failed, OSError) as error:
        result["remark"] = f"not measured here: {error}"
    return result


def round_on(server, case, requests):
    case.before(server, requests)
    try:
        return case.load(server, case, requests)
    except Failed as error:
        raise Failed(f"{os.path.basename(server.process.args[0])}: {error}") from error


def chosen(options):
    """The cases that the options ask for, in the order they do."""
    listed = list(cases.all_cases())
    usual = [case for case, default in listed if default or options.full]
    if not options.only:
        return usual
    found = {}
    for pattern in filter(None, map(str.strip, options.only.split(","))):
        matching = named(pattern, usual) or named(pattern, [case for case, _ in listed])
        if not matching:
            sys.exit(f"no case is called {pattern!r}; --list shows all")
        found |= {case.name: case for case in matching}
    return list(found.values())


def named(pattern, among):
    return [case for case in among
            if fnmatch.fnmatchcase(case.name, pattern) or fnmatch.fnmatchcase(case.name, f"{pattern} 3 B")]


def raise_file_limit():
    """Lets the children of this process have the files that many connections need, if the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAXIMUM_CLIENTS + 1000
    for limits in ((max(soft, wanted), max(hard, wanted)), (hard, hard)):
        with contextlib.suppress(ValueError, OSError):
            return resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edgecask", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="factor on the time a measurement takes")
    parser.add_argument("--only", default="", help="comma-separated case names or patterns")
    parser.add_argument("--full", action="store_true", help="the whole product of commands, pipelines and sizes")
    parser.add_argument("--list", action="store_true", help="show the names of the cases and end")
    parser.add_argument("--appendfsync", default="everysec")
    parser.add_argument("--edgecask-args", default="", help="further arguments for edgecask serve")
    parser.add_argument("--out", default="bench")
    options = parser.parse_args()
    if options.list:
        for case, default in cases.all_cases():
            print(case.name if default else f"{case.name}  (--full)")
        return
    for program in (options.edgecask, "redis-server", "redis-benchmark", "redis-cli"):
        if not shutil.which(program):
            sys.exit(f"{program} cannot be run")
    wanted = chosen(options)
    raise_file_limit()
    begin = time.monotonic()
    results = {"facts": report.facts(options), "policy": options.appendfsync, "rounds": options.rounds, "cases": [],
               "reopen": []}
    for case in wanted:
        results["cases"].append(measure(case, options))
        print(report.line(results["cases"][-1]), flush=True)
        # After each case, so that a run that is interrupted leaves what it has.
        report.write(results, options.out)
    if not options.only:
        for row in reopen.figures(options.edgecask):
            results["reopen"].append(row)
            print(report.reopen_line(row), flush=True)
        report.write(results, options.out)
    print(f"{len(wanted)} cases in {(time.monotonic() - begin) / 60:.1f} minutes, written to {options.out}/results.md")


if __name__ == "__main__":
    main()
