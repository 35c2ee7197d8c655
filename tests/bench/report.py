"""What results.json is shown as: a line a case while it is measured, a Markdown page, an SVG chart.

Ratios are EdgeCask to a peer with its log, from medians over the rounds.
"""

import html
import math
import pathlib

import load
import results as stored
from peers import SERVERS, TITLES

# The peers that ratios are to.
PEERS = ("redis", "valkey")

NOTES = """\
Each case begins with empty servers on loopback and the data in folders of their own; the servers are measured in turns,
and what is shown are medians of the rounds. Ratios are EdgeCask to a peer; above 1.00 is better for requests/s, below 1.00 for
CPU.

- *Redis* and *Valkey* keep an append-only file under the same policy as EdgeCask, *Redis none* neither that nor snapshots.
- CPU is user and system time of all threads of the server, from /proc, from the first request to the last reply, with that of
  children that ended meanwhile (Redis rewrites its log in one, EdgeCask merges in a thread).
- Latencies are redis-benchmark's, of a whole pipeline where there is one (`-P`), in ms.
- Memory is resident memory after the last round, anonymous + file pages (EdgeCask maps the file it appends to).
- `GET` always hits: all keys it draws from were loaded before. `LPOP` never meets an empty list. `LRANGE` reads a list
  of 1,000 elements. None of this loading is measured.
- Cases called *published* are commands that peers published figures of, unchanged (`-t get,set` one after the other) except
  for 2 MB, which have fewer keys and requests.
- *Zipf*: {zipf} Python processes with a connection each send pipelines prepared beforehand and compare every reply;
  they share the processors with the server, so compare CPU first.
"""


def ratio(values, peer, measure):
    """EdgeCask to a peer; None if either was not measured, or took no time that the system could count."""
    if "edgecask" in values and values.get(peer, {}).get(measure):
        return values["edgecask"][measure] / values[peer][measure]
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


def ratios(values, measure):
    return [times(ratio(values, peer, measure)) for peer in PEERS]


def line(case):
    """A case on the terminal."""
    values = case["medians"]
    if not values:
        return f"{case['name']:32} {case['remark']}"
    rps, cpus = (" ".join(f"{cell:>10}" for cell in cells(values, form)) for form in (requests, cpu))
    return (f"{case['name']:32} {rps} x{' x'.join(ratios(values, 'rps'))}"
            f"   cpu {cpus} µs x{' x'.join(ratios(values, 'cpu_us'))}")


def markdown(results):
    facts, cases = results["facts"], results["cases"]
    sources, dates = ({row[key] for row in [*cases, *results["tables"].values()]} for key in ("source", "date"))
    lines = ["# EdgeCask beside redis-server and valkey-server", "",
             f"Written by `make bench`; medians of {facts['rounds']} interleaved rounds.", ""]
    lines += [f"- {name}: {value}" for name, value in facts.items()]
    lines += [f"- source: {' and '.join(sorted(sources))}", f"- measured: {' to '.join(sorted({min(dates), max(dates)}))}"]
    lines += ["", "![Ratios](results.svg)", "", NOTES.format(zipf=load.ZIPF_PROCESSES)]
    others = [TITLES[server] for server in SERVERS[1:]]
    of = [f"of {TITLES[peer]}" for peer in PEERS]
    lines += table(["case", "requests/s", *others, *of, "CPU µs/request", *others, *of, "p50 / p99 / p99.9 ms", *others,
                    "RSS MB", *others, "redis-benchmark"], [row(case) for case in cases])
    for shown in results["tables"].values():
        lines += ["", *table_lines(shown)]
    return "\n".join(lines) + "\n"


def row(case):
    values = case["medians"]
    arguments = f"`{case['arguments']}`" if case["arguments"] else ""
    return [case["name"], *cells(values, requests), *ratios(values, "rps"), *cells(values, cpu), *ratios(values, "cpu_us"),
            *cells(values, latencies), *cells(values, memory), "; ".join(filter(None, (arguments, case["remark"])))]


def table_lines(shown):
    """One of the tables beside the cases, with its title and the command that makes it alone."""
    return [f"## {shown['title']}", "", f"`{shown['command']}`", "", *table(shown["head"], shown["rows"])]


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
        to_redis = {measure: ratio(case["medians"], "redis", measure) for measure, _ in BARS}
        if any(to_redis.values()):
            charted.append((case["name"], to_redis))
    powers = [math.log2(value) for _, ratios in charted for value in ratios.values() if value]
    low, high = min(-1, math.floor(min(powers, default=0))), max(1, math.ceil(max(powers, default=0)))
    bottom = TOP + ROW * len(charted)
    policy = results["facts"]["appendfsync"]

    def x(power):
        return LABELS + (WIDTH - LABELS - MARGIN) * (power - low) / (high - low)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 16}" role="img">',
           f"<title>EdgeCask to Redis {html.escape(policy)}</title>", f"<style>{STYLE}\n</style>",
           f'<rect class="ground" width="{WIDTH}" height="{bottom + 16}"/>',
           f'<text class="title" x="16" y="26">EdgeCask to Redis {html.escape(policy)}, '
           f'medians of {results["facts"]["rounds"]} rounds</text>']
    for (measure, legend), left in zip(BARS, (16, 340)):
        out.append(f'<rect class="{measure}" x="{left}" y="40" width="12" height="12"/>'
                   f'<text x="{left + 18}" y="50">{legend}</text>')
    for power in range(low, high + 1):
        label = f"{2 ** power}" if power >= 0 else f"1/{2 ** -power}"
        out.append(f'<line class="{"grid" if power else "one"}" x1="{x(power):.1f}" x2="{x(power):.1f}" y1="{TOP - 6}" '
                   f'y2="{bottom}"/><text x="{x(power):.1f}" y="{TOP - 10}" text-anchor="middle">{label}</text>')
    for number, (name, to_redis) in enumerate(charted):
        top = TOP + ROW * number + 3
        out.append(f'<text x="{LABELS - 10}" y="{top + 13}" text-anchor="end">{html.escape(name)}</text>')
        for place, (measure, _) in enumerate(BARS):
            if to_redis[measure]:
                out.append(bar(measure, to_redis[measure], x, top + place * (BAR + 1)))
    return "\n".join([*out, "</svg>"]) + "\n"


def bar(measure, value, x, top):
    one, end = x(0), x(math.log2(value))
    side, anchor = (4, "start") if end >= one else (-4, "end")
    return (f'<rect class="{measure}" x="{min(one, end):.1f}" y="{top}" width="{abs(end - one):.1f}" height="{BAR}"/>'
            f'<text class="value" x="{end + side:.1f}" y="{top + BAR - 1}" text-anchor="{anchor}">{value:.2f}</text>')


def pages(results):
    """What is made of the results, by file name."""
    return {"results.md": markdown(results), "results.svg": svg(results)}


def write(results, folder):
    stored.save(results, folder)
    for name, text in pages(results).items():
        (pathlib.Path(folder) / name).write_text(text)
