"""What runs are written as: a line each while they run, one Markdown table, one SVG chart, every sample as JSON.

Ratios are EdgeCask to Redis with its log, from medians over the rounds.
"""

import html
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import tempfile
import time

import load

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
SERVERS = ("edgecask", "redis", "none")

NOTES = """\
Each case begins with empty servers on loopback and the data in folders of their own; the servers are measured in turns,
and what is shown are medians of the rounds. Ratios are EdgeCask to Redis {policy}; above 1.00 is better for requests/s,
below 1.00 for CPU.

- *Redis {policy}* keeps an append-only file under the same policy as EdgeCask, *Redis none* neither that nor snapshots.
- CPU is user and system time of all threads of the server, from /proc, from the first request to the last reply.
  What Redis does in a forked child (rewriting its log) is not in it, what EdgeCask does in the background (merging) is.
- Latencies are redis-benchmark's, of a whole pipeline where there is one (`-P`), in ms.
- Memory is resident memory after the last round, anonymous + file pages (EdgeCask maps the file it appends to).
- `GET` always hits: all keys it draws from were loaded before. `LPOP` never meets an empty list. `LRANGE` reads a list
  of 1,000 elements. None of this loading is measured.
- Cases called *published* are commands that peers published figures of, unchanged (`-t get,set` one after the other).
- *Zipf*: {zipf} Python processes with a connection each send pipelines prepared beforehand and compare every reply;
  they share the processors with the server, so compare CPU first.
"""


def facts(options):
    """The machine and the programs, as pairs."""
    with open("/proc/cpuinfo") as lines:
        models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    with open("/proc/meminfo") as lines:
        memory_kib = int(next(lines).split()[1])
    tree = output("git", "-C", str(REPOSITORY), "describe", "--always", "--dirty")
    return {
        "date": time.strftime("%Y-%m-%d %H:%M %Z"),
        "processors": f"{os.cpu_count()} x {models[0] if models else platform.machine()}",
        "memory": f"{memory_kib / 2**20:.0f} GiB",
        "kernel": platform.release(),
        "file system of the data": output("df", "--output=fstype", tempfile.gettempdir()).split()[-1],
        "load average before": f"{os.getloadavg()[0]:.2f}",
        "EdgeCask": f"{output(options.edgecask, '--version')}, source {tree} {options.edgecask_args}".strip(),
        "Redis": output("redis-server", "--version").split(" sha")[0],
    }


def output(*command):
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def medians(case):
    """Server to measure to median; memory is that of the last round."""
    return {server: {measure: samples[-1][measure] if measure.startswith("Rss") else
                     statistics.median(sample[measure] for sample in samples) for measure in samples[0]}
            for server, samples in case["samples"].items()}


def ratio(values, measure):
    """EdgeCask to Redis; None if either was not measured, or took no time that the system could count."""
    if "edgecask" in values and values.get("redis", {}).get(measure):
        return values["edgecask"][measure] / values["redis"][measure]
    return None


def figure(value):
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def cells(values, form):
    return [form(values[server]) if server in values else "-" for server in SERVERS]


def requests(value):
    return f"{value['rps']:,.0f}"


def cpu(value):
    return figure(value["cpu_us"])


def latencies(value):
    return " / ".join(figure(value[measure]) for measure in ("p50_ms", "p99_ms", "p999_ms"))


def memory(value):
    return f"{value['RssAnon'] / 1e6:.0f} + {value['RssFile'] / 1e6:.0f}"


def times(value):
    return "-" if value is None else f"{value:.2f}"


def line(case):
    """A case on the terminal."""
    values = medians(case)
    if not values:
        return f"{case['name']:32} {case['remark']}"
    ours, theirs, none = cells(values, requests)
    our_cpu, their_cpu, none_cpu = cells(values, cpu)
    return (f"{case['name']:32} {ours:>10} {theirs:>10} {none:>10} x{times(ratio(values, 'rps'))}"
            f"   cpu {our_cpu} {their_cpu} {none_cpu} µs x{times(ratio(values, 'cpu_us'))}")


def reopen_line(row):
    return f"{row['name']:50} {row['edgecask']} (Redis {row['redis']})"


def markdown(results):
    policy = results["policy"]
    lines = ["# EdgeCask beside redis-server", "",
             f"Written by `make bench`; medians of {results['rounds']} interleaved rounds.", ""]
    lines += [f"- {name}: {value}" for name, value in results["facts"].items()]
    lines += ["", "![Ratios](results.svg)", "", NOTES.format(policy=policy, zipf=load.ZIPF_PROCESSES)]
    redis, none = f"Redis {policy}", "Redis none"
    lines += table(["case", "requests/s", redis, none, "ratio", "CPU µs/request", redis, none, "ratio",
                    "p50 / p99 / p99.9 ms", redis, none, "RSS MB", redis, none, "redis-benchmark"],
                   [row(case) for case in results["cases"]])
    if results["reopen"]:
        lines += ["", "A million keys of 16 bytes with values of 3:", ""]
        lines += table(["", "EdgeCask", "Redis"], [[r["name"], r["edgecask"], r["redis"]] for r in results["reopen"]])
    return "\n".join(lines) + "\n"


def row(case):
    values = medians(case)
    arguments = f"`{case['arguments']}`" if case["arguments"] else ""
    return [case["name"], *cells(values, requests), times(ratio(values, "rps")),
            *cells(values, cpu), times(ratio(values, "cpu_us")),
            *cells(values, latencies), *cells(values, memory), "; ".join(filter(None, (arguments, case["remark"])))]


def table(head, rows):
    return ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows)]


# The chart: two bars a case from the line of equality, on a logarithmic axis

WIDTH, LABELS, MARGIN, TOP, ROW, BAR = 920, 260, 60, 84, 24, 8
STYLE = """
    .ground { fill: #ffffff } text { fill: #1f2328; font: 12px system-ui, sans-serif }
    .title { font-size: 16px; font-weight: 600 } .grid { stroke: #d0d7de } .one { stroke: #1f2328; stroke-width: 1.5 }
    .rps { fill: #2f7fc1 } .cpu_us { fill: #d9822b } .value { font-size: 9px }
    @media (prefers-color-scheme: dark) {
      .ground { fill: #0d1117 } text { fill: #e6edf3 } .grid { stroke: #30363d } .one { stroke: #e6edf3 }
    }"""
BARS = (("rps", "requests/s (right of 1 is better)"), ("cpu_us", "server CPU per request (left of 1 is better)"))


def svg(results):
    charted = []
    for case in results["cases"]:
        values = medians(case)
        ratios = {measure: ratio(values, measure) for measure, _ in BARS}
        if any(ratios.values()):
            charted.append((case["name"], ratios))
    powers = [math.log2(value) for _, ratios in charted for value in ratios.values() if value]
    low, high = min(-1, math.floor(min(powers, default=0))), max(1, math.ceil(max(powers, default=0)))
    bottom = TOP + ROW * len(charted)

    def x(power):
        return LABELS + (WIDTH - LABELS - MARGIN) * (power - low) / (high - low)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 16}" role="img">',
           f"<title>EdgeCask to Redis {html.escape(results['policy'])}</title>", f"<style>{STYLE}\n</style>",
           f'<rect class="ground" width="{WIDTH}" height="{bottom + 16}"/>',
           f'<text class="title" x="16" y="26">EdgeCask to Redis {html.escape(results["policy"])}, '
           f'medians of {results["rounds"]} rounds</text>']
    for (measure, legend), left in zip(BARS, (16, 340)):
        out.append(f'<rect class="{measure}" x="{left}" y="40" width="12" height="12"/>'
                   f'<text x="{left + 18}" y="50">{legend}</text>')
    for power in range(low, high + 1):
        label = f"{2 ** power}" if power >= 0 else f"1/{2 ** -power}"
        out.append(f'<line class="{"grid" if power else "one"}" x1="{x(power):.1f}" x2="{x(power):.1f}" y1="{TOP - 6}" '
                   f'y2="{bottom}"/><text x="{x(power):.1f}" y="{TOP - 10}" text-anchor="middle">{label}</text>')
    for number, (name, ratios) in enumerate(charted):
        top = TOP + ROW * number + 3
        out.append(f'<text x="{LABELS - 10}" y="{top + 13}" text-anchor="end">{html.escape(name)}</text>')
        for place, (measure, _) in enumerate(BARS):
            if ratios[measure]:
                out.append(bar(measure, ratios[measure], x, top + place * (BAR + 1)))
    return "\n".join([*out, "</svg>"]) + "\n"


def bar(measure, value, x, top):
    one, end = x(0), x(math.log2(value))
    side, anchor = (4, "start") if end >= one else (-4, "end")
    return (f'<rect class="{measure}" x="{min(one, end):.1f}" y="{top}" width="{abs(end - one):.1f}" height="{BAR}"/>'
            f'<text class="value" x="{end + side:.1f}" y="{top + BAR - 1}" text-anchor="{anchor}">{value:.2f}</text>')


def write(results, folder):
    os.makedirs(folder, exist_ok=True)
    for name, text in (("results.md", markdown(results)), ("results.svg", svg(results)),
                       ("results.json", json.dumps(results, indent=1) + "\n")):
        with open(os.path.join(folder, name), "w") as out:
            out.write(text)
