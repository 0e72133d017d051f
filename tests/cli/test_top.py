"""
test_top.py - top: one frame, and the live view in a terminal that pyte emulates.

Licensed under the MIT licence; see LICENSE.
"""

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pyte

import lib
from lib import check

SECONDS = 60  # a terminal that shows nothing new for so long has hung


def fill(b):
    b("load", "articles", stdin="\n".join(map(str, range(3000)))).gives(0, None)
    b("reserve", "window", "-n", "5000", "-w", "3600").gives(0, None)
    b("load", "counted", "--counting", stdin="a\nb\n").gives(0, None)
    for name in ["商品の画像の一覧表", "control\x01\x1b[31m", "order\u202egpj.exe", b"bad\xff"]:
        b("reserve", name, "-n", "1000").gives(0, None)


def ask(b, name, there, absent):
    keys = [str(i % 3000) for i in range(there)] + [f"no {i}" for i in range(absent)]
    b("has", "-c", name, stdin="\n".join(keys))


class Terminal:
    """`bloomshm top`, or another command, in a terminal of its own."""

    def __init__(self, b, *arguments, lines=24, columns=80, command=None, **changes):
        self.master, self.slave = lib.terminal()
        self.screen = pyte.Screen(columns, lines)
        self.stream = pyte.ByteStream(self.screen)
        self.bytes = b""
        self.resize(lines, columns)
        self.before = termios.tcgetattr(self.slave)
        self.process = subprocess.Popen(
            command or [lib.BINARY, "top", *arguments],
            stdin=self.slave, stdout=self.slave, stderr=self.slave, start_new_session=True,
            env=b.environment(TERM="xterm", **changes),
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )

    def resize(self, lines, columns):
        self.screen.resize(lines, columns)
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def text(self):
        return "\n".join(self.screen.display)

    def until(self, true, what):
        """Waits for a frame that lasts: one that the next key replaces may not be seen."""
        end = time.monotonic() + SECONDS
        while not true():
            check(time.monotonic() < end, f"{what}; the screen is\n{self.text()}")
            wait = 0.2
            while select.select([self.master], [], [], wait)[0]:
                wait = 0
                got = os.read(self.master, 65536)
                self.bytes += got
                self.stream.feed(got)
        return self

    def shows(self, pattern):
        return self.until(lambda: re.search(pattern, self.text()), f"{pattern} is not shown")

    def type(self, keys):
        os.write(self.master, keys)
        return self

    def row(self, line):
        """The words of a line of the list; of a frame that has come in part, perhaps none."""
        lines = self.screen.display
        heads = next((i for i, text in enumerate(lines) if "ASKED/S" in text), len(lines))
        return "".join(lines[heads + 1 + line : heads + 2 + line]).rstrip()

    def ends(self, status, last=b"\x1b[?7h\x1b[?25h\x1b[?1049l"):
        self.until(lambda: self.process.poll() is not None, "it has not ended")
        check(self.process.returncode == status, self.process.returncode)
        while select.select([self.master], [], [], 0.1)[0]:
            self.bytes += os.read(self.master, 65536)
        check(termios.tcgetattr(self.slave) == self.before, "the terminal is not as it was")
        check(self.bytes.count(b"\x1b[?1049h") == self.bytes.count(b"\x1b[?1049l"), "the screen")
        check(self.bytes.rstrip().endswith(last), self.bytes[-60:])
        os.close(self.master)
        os.close(self.slave)


def test_once_as_json(b):
    fill(b)
    begun = time.monotonic()
    view = b.start("top", "--once", "--json", "-i", "3")
    lib.sleeps(view, b.path)  # after its first sample
    view.send_signal(signal.SIGSTOP)
    ask(b, "articles", 1000, 3000)
    view.send_signal(signal.SIGCONT)
    out, err = view.communicate(timeout=SECONDS)
    check(view.returncode == 0 and err == b"", err)
    top = lib.json.loads(out)
    check(3 <= top["seconds"] < time.monotonic() - begun, top["seconds"])
    first = top["filters"][0]
    asked = first["questions_per_second"] * top["seconds"]
    saved = first["saved_per_second"] * top["seconds"]
    check(first["name"] == "articles" and abs(asked - 4000) < 1, asked)
    check(2900 <= saved < 3001 and abs(first["saved_ratio"] - saved / 4000) < 1e-6, saved)
    check(abs(top["per_second"]["questions"] * top["seconds"] - 4000) < 1, top["per_second"])
    check(top["per_second"]["eviction_age"] is None, top["per_second"])
    for other in top["filters"][1:]:
        check(other["questions_per_second"] == 0 and other["saved_ratio"] is None, other)
    one = b("info", "articles", "--json").json()
    for key in ["type", "error_rate", "capacity", "items", "bytes", "published_at", "questions"]:
        check(first[key] == one[key], f"{key}: {first[key]} {one[key]}")
    check(top["status"] == b("status", "--json").json(), top["status"])
    check(top["cache"] == b("cache", "info", "--json").json(), top["cache"])
    names = [f["name"] for f in top["filters"][1:]]
    check(names == sorted(names, key=str.encode), names)


def test_once_as_text(b):
    fill(b)
    out = b("top", "--once", "-i", "0.1").gives(0).out.decode()
    check("\x1b" not in out and not re.search(r"[ \t]$", out, re.M), out)
    check(len(out.splitlines()) == 8 + 7, out)
    for name in ["商品の画像の一覧表", "control\\x01\\x1B[31m", "order\\xE2\\x80\\xAEgpj.exe", "bad\\xFF"]:
        check(re.search(rf" {re.escape(name)}$", out, re.M), out)
    check(re.search(r"^ +0 +0 +- +3\.00k .* scalable .* articles$", out, re.M), out)


def test_wrong_usage(b):
    fill(b)
    b("top").gives(2, "", "this is no terminal that can be drawn on; --once prints one frame")
    b("top", "--json").gives(2, "", "--json is for --once")
    for bad in ["0", "-1", "x", "1e9", ""]:
        b("top", "--once", "-i", bad).gives(2, "", f'at most 3600, "{bad}" given')
    b("top", "--once", "-i", "0.01").gives(2, "", "--interval must be at least 0.1")
    b("top", "x").gives(2, "", "too many arguments")


def test_without_a_segment(b):
    b("top", "--once").gives(3, "", "no segment yet")
    check(os.listdir(b.folder) == [], "top creates no segment")


def test_a_full_disk(b):
    fill(b)
    with open("/dev/full", "wb") as full:
        view = b.start("top", "--once", "-i", "0.1", stdout=full)
        check(b"cannot write the output" in view.communicate()[1], "it says why")
        check(view.returncode == 3, view.returncode)


def test_keys(b):
    fill(b)
    b("cache", "set", "large", stdin="x" * 500000).gives(0, None)  # a part of a bar that is seen
    view = Terminal(b, "-i", "0.5")
    view.shows(r"7 filters(.|\n)* 商品の画像の一覧表\s*\n(.|\n)*q quit")
    check(len(view.screen.display) == 24 and view.screen.display[23].startswith("q quit"), "foot")
    view.type(b"n").until(lambda: view.row(0).endswith("articles"), "by name")
    view.type(b"r").until(lambda: "商品の画像の一覧表" in view.row(0), "by name from the end")
    view.type(b"k").until(lambda: view.row(0).endswith("articles"), "by keys")
    view.type(b"r").until(lambda: view.row(6).endswith("articles"), "by keys from the end")
    view.type(b"z").shows("SIZE")
    view.type(b"t").until(lambda: " counting " in view.row(0), "by kind")
    view.type(b"h").shows("h ends this help").type(b"h").shows("articles")
    view.type(b"+").shows(r"every 1 s").type(b"---").shows(r"every 0\.1 s")
    view.type(b" ").shows("paused").type(b"\x1b[C\x1bZ\xff\x01x").type(b" ").shows("every")
    view.type(b"q").ends(0)
    check(b"\x1b[32m" in view.bytes, "it has colours")


def test_rates_and_what_they_saved(b):
    fill(b)
    view = Terminal(b, "-i", "1").shows(r"every 1 s")
    row = re.compile(r" +[\d.]+k? +[\d.]+k? +7\d\.\d % .*articles")
    head = re.compile(r"Asked +[\d,]+/s +7\d\.\d % saved")

    def tells():
        """The frame after the questions; the next one, or a part of one, may be here already."""
        if row.match(view.row(0)) and head.search(view.text()):
            return True
        ask(b, "articles", 1000, 3000)
        return False

    view.until(tells, "rates")
    view.type(b"q").ends(0)


def test_without_colours(b):
    fill(b)
    view = Terminal(b, NO_COLOR="1").shows("articles").type(b"q")
    view.ends(0)
    check(not re.search(rb"\x1b\[(\d+;)*(3|4|9)\d", view.bytes), "a colour")


def test_scrolling(b):
    for i in range(40):
        b("reserve", f"filter {i:02}", "-n", "10").gives(0, None)
    view = Terminal(b, lines=20).shows(r"filter 00(.|\n)*q quit")
    check(view.row(9).endswith("filter 09"), view.text())
    for keys, first in [
        (b"\x1b[B", 1), (b"\x1b[A", 0), (b"\x1b[6~", 10), (b"\x1b[5~", 0), (b"\x1b[F", 29),
        (b"\x1bOB", 29), (b"\x1b[H", 0), (b"\x1b[5~", 0),
    ]:
        view.type(keys).until(lambda: view.row(0).endswith(f"filter {first:02}"), f"{keys}")
        first_row = view.row(0)
        check(first_row.endswith(f"filter {first:02}"), first_row)
    view.type(b"q").ends(0)


def test_resize(b):
    fill(b)
    view = Terminal(b).shows("articles")
    for lines, columns in [(24, 120), (12, 40), (6, 20), (3, 5), (1, 1), (2, 200), (30, 80)]:
        view.resize(lines, columns)
        view.until(lambda: len(view.screen.display) == lines, "resized")
        if lines >= 6:
            view.shows("ASKED/S(.|\n)*articl" if columns >= 40 else "ASKED/S")
            # The frame of the size before may show all that, too.
            view.until(lambda: "q quit" in view.screen.display[lines - 1], "no last line")
    # A character of two columns does not fit into the last one.
    view.resize(24, 79)
    view.shows(r"商品の画像の一覧…\n")
    view.type(b"q").ends(0)


def test_signals_end_it(b):
    fill(b)
    for how in [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT]:
        view = Terminal(b).shows("articles")
        view.process.send_signal(how)
        view.ends(128 + how)
    Terminal(b).shows("articles").type(b"\x03").ends(130)


def test_stopped_and_continued(b):
    fill(b)
    view = Terminal(b).shows("articles")
    view.process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, view.process.pid, os.WSTOPPED)
    view.screen.reset()
    view.process.send_signal(signal.SIGCONT)
    view.shows("articles").type(b"q").ends(0)


def test_the_terminal_goes_away(b):
    fill(b)
    view = Terminal(b).shows("articles")
    os.close(view.slave)
    os.close(view.master)
    check(view.process.wait(SECONDS) == 128 + signal.SIGHUP, view.process.returncode)


def test_a_segment_that_is_removed_and_made_anew(b):
    fill(b)
    view = Terminal(b, "-i", "0.1").shows("articles")
    os.unlink(b.path)
    view.shows("the segment was removed; waiting for a new one")
    b("reserve", "fresh", "-n", "10").gives(0, None)
    view.shows(r"1 filter\b(.|\n)*fresh")
    check("articles" not in view.text(), view.text())
    view.until(lambda: "waiting" not in view.text(), "the notice")
    os.unlink(b.path)
    b("reserve", "third", "-n", "10").gives(0, None)
    view.shows("third").type(b"q").ends(0)


def test_stopped_by_the_keyboard(b):
    """Ctrl-Z under a shell, and fg."""
    fill(b)
    shell = ["bash", "--norc", "--noprofile", "--noediting", "-i"]
    view = Terminal(b, command=shell, PS1="ready> ").shows("ready>")
    view.type(f"{lib.BINARY} top\n".encode()).shows("articles(.|\n)*q quit")
    view.type(b"\x1a").shows(r"Stopped(.|\n)*ready>")
    check(view.bytes.count(b"\x1b[?1049l") == 1, "the screen is given back")
    modes = termios.tcgetattr(view.slave)[3]
    check(modes & termios.ECHO and modes & termios.ICANON, "so is the terminal's state")
    view.screen.reset()
    view.type(b"fg\n").shows("articles(.|\n)*q quit").type(b"q")
    view.until(lambda: view.bytes.count(b"\x1b[?1049l") == 2, "it quits")
    view.type(b"exit 0\n").ends(0, last=b"")


def test_a_segment_that_is_cut_off(b):
    """The kernel ends the process; the terminal is as it was all the same."""
    fill(b)
    view = Terminal(b, "-i", "0.1", ASAN_OPTIONS="handle_sigbus=0").shows("articles")
    os.truncate(b.path, 0)
    view.ends(-signal.SIGBUS)


def test_a_segment_that_is_mapped_read_only(b):
    fill(b)
    Terminal(b, "--readonly").shows("articles(.|\n)*q quit").type(b"q").ends(0)
