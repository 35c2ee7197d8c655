#!/usr/bin/env python3
"""Times queries in one way for all engines that are asked from Python, and lays the engines' results side by side.

    speed.py RESULTS...

A results file has these columns, separated by tabs: engine, class, queries measured, mean, p50 and p99 in microseconds of
processor time. All engines follow the same rules: a class is warmed up with its first 30 queries or for 5 s, then each query
runs once, until 20 s of processor time are spent; ten documents are returned, by id.
"""

import pathlib
import sys
import time

WARM_UP = 30
CLASS_S = 20
TOP = 10


def measure(engine, classes, search, class_s=CLASS_S, clock=time.process_time):
    """Yields the lines of a results file. `search` takes (text, size_max, sort, facets)."""
    for name, queries in classes.items():
        begin = clock()
        for query in queries[:WARM_UP]:
            search(*query)
            if clock() - begin > class_s / 4:
                break
        begin, taken = clock(), []
        for query in queries:
            start = clock()
            search(*query)
            end = clock()
            taken.append((end - start) * 1e6)
            if end - begin > class_s:
                break
        taken.sort()
        mean, p50, p99 = sum(taken) / len(taken), taken[len(taken) // 2], taken[len(taken) * 99 // 100]
        yield f"{engine}\t{name}\t{len(taken)}\t{mean:.0f}\t{p50:.0f}\t{p99:.0f}"


def main():
    results, classes, engines = {}, [], []
    for path in sys.argv[1:]:
        for line in pathlib.Path(path).read_text().splitlines():
            engine, name, count, mean, p50, p99 = line.split("\t")
            classes += [name] if name not in classes else []
            engines += [engine] if engine not in engines else []
            results[engine, name] = f"{mean} / {p50} / {p99}"
    print("µs of processor time a query: mean / p50 / p99\n")
    print("| class | " + " | ".join(engines) + " |\n|---" + "|---:" * len(engines) + "|")
    for name in classes:
        print(f"| {name} | " + " | ".join(results.get((engine, name), "-") for engine in engines) + " |")


if __name__ == "__main__":
    main()
