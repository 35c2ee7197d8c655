"""A small file system of its own for a store, made and mounted by root."""

import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile

SIZE_MB = 64
KINDS = ("ext4", "tmpfs")


@contextlib.contextmanager
def small_file_system(scratch, kind):
    """A mounted file system and a folder beside it; both are gone afterwards."""
    if os.geteuid() != 0:
        sys.exit("only root may mount a file system")
    with tempfile.TemporaryDirectory(prefix="edgecask-disk-", dir=scratch) as folder:
        mount = os.path.join(folder, "mount")
        os.mkdir(mount)
        if kind == "tmpfs":
            command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MB}m", "tmpfs", mount]
        else:
            image = os.path.join(folder, "image")
            with open(image, "wb") as file:
                file.truncate(SIZE_MB << 20)
            subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
            command = ["mount", "-o", "loop", image, mount]
        subprocess.run(command, check=True)
        try:
            yield pathlib.Path(mount), pathlib.Path(folder)
        finally:
            subprocess.run(["umount", mount], check=True)
