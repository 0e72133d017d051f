"""
lib.py - what the tests of the command share: a segment of its own for each test, calls, checks.

Licensed under the MIT licence; see LICENSE.
"""

import json
import os
import pty
import shutil
import subprocess
import tempfile
import time

BINARY = None  # set by run.py
SECONDS = 120  # a call that takes longer has hung


class Failed(Exception):
    pass


class Skipped(Exception):
    """The machine lacks what the test needs."""


def terminal():
    """The two ends of a pseudo-terminal."""
    try:
        return pty.openpty()
    except OSError as error:
        raise Skipped(f"there is no pseudo-terminal: {error}") from error


def check(true, what):
    if not true:
        raise Failed(what)


def moved(process, size, way):
    """Waits until the process has read ("rchar") or written ("wchar") so many bytes, or ended."""
    deadline = time.monotonic() + SECONDS
    while process.poll() is None:
        with open(f"/proc/{process.pid}/io", encoding="ascii") as counts:
            if int(dict(line.split(": ") for line in counts)[way]) >= size:
                return
        check(time.monotonic() < deadline, f"the process does not reach {size} bytes")
        time.sleep(0.0002)


def sleeps(process, mapped=""):
    """Waits until the process, which has mapped this file, waits for something."""
    while process.poll() is None:
        with open(f"/proc/{process.pid}/maps", encoding="utf-8") as maps:
            has = mapped in maps.read()
        with open(f"/proc/{process.pid}/stat", encoding="ascii") as status:
            if has and status.read().rpartition(")")[2].split()[0] == "S":
                return
        time.sleep(0.005)
    raise Failed("the process has ended")


class Call:
    """One call of the command that has ended."""

    def __init__(self, arguments, done):
        self.words = " ".join(map(repr, arguments))
        self.status = done.returncode
        self.out = done.stdout
        self.err = done.stderr

    def gives(self, status=0, out=None, err=None):
        """The exit status, all of the output, and a part of the one line of errors."""
        seen = f"{self.words}: {self.status}, {self.out!r}, {self.err!r}"
        check(self.status == status, f"{seen}; status {status} expected")
        check(out is None or self.out == to_bytes(out), f"{seen}; output {out!r} expected")
        lines = self.err.count(b"\n")
        if err is None:
            check(self.err == b"", f"{seen}; no error expected")
        else:
            check(to_bytes(err) in self.err, f"{seen}; error {err!r} expected")
            check(lines == 1, f"{seen}; one line of errors expected")
        return self

    def json(self):
        return json.loads(self.out)


def to_bytes(text):
    return text if isinstance(text, bytes) else text.encode()


class Case:
    """A folder and a segment of its own; both are gone afterwards."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="bloomshm-cli.", dir="/dev/shm")
        self.path = os.path.join(self.folder, "segment")

    def environment(self, **changes):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("BLOOMSHM_")}
        return {**kept, "BLOOMSHM_PATH": self.path, **changes}

    def __call__(self, *arguments, stdin=b"", **changes):
        done = subprocess.run(
            [BINARY, *arguments],
            input=to_bytes(stdin),
            capture_output=True,
            timeout=SECONDS,
            env=self.environment(**changes),
            check=False,
        )
        return Call(arguments, done)

    def start(self, *arguments, **options):
        """Starts a call that the test ends, or waits for."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(
            [BINARY, *arguments], **{"env": self.environment(), **pipes, **options}
        )

    def file(self, name, content=b""):
        """A file of the case's folder."""
        path = os.path.join(self.folder, name)
        with open(path, "wb") as out:
            out.write(to_bytes(content))
        return path

    def end(self):
        shutil.rmtree(self.folder)
