#!/usr/bin/env python3
"""Writes requirements.txt: the packages that requirements.in leads to, as pip resolves it now, with their hashes."""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def main():
    report = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-",
         "-r", HERE / "requirements.in"], check=True, capture_output=True).stdout
    packages = sorted(
        (each["metadata"]["name"].lower(), each["metadata"]["version"],
         each["download_info"]["archive_info"]["hashes"]["sha256"])
        for each in json.loads(report)["install"])
    lines = ["# Written by lock.py from requirements.in."]
    lines += [f"{name}=={version} --hash=sha256:{digest}" for name, version, digest in packages]
    (HERE / "requirements.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
