#!/usr/bin/env python3
"""The documents of the search benchmarks, made from public package registries; none of them is in the repository.

    data.py OUT [--only packages,films,mixed]

OUT/packages.tsv    Debian's package index: some 64,000 packages with their English descriptions
OUT/films.tsv       3,201 films of the npm package vega-datasets, which the data set's authors publish with known faults
OUT/long-100k.tsv   100,000 long documents: real packages first, then names and descriptions mixed from them
OUT/short-1m.tsv    1,000,000 documents of the same mixture without the long description

Every file has a header line and these columns, separated by tabs; words never contain a tab or a line break:

    id            unique; the name of a package, `title-year` of a film, a number in the mixed sets
    name          package or title
    short         short description, or director
    body          long description of at most 600 bytes, or year, genre, kind, source, distributor and rating
    section       one word or phrase to filter by and to count: Debian's section, or the genre
    size          a number to filter and sort by: installed kilobytes, or the year
    popularity    packages that depend on or recommend this one, or votes at IMDb
    tags          separated by commas

packages.jsonl and films.jsonl hold the same rows as objects. Debian's index changes with each point release, so that
figures of one day are compared within one OUT only; the digests printed at the end tell whether two are the same. The mixed
sets follow from packages.tsv alone. What is fetched (some 20 MB) stays in OUT/fetched.
"""

import argparse
import collections
import hashlib
import json
import pathlib
import random
import re
import subprocess
import tarfile
import unicodedata

COLUMNS = ["id", "name", "short", "body", "section", "size", "popularity", "tags"]
BODY_BYTES = 600
# Half of a long description is what the average package has.
MIXED_BODY_BYTES = 280
LONG_DOCUMENTS = 100_000
SHORT_DOCUMENTS = 1_000_000
FILMS_PACKAGE = "vega-datasets@3.2.1"
FILMS_DIGEST = "e38178f99454568c5160fc759184a1a1471cc558"
# The films end in 2010; a later year is one of the last century whose first digits the data set lost.
LAST_YEAR = 2010


def clean(text):
    return re.sub(r"\s+", " ", text).strip()


def cut(text, size_bytes):
    return text.encode()[:size_bytes].decode(errors="ignore").rstrip()


def write(folder, name, rows, as_objects=False):
    digest = hashlib.sha256()
    objects = open(folder / f"{name}.jsonl", "w", encoding="utf8") if as_objects else None
    count = 0
    with open(folder / f"{name}.tsv", "wb") as out:
        for row in rows:
            if not count:
                out.write(("\t".join(COLUMNS) + "\n").encode())
            line = ("\t".join(clean(str(row[column])) for column in COLUMNS) + "\n").encode()
            digest.update(line)
            out.write(line)
            if objects:
                objects.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    if objects:
        objects.close()
    print(f"{name}.tsv: {count} documents, SHA-256 of the rows {digest.hexdigest()[:16]}")


def read(path):
    """The rows of a file that `write` made, as dictionaries of strings with numbers where numbers belong."""
    with open(path, encoding="utf8") as lines:
        next(lines)
        for line in lines:
            row = dict(zip(COLUMNS, line.rstrip("\n").split("\t"), strict=True))
            row["size"], row["popularity"] = int(row["size"]), int(row["popularity"])
            yield row


def index_lists(fetched):
    """Fetches Debian's index with English descriptions to a folder of its own: the machine's lists stay as they are."""
    lists = fetched / "lists"
    if not any(lists.glob("*Translation-en*")):
        (lists / "partial").mkdir(parents=True, exist_ok=True)
        (fetched / "cache/archives/partial").mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["apt-get", "-q", "update", "-o", "Acquire::Languages=en", "-o", f"Dir::State::lists={lists}",
             "-o", f"Dir::Cache={fetched / 'cache'}", "-o", "APT::Sandbox::User=root"],
            check=True, stdout=subprocess.DEVNULL)
    return lists


def paragraphs(path):
    """The paragraphs of an index file, compressed or not, as dictionaries; continued lines keep their line breaks."""
    text = subprocess.run(["/usr/lib/apt/apt-helper", "cat-file", path], check=True, capture_output=True).stdout.decode()
    for paragraph in text.split("\n\n"):
        fields, key = {}, None
        for line in paragraph.split("\n"):
            if line[:1] in (" ", "\t") and key:
                fields[key] += "\n" + line
            elif ":" in line:
                key, value = line.split(":", 1)
                fields[key] = value.strip()
        if fields:
            yield fields


def packages(folder):
    lists = index_lists(folder / "fetched")
    descriptions = {}
    for path in sorted(lists.glob("*Translation-en*")):
        for fields in paragraphs(path):
            if "Description-en" in fields:
                descriptions[fields["Description-md5"]] = fields["Description-en"]
    found, depended_on = {}, collections.Counter()
    for path in sorted(lists.glob("*_Packages*")):
        for fields in paragraphs(path):
            found.setdefault(fields["Package"], fields)
    for fields in found.values():
        needed = ",".join(fields.get(kind, "") for kind in ("Depends", "Pre-Depends", "Recommends"))
        names = (re.split(r"[\s(:\[]", item.strip())[0] for item in re.split(r"[,|]", needed))
        depended_on.update({name for name in names if name})
    for name, fields in sorted(found.items()):
        short, _, body = descriptions.get(fields.get("Description-md5"), fields.get("Description", "")).partition("\n")
        # A line with a dot alone is an empty line in this format.
        body = clean(" ".join("" if line.strip() == "." else line for line in body.split("\n")))
        yield {
            "id": name, "name": name, "short": clean(short), "body": cut(body, BODY_BYTES),
            "section": fields.get("Section", "").split("/")[-1],
            "size": int(fields.get("Installed-Size", 0)), "popularity": depended_on[name],
            "tags": ",".join(tag for tag in re.split(r"[,\s]+", fields.get("Tag", "")) if tag),
        }


def fetched_films(folder):
    kept = folder / "fetched/movies.json"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        packed = subprocess.run(["npm", "pack", "--silent", FILMS_PACKAGE], cwd=kept.parent, check=True, capture_output=True,
                                text=True).stdout.strip()
        with tarfile.open(kept.parent / packed) as archive:
            kept.write_bytes(archive.extractfile("package/data/movies.json").read())
    content = kept.read_bytes()
    if hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest() != FILMS_DIGEST:
        raise SystemExit(f"{kept} is not the file of {FILMS_PACKAGE}")
    return json.loads(content)


def repaired(text):
    """Undoes a fault of the data set: Windows-1252 text was read as Mac Roman, so that é became È."""
    try:
        return text if text.isascii() else text.encode("mac_roman").decode("cp1252")
    except UnicodeError:
        return text


def slug(text):
    plain = unicodedata.normalize("NFKD", text.lower().replace("'", "")).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


def films(folder):
    used = set()
    for film in fetched_films(folder):
        title = repaired(str(film["Title"] or ""))
        year = int((film["Release Date"] or "0")[-4:])
        year -= 100 if year > LAST_YEAR else 0
        name = f"{slug(title)}-{year}"
        if not title or name in used:
            continue
        used.add(name)
        genre = film["Major Genre"] or ""
        about = [year or "", genre, film["Creative Type"], film["Source"], film["Distributor"], film["MPAA Rating"]]
        yield {
            "id": name, "name": title, "short": film["Director"] or "", "body": ". ".join(str(part) for part in about if part),
            "section": genre, "size": year, "popularity": film["IMDB Votes"] or 0,
            "tags": ",".join(tag for tag in (film["MPAA Rating"], film["Creative Type"]) if tag),
        }


class Dice:
    """Draws that depend on `random()` alone, the one generator that Python promises to keep the same."""

    def __init__(self, seed):
        self.random = random.Random(seed).random

    def below(self, limit):
        return int(self.random() * limit)

    def pick(self, items):
        return items[self.below(len(items))]


def mixed(real, count, with_body):
    """Real documents with another's long description first, then names joined from two, each tenth with a new word."""
    dice = Dice(7)
    words = [word for row in real for word in re.findall(r"[a-z0-9]{3,}", row["name"].lower())]
    bodies = [row["body"] for row in real if row["body"]]

    def new_word():
        return "".join(dice.pick("bcdfghklmnprstvz") + dice.pick("aeiou") for _ in range(2 + dice.below(3)))

    for number in range(count):
        base, body, short = real[number % len(real)], dice.pick(bodies), dice.pick(real)["short"]
        name = base["name"]
        if number >= len(real):
            name = re.split("[-.]", name)[0] + "-" + dice.pick(words) + ("" if dice.random() < 0.9 else "-" + new_word())
        body = cut(body, MIXED_BODY_BYTES) + (" " + new_word() if dice.random() < 0.1 else "")
        yield {
            "id": number, "name": name, "short": short, "body": body if with_body else "", "section": base["section"],
            "size": int(base["size"] * (0.5 + 1.5 * dice.random())), "popularity": int(base["popularity"] * dice.random()),
            "tags": base["tags"],
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default="packages,films,mixed")
    options = parser.parse_args()
    folder, wanted = options.out.resolve(), options.only.split(",")
    folder.mkdir(parents=True, exist_ok=True)
    if "packages" in wanted:
        write(folder, "packages", packages(folder), as_objects=True)
    if "films" in wanted:
        write(folder, "films", films(folder), as_objects=True)
    if "mixed" in wanted:
        real = list(read(folder / "packages.tsv"))
        write(folder, "long-100k", mixed(real, LONG_DOCUMENTS, with_body=True))
        write(folder, "short-1m", mixed(real, SHORT_DOCUMENTS, with_body=False))


if __name__ == "__main__":
    main()
