"""The program `sqlite3` as the oracle: one process that reads all statements as one script, and what it printed for each.

It prints values as literals of SQL, so that types are seen, and errors with the line of the script on which they happened.
"""

import re
import subprocess

SECTION = re.compile(rb"^@@@(\d+)\n", re.M)
ERROR = re.compile(r"^(?:Parse error|Runtime error|Error) near line (\d+): (.*)$")
TOKEN = re.compile(rb"NULL|X'[0-9a-fA-F]*'|'(?:[^']|'')*'|[-+]?[0-9.A-Za-z][-+0-9.A-Za-z]*")
FIRST_LINES = (".mode quote", ".headers on")
NEW_DATABASE = (".open :memory:", "PRAGMA foreign_keys=ON;", "PRAGMA temp_store=MEMORY;")


class Answer:
    """What one text was answered: an error, or column names and rows (none without any row), and how many rows it changed."""

    def __init__(self):
        self.error, self.names, self.rows, self.changed = None, None, [], 0


def value(token):
    if token == b"NULL":
        return None
    if token[:1] == b"'":
        return token[1:-1].replace(b"''", b"'")
    if token[:2] == b"X'":
        return bytes.fromhex(token[2:-1].decode())
    text = token.decode()
    return int(text) if re.fullmatch(r"[-+]?\d+", text) else float(text)


def rows_of(output):
    """The lines of a result as lists of values; a text may have newlines in it."""
    rows, row, at = [], [], 0
    while at < len(output):
        token = TOKEN.match(output, at)
        if not token:
            raise SystemExit(f"what sqlite3 printed cannot be read: {output[at:at + 80]}")
        row.append(value(token.group()))
        at = token.end()
        if output[at:at + 1] != b",":
            rows.append(row)
            row = []
        at += 1
    return rows


def version():
    return subprocess.run(["sqlite3", "--version"], check=True, capture_output=True, text=True).stdout.split()[0]


def ask(worlds):
    """The answers to the statements of each world, each of which has a database of its own."""
    lines, places = list(FIRST_LINES), {}
    number = 0
    for statements in worlds:
        lines += NEW_DATABASE
        for statement in statements:
            lines.append(f".print @@@{number}")
            places[len(lines) + 1] = number
            # One line is run until its first error. What it began must then be undone.
            lines += [f"BEGIN; {statement.text}; COMMIT;", "ROLLBACK;"] if statement.is_several else [statement.text + ";"]
            lines += [f".print @@@{number}", "SELECT changes(), total_changes();"]
            number += 1
    done = subprocess.run(["sqlite3", "-batch", "-init", "/dev/null"], input="\n".join([*lines, ".print @@@0", ""]).encode(), capture_output=True, check=False)
    return read(done, places, number)


def read(done, places, count):
    """What the program printed, as an answer for each statement."""
    answers = [Answer() for _ in range(count)]
    parts = SECTION.split(done.stdout)[1:]
    total = 0
    for at in range(0, 4 * count, 4):
        answer = answers[int(parts[at])]
        if output := parts[at + 1]:
            answer.names, *answer.rows = rows_of(output)
        changes, so_far = rows_of(parts[at + 3])[1]
        # A database that was just opened counts from 0.
        answer.changed = changes if so_far != total else 0
        total = so_far
    for line in done.stderr.decode(errors="replace").splitlines():
        if (found := ERROR.match(line)) and int(found[1]) in places:
            answers[places[int(found[1])]].error = re.sub(r" \(\d+\)$", "", found[2])
    return answers
