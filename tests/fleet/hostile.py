#!/usr/bin/env python3
"""
hostile.py - what a follower counts, and origins and streams that say anything.

A follower that is told nonsense goes on, keeps what stands, and counts it.

    tests/fleet/hostile.py BINARY [NAME...]     all tests, or those whose names contain a NAME

Licensed under the MIT licence; see LICENSE.
"""

import os
import re
import shutil
import signal
import socketserver
import subprocess
import threading

from hosts import BINARY, NAME, Skipped, check, denies, lag, main
from origin import Origin, raw, with_headers

METRICS = "a.prom"


def counts(fleet):
    """The metrics of a: {name, or name and kind of failure: value}."""
    found = re.findall(
        rf'^bloomshm_follow_(\w+?)(?:_total)?{{filter="{NAME}"(?:,kind="(\w+)")?}} (\d+)$',
        fleet.read(METRICS),
        re.M,
    )
    return {kind or name: int(value) for name, kind, value in found}


def look(fleet, *options, url=None):
    return fleet.look("a", "--metrics", fleet.at(METRICS), *options, url=url)


def counted(fleet, kind, words="", *options, url=None):
    """One look fails, is counted once as of this kind alone, and what stood stands."""
    before = fleet.image_of("a")
    fleet.refused(look(fleet, *options, url=url), words)
    kinds = "network signature replay expired hash stream gap local".split()
    failures = {name: counts(fleet)[name] for name in kinds}
    check(failures == {name: int(name == kind) for name in kinds}, f"{words}: {failures}")
    check(fleet.image_of("a") == before, f"what stood stands after: {words}")


# ------------------------------------------------------------------ what is counted


def test_all_that_a_follower_does_is_counted(fleet):
    fleet.announce(0, 20000)
    origin = fleet.at("origin")
    fleet.serve("a", "--metrics", fleet.at(METRICS), url=origin)
    fleet.wait_for("it is counted", lambda: counts(fleet).get("version") == 1)
    first = counts(fleet)
    check(first["images"] == 1 and first["versions"] == 1 and first["deltas"] == 0, first)
    image = int(fleet.head()["image"][0][1])
    check(image < first["fetched_bytes"] < 2 * image, f"{first} of {image}")
    check(os.stat(fleet.at(METRICS)).st_mode & 0o777 == 0o644, "the exporter may read it")
    fleet.announce(100, 20100)
    fleet.wait_for("the next one", lambda: counts(fleet)["version"] == 2)
    then = counts(fleet)
    check(then["deltas"] == 1 and then["versions"] == 2 and then["images"] == 1, then)
    check(then["announced_version"] == 2, then)
    check(then["success_timestamp_seconds"] >= first["success_timestamp_seconds"] > 0, then)
    if shutil.which("promtool"):
        command = ["promtool", "check", "metrics"]
        done = subprocess.run(command, input=fleet.read(METRICS), capture_output=True, text=True)
        check(done.returncode == 0 and done.stdout + done.stderr == "", done.stdout + done.stderr)


def test_figures_of_the_dead_do_not_look_alive(fleet):
    fleet.announce(0, 1000)
    follower = fleet.serve("a", "--metrics", fleet.at(METRICS), url=fleet.at("origin"))
    fleet.wait_for("it is counted", lambda: counts(fleet).get("version") == 1)
    follower.terminate(), follower.wait()
    check(not os.path.exists(fleet.at(METRICS)), "a follower that ends removes its file")
    follower = fleet.serve("a", "--metrics", fleet.at(METRICS), url=fleet.at("origin"))
    fleet.wait_for("it looks", lambda: counts(fleet).get("looked_timestamp_seconds", 0) > 0)
    last = counts(fleet)["looked_timestamp_seconds"]
    fleet.wait_for("it looks again", lambda: counts(fleet)["looked_timestamp_seconds"] > last)
    follower.kill(), follower.wait()
    last = counts(fleet)["looked_timestamp_seconds"]
    fleet.look("b", url=fleet.at("origin"))
    check(counts(fleet)["looked_timestamp_seconds"] == last, "the time stands still")


def test_a_file_that_cannot_be_written(fleet):
    fleet.announce(0, 1000)
    origin = fleet.at("origin")
    done = fleet.look("a", "--metrics", fleet.at("none", METRICS), url=origin)
    fleet.refused(done, "cannot write the metrics to ")
    check(fleet.image_of("a") is None, "it has not begun")
    os.mkdir(fleet.at("there"))
    fleet.serve("a", "--metrics", fleet.at("there", METRICS), url=origin)
    fleet.wait_for("it is followed", lambda: fleet.image_of("a") is not None)
    fleet.wait_for("it is counted", lambda: os.path.exists(fleet.at("there", METRICS)))
    os.rename(fleet.at("there"), fleet.at("gone"))
    fleet.wait_for("it says so", lambda: "cannot write the metrics" in fleet.log("a"))
    fleet.announce(10, 1010)
    fleet.wait_for("it goes on", lambda: fleet.is_newest("a"))
    check(fleet.log("a").count("cannot write the metrics") == 1, "it says so once")


def test_each_failure_has_a_kind(fleet):
    origin = fleet.at("origin")
    fleet.announce(0, 1000)
    head = fleet.at("origin", NAME, "head")
    first = open(head, "rb").read()
    counted(fleet, "network", "cannot fetch", url="http://127.0.0.1:1")
    fleet.follow("a", url=origin)
    fleet.announce(5, 1005)
    second = open(head, "rb").read()
    with open(head, "wb") as file:
        file.write(second.replace(b"version 2", b"version 3"))
    counted(fleet, "signature", "signature", url=origin)
    with open(head, "wb") as file:
        file.write(second)
    fleet.follow("a", url=origin)
    with open(head, "wb") as file:
        file.write(first)
    counted(fleet, "replay", "version is 1", url=origin)
    with open(head, "wb") as file:
        file.write(second)
    fleet.announce(10, 1010)
    delta = fleet.blob(fleet.head()["delta"][0][0])
    os.rename(delta, fleet.at("delta"))
    image = fleet.blob(fleet.head()["image"][0][0])
    os.rename(image, fleet.at("image"))
    fleet.refused(look(fleet, url=origin), "cannot fetch")
    check(counts(fleet)["network"] == 2, "a delta, and the image")
    with open(image, "wb") as file:
        file.write(os.urandom(os.path.getsize(fleet.at("image"))))
    fleet.refused(look(fleet, url=origin), "has other bytes")
    check((counts(fleet)["network"], counts(fleet)["hash"]) == (1, 1), counts(fleet))
    os.rename(fleet.at("image"), image), os.rename(fleet.at("delta"), delta)
    stream = ["--stream", "unix://" + fleet.at("none")]
    counted(fleet, "stream", "cannot reach", *stream, url=origin)
    check(counts(fleet)["announced_version"] == 3 and counts(fleet)["version"] == 0, "it is behind")
    check(counts(fleet)["success_timestamp_seconds"] == 0, "nothing went well")


# ------------------------------------------------------------------ origins


def hostile_answers(body):
    """What may be said for a file with these bytes: {what: (answer, kinds of failure)}."""
    n = len(body)
    length = f"Content-Length: {n}"
    chunked = "Transfer-Encoding: chunked"
    first = b"HTTP/1.1 200 OK\r\n"
    return {
        "a length that is too small": (with_headers(200, f"Content-Length: {n // 2}", body), "any"),
        "a length that is too great": (with_headers(200, f"Content-Length: {2 * n}", body), "any"),
        "a negative length": (with_headers(200, "Content-Length: -7", b""), "any"),
        "no number": (with_headers(200, "Content-Length: many", b""), "any"),
        "two lengths": (with_headers(200, f"{length}\r\nContent-Length: 3", body[:3]), "any"),
        "no bytes": (with_headers(200, "Content-Length: 0"), "any"),
        "no end": (with_headers(200, "X: y", b"x" * 65536, None), "any"),
        "an end that comes early": (with_headers(200, length, body[: n - 1]), "any"),
        "a byte too many": (with_headers(200, "X: y", body + b"\n"), "any"),
        "other bytes": (with_headers(200, length, os.urandom(n)), "any"),
        "nothing has changed": (with_headers(304, "ETag: x"), "network"),
        "another place": (with_headers(301, "Location: head\r\nContent-Length: 0"), "network"),
        "a place that leads to itself": (with_headers(307, "Location: ?"), "network"),
        "an error without an end": (with_headers(500, "X: y", b"x" * 65536, None), "network"),
        "a part": (with_headers(206, f"Content-Range: bytes 0-1/{n}", body[:2]), "network"),
        "chunks of no number": (with_headers(200, chunked, b"zz\r\nx"), "any"),
        "an unknown coding": (with_headers(200, "Content-Encoding: br\r\nX: y", b"abc"), "any"),
        "no status": (raw(b"hello\r\n\r\n"), "network"),
        "a status of no number": (raw(b"HTTP/1.1 abc OK\r\n\r\n" + body), "any"),
        "a long header": (with_headers(200, "X: " + "y" * 2000000, body), "network"),
        "headers without an end": (raw(first, b"X: y\r\n" * 999, None), "network"),
        "nothing": (raw(), "network"),
    }


def test_answers_of_any_form_for_a_head(fleet):
    fleet.announce(0, 1000)
    origin = Origin(fleet)
    fleet.follow("a", url=origin.url)
    fleet.announce(5, 1005)
    with open(fleet.at("origin", NAME, "head"), "rb") as file:
        answers = hostile_answers(file.read())
    for what, (answer, kind) in answers.items():
        origin.hostile = {"/head": answer}
        refused(fleet, origin, what, kind, ["network", "signature"])
    check(set(origin.asked) == {None}, "a process that has just begun names no ETag")
    origin.hostile = {}
    fleet.follow("a", url=origin.url)


def test_answers_of_any_form_for_blobs(fleet):
    fleet.announce(0, 1000)
    origin = Origin(fleet)
    fleet.follow("a", url=origin.url)
    fleet.announce(5, 1005)
    with open(fleet.blob(fleet.head()["image"][0][0]), "rb") as file:
        answers = hostile_answers(file.read())
    for what, (answer, kind) in answers.items():
        origin.hostile = {"/blobs/": answer}
        refused(fleet, origin, what, kind, ["network", "hash"])
    parts = [name for name in os.listdir(fleet.at("a", "blobs")) if name.startswith(".")]
    check(parts == [], f"no part is left: {parts}")
    origin.hostile = {}
    fleet.follow("a", url=origin.url)


def refused(fleet, origin, what, kind, kinds):
    """One look at the origin fails by one of these kinds, and what stood stands."""
    done = look(fleet, url=origin.url)
    check(done.returncode == 3, f"{what}: {done.returncode} {done.stderr}")
    failures = {name: counts(fleet)[name] for name in (kinds if kind == "any" else [kind])}
    check(sum(failures.values()) > 0, f"{what}: {failures} {done.stderr}")
    fleet.check_image("a", newest=False)


def test_ages_of_any_form(fleet):
    fleet.announce(0, 1000)
    origin = Origin(fleet)
    with open(fleet.at("origin", NAME, "head"), "rb") as file:
        head = file.read()
    ages = {"7": 7, "-5": 0, "nan": 0, "-nan": 0, "x": 0, "": 0, "0x10": 16, "1e999": 1e9}
    ages.update({"inf": 1e9, "9" * 400: 0, "99999999999999999999": 1e9, "1,2": 1, "\x80": 0})
    for age, least in ages.items():
        headers = f"Content-Length: {len(head)}\r\nAge: {age}"
        origin.hostile = {"/head": with_headers(200, headers, head)}
        fleet.follow("a", url=origin.url)
        found = lag(fleet, "a")
        check(least <= found < least + 60, f"Age: {age} makes a lag of {found} s")
        os.unlink(fleet.at("a.seg"))
        shutil.rmtree(fleet.at("a"))


def test_a_kept_head_is_as_old_as_what_was_heard(fleet):
    """Also if its image was not published: the follower may be killed before that."""
    fleet.announce(0, 2000000)
    origin = Origin(fleet)
    with open(fleet.at("origin", NAME, "head"), "rb") as file:
        head = file.read()
    headers = f"Content-Length: {len(head)}\r\nAge: 1000"
    origin.hostile = {"/head": with_headers(200, headers, head)}
    counted(fleet, "local", "", "--filter-memory", "1M", url=origin.url)
    now = os.stat(fleet.at(METRICS)).st_mtime
    age = now - os.stat(fleet.at("a", NAME, "head")).st_mtime
    check(age >= 999, f"it is {age} s old")


def test_a_kept_head_of_any_time(fleet):
    """A program that restores it may set no time, which is the year 1 for some."""
    fleet.announce(0, 1000)
    fleet.follow("a", url=fleet.at("origin"))
    for second in (0, -8 * 10**9, -62135596800, 8 * 10**9, 2**55, -(2**55)):
        subprocess.run(["touch", "-d", f"@{second}", fleet.at("a", NAME, "head")], check=True)
        os.unlink(fleet.at("a.seg"))
        fleet.look("a", url="http://127.0.0.1:1")
        found = lag(fleet, "a")
        check(found > 10**9 - 60, f"a head of {second} makes a lag of {found} s")


def tagged(fleet):
    """Answers with the head that is there, if the request does not name its ETag."""

    def answer(handler):
        with open(fleet.at("origin", NAME, "head"), "rb") as file:
            head = file.read()
        tag = f'"{hash(head):x}"'
        if handler.headers.get("If-None-Match") == tag:
            return with_headers(304, f"ETag: {tag}")(handler)
        return with_headers(200, f"ETag: {tag}\r\nContent-Length: {len(head)}", head)(handler)

    return answer


def test_the_tag_is_that_of_the_head_that_was_taken(fleet):
    fleet.announce(0, 1000)
    origin = Origin(fleet)
    origin.hostile = {"/head": tagged(fleet)}
    head = fleet.at("origin", NAME, "head")
    with open(head, "rb") as file:
        first = file.read()
    fleet.serve("a", "--metrics", fleet.at(METRICS), "--filter-memory", "1M", url=origin.url)
    fleet.wait_for("it has named a tag", lambda: any(origin.asked))
    check(origin.from_caches == {"no-cache"}, f"no cache answers by itself: {origin.from_caches}")
    fleet.announce(0, 2000000, "--max-change", "1000000")  # there is no room for it
    fleet.wait_for("it is not published", lambda: counts(fleet)["local"] > 0)
    with open(head, "wb") as file:
        file.write(first)
    fleet.wait_for("the first one is old", lambda: counts(fleet)["replay"] > 0)


def test_a_name_is_looked_up_now_and_then(fleet):
    """The origin may move to another address, and what has the old one go on to answer."""
    if shutil.which("faketime") is None or "asan" in BINARY:
        raise Skipped("no faketime")
    fleet.announce(0, 1000)
    origin = Origin(fleet)
    origin.server.RequestHandlerClass.protocol_version = "HTTP/1.1"
    log = open(fleet.at("a.log"), "w")
    command = fleet.follow_command("a", "--every", "1", url=origin.url)
    fast = ["faketime", "-f", "+0 x60", BINARY, *command]
    parent = fleet.start(fast, "a.seg", stdout=log, stderr=log)
    try:
        fleet.wait_for("it connects again", lambda: origin.connections > 2)
    finally:
        for pid in fleet.read(f"/proc/{parent.pid}/task/{parent.pid}/children").split():
            os.kill(int(pid), signal.SIGTERM)
        parent.wait()  # it removes what it has in shared memory


def test_a_service_that_hears_nonsense_goes_on(fleet):
    fleet.announce(0, 1000)
    origin = Origin(fleet)
    service = fleet.serve("a", "--metrics", fleet.at(METRICS), url=origin.url)
    fleet.wait_for("it is followed", lambda: fleet.image_of("a") is not None)
    fleet.wait_for("it looks again", lambda: origin.asked[-1] is None and len(origin.asked) > 3)
    with open(fleet.at("origin", NAME, "head"), "rb") as file:
        answers = hostile_answers(file.read())
    for what in ("no end", "nothing", "headers without an end", "an end that comes early"):
        before = counts(fleet)["looked_timestamp_seconds"]
        origin.hostile = {"/head": answers[what][0]}
        fleet.wait_for(what, lambda: counts(fleet)["looked_timestamp_seconds"] > before + 1)
    origin.hostile = {}
    fleet.announce(5, 1005)
    fleet.wait_for("it is well again", lambda: fleet.is_newest("a"))
    check(counts(fleet)["network"] + counts(fleet)["signature"] >= 4, "all of it is counted")
    service.terminate()
    check(service.wait() == 0, "SIGTERM ends it")


# ------------------------------------------------------------------ streams


class FalseServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Takes commands as Redis does, and says of a stream what it is told to."""

    daemon_threads = True
    ABOUT = (
        b"*6\r\n$6\r\nlength\r\n:1\r\n$13\r\nentries-added\r\n:1\r\n"
        b"$17\r\nlast-generated-id\r\n$3\r\n9-9\r\n"
    )

    def __init__(self, fleet):
        self.place = b"0-0"  # from where on the stream is read
        self.entries = []  # what a reading of it gets behind the place: a list, or any bytes
        self.added = b"$3\r\n1-1\r\n"  # what an add gets
        self.waited = b""  # what gets who waits for entries
        super().__init__(fleet.at("redis"), FalseConnection)
        self.url = "unix://" + fleet.at("redis")
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def reading(self):
        if isinstance(self.entries, bytes):
            return self.entries
        place = [entry(b"$%d\r\n%s\r\n" % (len(self.place), self.place))]
        entries = (place if self.place != b"0-0" else []) + self.entries
        return b"*%d\r\n" % len(entries) + b"".join(entries)

    def answer(self, words, queued):
        word = words[0].upper()
        if word == b"XRANGE":
            self.place = words[2]
        if word == b"XRANGE" and not queued:
            return self.reading()
        if word == b"EXEC":
            return b"*2\r\n" + self.ABOUT + self.reading()
        known = {b"MULTI": b"+OK\r\n", b"XADD": self.added, b"XREAD": self.waited}
        return known.get(word, b"+QUEUED\r\n")


class FalseConnection(socketserver.StreamRequestHandler):
    def handle(self):
        queued = False
        try:
            while line := self.rfile.readline():
                words = [self.word() for _ in range(int(line[1:]))]
                queued = words[0] == b"MULTI" or (queued and words[0] != b"EXEC")
                self.wfile.write(self.server.answer(words, queued))
        except OSError:
            pass  # the follower has had enough

    def word(self):
        length = int(self.rfile.readline()[1:])
        return self.rfile.read(length + 2)[:-2]


def entry(entry_id, name=b"$1\r\nk\r\n", value=b"$3\r\nkey\r\n"):
    return fields(entry_id, name, value)


def fields(entry_id, *words):
    return b"*2\r\n" + entry_id + b"*%d\r\n" % len(words) + b"".join(words)


ID = b"$3\r\n5-5\r\n"
K = b"$1\r\nk\r\n"
ENTRIES = {
    "nil": b"*-1\r\n",
    "a nil entry": [b"*-1\r\n"],
    "no id": [entry(b"$-1\r\n")],
    "an id of letters": [entry(b"$3\r\na-b\r\n")],
    "an id that comes twice": [entry(ID), entry(ID)],
    "ids that go back": [entry(ID), entry(b"$3\r\n4-4\r\n")],
    "no name": [entry(ID, name=b"$-1\r\n")],
    "no value": [entry(ID, value=b"$-1\r\n")],
    "a number": [entry(ID, value=b":7\r\n")],
    "no fields": [fields(ID)],
    "a name without a value": [fields(ID, K, K, K)],
    "a number behind keys": [fields(ID, K, K, K, b":7\r\n")],
    "entries in entries": [b"*1\r\n" * 20 + b":1\r\n"],
    "no form": b"hello\r\n",
    "an error": b"-ERR no\r\n",
}
LONG = {
    "fields that never end": [fields(ID, *[K] * 2000000)],
    "a huge value": [entry(ID, value=b"$9000000\r\n" + b"x" * 9000000 + b"\r\n")],
}


def fails(fleet, service, what):
    """The next exchange with the stream fails, and is counted."""
    before = counts(fleet)["stream"]
    counted = lambda: service.poll() is not None or counts(fleet)["stream"] > before
    fleet.wait_for(f"it is counted: {what}", counted)
    check(service.poll() is None, f"it died of: {what}")


def test_streams_of_any_form(fleet):
    fleet.announce(0, 1000)
    server = FalseServer(fleet)
    options = ["--stream", server.url, "--metrics", fleet.at(METRICS)]
    service = fleet.serve("a", *options, url=fleet.at("origin"))
    fleet.wait_for("it is followed", lambda: fleet.image_of("a") is not None)
    fleet.wait_for("it is counted", lambda: counts(fleet).get("version") == 1)
    for what, entries in ENTRIES.items():
        server.entries = entries
        fails(fleet, service, what)
        check(denies(fleet, "a"), f"what stood stands after: {what}")
    server.entries = []
    fleet.announce(5, 1005)
    fleet.wait_for("it is well again", lambda: fleet.is_newest("a"))
    for number, (what, entries) in enumerate(LONG.items()):
        server.entries = entries
        fleet.wait_for(f"it is a gap: {what}", lambda: counts(fleet)["gap"] > number)
        check(not denies(fleet, "a"), f"it says maybe: {what}")
        server.entries = []
        fleet.announce(6 + number, 1006 + number)
        fleet.wait_for("it is well again", lambda: denies(fleet, "a"))
    for added in (b"$-1\r\n", b"-ERR no\r\n", b"*1\r\n:1\r\n", b":5\r\n"):
        server.added = added
        fleet.must(["add", NAME, "waits"], "a.seg")
        fails(fleet, service, added)
        status = fleet.must(["status", "--json"], "a.seg").stdout
        check('"outbox_keys": 0' not in status, f"{added}: keys wait")
    server.added = b"$3\r\n1-1\r\n"
    fleet.wait_for("all is sent", lambda: counts(fleet)["keys_sent"] > 0)
    service.terminate()
    check(service.wait() == 0, "SIGTERM ends it")


def test_what_is_said_to_those_who_wait_is_a_signal_alone(fleet):
    fleet.announce(0, 1000)
    server = FalseServer(fleet)
    options = ["--stream", server.url, "--metrics", fleet.at(METRICS)]
    service = fleet.serve("a", *options, url=fleet.at("origin"))
    fleet.wait_for("it is followed", lambda: denies(fleet, "a"))
    said = (b"*-1\r\n", b"-ERR no\r\n", b"*0\r\n*0\r\n", b"hello\r\n", b"*1\r\n", b"x" * 9000000)
    for number, server.waited in enumerate(said):
        fleet.must(["add", NAME, f"key-{number}"], "a.seg")
        sent = lambda: counts(fleet)["keys_sent"] > number
        fleet.wait_for(f"it sends: {server.waited[:9]}", sent)
        check(denies(fleet, "a"), "what stands stands")
    check(counts(fleet)["stream"] == 0, "nothing failed")
    service.terminate()
    check(service.wait() == 0, "SIGTERM ends it")


main(globals())
