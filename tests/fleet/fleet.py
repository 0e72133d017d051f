#!/usr/bin/env python3
"""
fleet.py - publishers and followers of one filter, with a real web server between them.

    tests/fleet/fleet.py BINARY [NAME...]     all tests, or those whose names contain a NAME

Each follower has a segment of its own. An image is told by its partitions: a follower's filter must
at each moment be one that was announced, bit for bit.

Licensed under the MIT licence; see LICENSE.
"""

import glob
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback

PATIENCE_S = 60
NAME = "articles"
NGINX = """daemon off; worker_processes 1; pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{ access_log {folder}/access.log; client_body_temp_path {folder}/t1;
proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3; uwsgi_temp_path {folder}/t4;
scgi_temp_path {folder}/t5;
server {{ listen 127.0.0.1:{port}; root {folder}/origin; default_type text/plain; }} }}
"""


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def tail(path):
    """All of a dump but its header and layers, which tell when it was made."""
    with open(path, "rb") as file:
        data = file.read()
    return data[192 + 64 * struct.unpack_from("<I", data, 92)[0] :]


class Fleet:
    """An origin behind nginx, a publisher's segment, and followers'."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="bloomshm-fleet.", dir="/dev/shm")
        os.chmod(self.folder, 0o755)
        # Whoever may read this folder may read its files: nginx's worker is another user.
        os.mkdir(self.at("origin"))
        os.chmod(self.at("origin"), 0o755)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.children = []
        self.nginx = None
        self.announced = set()
        self.must(["key", self.at("key")])

    def at(self, *parts):
        return os.path.join(self.folder, *parts)

    def read(self, *parts):
        """A file's text; "" if there is none yet."""
        try:
            with open(self.at(*parts)) as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def end(self):
        if self.nginx is not None and self.nginx.poll() is None:
            self.stop_nginx()  # with its worker
        for child in self.children:
            if child.poll() is None:
                child.kill()
                child.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    # -------------------------------------------------------------- the command

    def environment(self, segment):
        return {**os.environ, "BLOOMSHM_PATH": self.at(segment)}

    def run(self, arguments, segment="publisher.seg", prefix=(), text=None):
        return subprocess.run(
            [*prefix, BINARY, *arguments],
            env=self.environment(segment),
            input=text,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )

    def must(self, arguments, segment="publisher.seg", text=None):
        done = self.run(arguments, segment, text=text)
        if done.returncode != 0:
            raise Failed(f"{' '.join(arguments)}: {done.returncode} {done.stderr}")
        return done

    def refused(self, done, words, status=3):
        if done.returncode != status or words not in done.stderr:
            raise Failed(f'not refused with "{words}": {done.returncode} {done.stderr}{done.stdout}')

    def start(self, command, segment=None, **options):
        child = subprocess.Popen(
            command, env=self.environment(segment or "publisher.seg"), **options
        )
        self.children.append(child)
        return child

    # -------------------------------------------------------------- the publisher

    def load(self, first, last, filter_name=NAME):
        keys = "".join(f"{i}\n" for i in range(first, last))
        self.must(["load", filter_name, "--like", "--quiet"], text=keys)

    def publish_command(self, *options, filter_name=NAME):
        key = ["--to", self.at("origin"), "--key", self.at("key"), "--quiet"]
        return ["publish", filter_name, *key, *options]

    def publish(self, *options):
        done = self.must(self.publish_command(*options))
        self.note_announced()
        return done.stdout

    def announce(self, first, last, *options):
        self.load(first, last)
        return self.publish(*options)

    def head(self, filter_name=NAME):
        with open(self.at("origin", filter_name, "head")) as file:
            fields = {}
            for line in file:
                word, rest = line.split(" ", 1)
                fields.setdefault(word, []).append(rest.split())
        return fields

    def blob(self, name):
        return self.at("origin", "blobs", name)

    def note_announced(self):
        image = self.head()["image"][0][0]
        self.announced.add(tail(self.blob(image)))

    # -------------------------------------------------------------- the web server

    def start_nginx(self):
        with open(self.at("nginx.conf"), "w") as file:
            file.write(NGINX.format(folder=self.folder, port=self.port))
        self.nginx = self.start(
            ["nginx", "-e", self.at("error.log"), "-p", self.folder, "-c", self.at("nginx.conf")]
        )
        self.wait_for("nginx answers", self.is_served)

    def is_served(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def stop_nginx(self):
        self.nginx.terminate()
        self.nginx.wait()

    def served(self, path):
        """The statuses with which nginx has answered for a path."""
        log = self.read("access.log")
        return re.findall(rf'"GET [^"]*{re.escape(path)} [^"]*" (\d+)', log)

    def wait_for(self, what, condition):
        end = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > end:
                raise Failed(f"in vain: {what}")
            time.sleep(0.02)

    # -------------------------------------------------------------- followers

    def follow_command(self, host, *options, url=None, filter_name=NAME):
        state = ["--state", self.at(host), "--verify-key", self.at("key.pub")]
        return ["follow", url or self.url, filter_name, *state, *options]

    def look(self, host, *options, url=None, prefix=()):
        """One look."""
        command = self.follow_command(host, "--once", *options, url=url)
        return self.run(command, f"{host}.seg", prefix)

    def follow(self, host, *options, url=None):
        done = self.look(host, *options, url=url)
        if done.returncode != 0:
            raise Failed(f"follow: {done.returncode} {done.stderr}")
        self.check_image(host)
        return done.stdout

    def serve(self, host, *options, url=None):
        """A follower that goes on."""
        log = open(self.at(f"{host}.log"), "a")
        command = self.follow_command(host, "--every", "1", *options, url=url)
        return self.start([BINARY, *command], f"{host}.seg", stdout=log, stderr=log)

    def log(self, host):
        return self.read(f"{host}.log")

    def image_of(self, host):
        """The partitions of a follower's filter; None: it has none."""
        path = self.at(f"{host}.dump")
        done = self.run(["dump", NAME, path], f"{host}.seg")
        return tail(path) if done.returncode == 0 else None

    def check_image(self, host, newest=True):
        image = self.image_of(host)
        if image not in self.announced:
            raise Failed(f"{host} has a filter that was never announced")
        if newest and image != tail(self.blob(self.head()["image"][0][0])):
            raise Failed(f"{host} does not have the newest image")

    def has(self, host, *keys):
        done = self.run(["has", NAME, *map(str, keys)], f"{host}.seg")
        return done.stdout.split()

    def is_newest(self, host):
        return self.image_of(host) == tail(self.blob(self.head()["image"][0][0]))


def check(condition, what):
    if not condition:
        raise Failed(what)


# ------------------------------------------------------------------ what is sent


def test_images_then_deltas_then_nothing(fleet):
    fleet.announce(0, 50000)
    fleet.start_nginx()
    check("by its image" in fleet.follow("a"), "the first image")
    fleet.announce(500, 50500)
    said = fleet.follow("a")
    check("by 1 delta," in said, said)
    delta = fleet.head()["delta"][0]
    check(int(delta[1]) < int(fleet.head()["image"][0][1]) / 3, "a delta is short")
    check(fleet.has("a", 50499, 100) == ["50499"], "the new keys, not the old ones")
    check(fleet.follow("a") == "", "the third look has nothing to do")
    check(fleet.served(fleet.head()["image"][0][0]) == [], "the second image was never sent")


def test_a_follower_that_was_away_takes_the_way_of_fewest_bytes(fleet):
    fleet.announce(0, 50000)
    fleet.start_nginx()
    fleet.follow("a")
    for i in range(1, 8):
        fleet.announce(50 * i, 50000 + 50 * i)
    said = fleet.follow("a")
    sent = int(re.search(r"by (\d+) delta", said)[1])
    check(2 <= sent <= 5, f"a delta of four versions is among them: {said}")
    fleet.announce(30000, 80000, "--max-change", "100")
    check("by its image" in fleet.follow("a") or "delta" in said, "whatever is shorter")


def test_an_unchanged_filter_is_announced_again(fleet):
    fleet.announce(0, 1000)
    version = fleet.head()["version"]
    blobs = os.listdir(fleet.at("origin", "blobs"))
    check("no bit has changed" in fleet.publish("--valid", "100"), "it says so")
    check(fleet.head()["version"] == version, "the version stands")
    check(fleet.head()["valid-until"] != [["0"]], "the head is new")
    check(os.listdir(fleet.at("origin", "blobs")) == blobs, "no blob is left")


def test_a_new_seed_is_a_new_image(fleet):
    fleet.announce(0, 1000)
    fleet.start_nginx()
    fleet.follow("a")
    fleet.must(["load", NAME, "--quiet"], text="".join(f"{i}\n" for i in range(1000)))
    fleet.publish()
    check("delta" not in fleet.head(), "no delta between two seeds")
    check("by its image" in fleet.follow("a"), "an image")


def test_kinds_that_have_no_deltas_travel_whole(fleet):
    fleet.start_nginx()
    for kind in (["--counting"], ["--window", "3600"]):
        fleet.must(["reserve", NAME, "--capacity", "1000", "--filter-memory", "8M", *kind])
        for key in ("x", "y"):
            fleet.must(["add", NAME, key])
            fleet.must(fleet.publish_command("--max-change", "100"))
            done = fleet.look("a")
            check("by its image" in done.stdout, f"{kind}: {done.stdout}{done.stderr}")
        check(fleet.has("a", "x", "y", "z") == ["x", "y"], kind)
        fleet.must(["drop", NAME])


def test_names_of_any_bytes(fleet):
    name = "a/b c\u00e9%2F.."
    fleet.must(["load", name, "--quiet"], text="x\n")
    fleet.must(fleet.publish_command(filter_name=name))
    fleet.start_nginx()
    check(os.path.isdir(fleet.at("origin", "a=2fb=20c=c3=a9=252F..")), "a part of a path")
    fleet.must(fleet.follow_command("a", "--once", filter_name=name), "a.seg")
    check(fleet.run(["has", name, "x", "y"], "a.seg").stdout == "x\n", "it is followed")


def test_a_folder_is_an_origin(fleet):
    fleet.announce(0, 1000)
    fleet.follow("a", url=fleet.at("origin"))
    fleet.follow("b", url="file://" + fleet.at("origin"))


# ------------------------------------------------------------------ what is refused


def test_empty_filters_bad_rates_and_great_changes_are_not_announced(fleet):
    fleet.must(["reserve", NAME, "--capacity", "1000", "--filter-memory", "8M"])
    fleet.refused(fleet.run(fleet.publish_command()), "has no keys")
    fleet.announce(0, 1000)
    fleet.refused(fleet.run(fleet.publish_command("--max-error-rate", "1e-9")), "error rate")
    fleet.load(500, 1500)
    fleet.refused(fleet.run(fleet.publish_command()), "of the keys")
    fleet.refused(fleet.run(["publish", "nothing", *fleet.publish_command()[2:]]), "nothing")
    check(fleet.head()["version"] == [["1"]], "version 1 stands")
    fleet.publish("--max-change", "100")
    check(fleet.head()["version"] == [["2"]], "and then 2")


def refuses(fleet, words):
    """The follower takes nothing, and what it has stands."""
    fleet.refused(fleet.look("a"), words)
    check(fleet.has("a", 1, 2, "x") == ["1", "2"], "what stood stands")


def test_hostile_heads_are_refused(fleet):
    fleet.announce(0, 1000)
    fleet.start_nginx()
    fleet.follow("a")
    head = fleet.at("origin", NAME, "head")
    with open(head, "rb") as file:
        first = file.read()
    fleet.announce(5, 1005)
    fleet.follow("a")
    fleet.announce(0, 1000)
    with open(head, "rb") as file:
        sound = file.read()
    fleet.must(["key", fleet.at("other")])
    hostile = {
        "version is 1, after 2": first,
        "has more than 4096 bytes": sound + b"\n" * 4096,
        "signature": sound.replace(b"version 3", b"version 4"),
        "no signature": sound[: len(sound) // 2],
        "it is no head": b"",
    }
    for words, text in hostile.items():
        with open(head, "wb") as file:
            file.write(text)
        fleet.refused(fleet.look("a"), words)
        check(fleet.has("a", 1004, 1) == ["1004"], f"version 2 stands after: {words}")
    with open(head, "wb") as file:
        file.write(sound)
    fleet.follow("a")
    fleet.must(["load", "other", "--quiet"], text="x\n")
    fleet.must(fleet.publish_command(filter_name="other"))
    shutil.copy(fleet.at("origin", "other", "head"), head)
    os.chmod(head, 0o644)
    fleet.refused(fleet.look("a"), "other")
    os.replace(fleet.at("other.pub"), fleet.at("key.pub"))
    fleet.refused(fleet.look("b"), "signature")


def test_garbage_is_refused_and_not_fetched_again(fleet):
    fleet.announce(0, 20000)
    fleet.start_nginx()
    fleet.follow("a")
    fleet.announce(100, 20100)
    image, delta = fleet.head()["image"][0], fleet.head()["delta"][0]
    sound = {}
    for name, size in ((image[0], image[1]), (delta[0], delta[1])):
        with open(fleet.blob(name), "rb") as file:
            sound[name] = file.read()
        with open(fleet.blob(name), "wb") as file:
            file.write(os.urandom(int(size)))
    service = fleet.serve("a")
    fleet.wait_for("both are refused", lambda: "refused already" in fleet.log("a"))
    check(fleet.served(image[0]) == ["200"], "the image was fetched once")
    check(fleet.served(delta[0]) == ["200"], "the delta was fetched once")
    fleet.check_image("a", newest=False)
    for name, data in sound.items():
        with open(fleet.blob(name), "wb") as file:
            file.write(data)
    fleet.publish()  # signed again: they may be tried again
    fleet.wait_for("it is well again", lambda: fleet.is_newest("a"))
    service.terminate()
    check(service.wait() == 0, "SIGTERM ends it")
    # A delta alone: the image is taken instead.
    fleet.announce(200, 20200)
    with open(fleet.blob(fleet.head()["delta"][0][0]), "r+b") as file:
        file.truncate(10)
    check("by its image" in fleet.follow("a"), "the image instead")


def test_an_old_head_and_an_expired_one(fleet):
    fleet.announce(0, 1000, "--valid", "3600")
    fleet.start_nginx()
    fleet.follow("a")
    if shutil.which("faketime") is None or "asan" in BINARY:
        raise Skipped("no faketime")
    fleet.refused(fleet.look("a", prefix=["faketime", "-f", "+2h"]), "expired")
    fleet.refused(fleet.look("b", prefix=["faketime", "-f", "+2h"]), "expired")
    fleet.announce(10, 1010)
    behind = fleet.look("a", prefix=["faketime", "-f", "-1h"])
    check(behind.returncode == 0, f"a clock an hour behind: {behind.stderr}")
    fleet.check_image("a")
    # A publisher whose clock was set back.
    fleet.load(20, 1020)
    done = fleet.run(fleet.publish_command(), prefix=["faketime", "-f", "-1h"])
    check(done.returncode == 0, done.stderr)
    fleet.note_announced()
    fleet.follow("a")


def test_a_full_disk(fleet):
    fleet.announce(0, 100000)
    fleet.start_nginx()
    fleet.follow("a")
    fleet.announce(5000, 105000)
    room = os.path.getsize(fleet.blob(fleet.head()["image"][0][0])) + 60000
    os.rename(fleet.at("a"), fleet.at("kept"))
    os.mkdir(fleet.at("a"), 0o700)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={room},mode=700", "none", fleet.at("a")],
        capture_output=True,
    )
    if mounted.returncode != 0:
        raise Skipped("mounts are not allowed here")
    try:
        shutil.copytree(fleet.at("kept"), fleet.at("a"), dirs_exist_ok=True)
        done = fleet.look("a")
        fleet.refused(done, "No space left")
        fleet.check_image("a", newest=False)
        parts = [n for n in os.listdir(fleet.at("a", "blobs")) if n.startswith(".")]
        check(parts == [], f"nothing is left: {parts}")
        subprocess.run(["mount", "-o", "remount,size=64m", fleet.at("a")], check=True)
        fleet.follow("a")
    finally:
        subprocess.run(["umount", fleet.at("a")], check=True)


def test_state_folders(fleet):
    fleet.announce(0, 1000)
    fleet.start_nginx()
    fleet.follow("a")
    service = fleet.serve("a")
    fleet.wait_for("it looks", lambda: len(fleet.served(f"/{NAME}/head")) > 1)
    fleet.refused(fleet.look("a"), "another follower")
    service.terminate()
    service.wait()
    os.chmod(fleet.at("a"), 0o777)
    fleet.refused(fleet.look("a"), "not trusted")
    os.chmod(fleet.at("a"), 0o700)
    os.rename(fleet.at("a"), fleet.at("b"))
    os.symlink("b", fleet.at("a"))
    fleet.refused(fleet.look("a"), "a: Not a directory")
    os.unlink(fleet.at("a"))
    os.rename(fleet.at("b"), fleet.at("a"))
    image = fleet.at("a", "blobs", fleet.head()["image"][0][0])
    with open(image, "r+b") as file:  # what was kept is damaged: it is fetched again
        file.seek(5000)
        file.write(b"damage")
    os.unlink(fleet.at("a.seg"))
    check("by its image" in fleet.follow("a"), "a damaged image")
    os.unlink(image)
    fleet.announce(2, 1002)
    check("by its image" in fleet.follow("a"), "a missing image")
    with open(fleet.at("a", NAME, "head"), "r+b") as file:
        file.write(b"x")
    fleet.announce(5, 1005)
    done = fleet.look("a")
    check(done.returncode == 0 and "cannot be used" in done.stderr, done.stderr)
    fleet.check_image("a")


# ------------------------------------------------------------------ what goes back


def test_a_pin_leads_back_and_stays(fleet):
    fleet.announce(0, 20000)
    fleet.start_nginx()
    fleet.follow("a")
    first = fleet.image_of("a")
    fleet.announce(100, 20100)
    fleet.follow("a")
    fleet.publish("--pin", "1")
    check("by 1 delta," in fleet.follow("a"), "back by the delta that led there")
    check(fleet.image_of("a") == first, "it is the first image")
    fleet.load(200, 20200)
    fleet.refused(fleet.run(fleet.publish_command()), "pinned")
    fleet.publish("--unpin")
    fleet.follow("a")
    check(fleet.has("a", 20199) == ["20199"], "forward again")
    fleet.refused(fleet.run(fleet.publish_command("--pin", "99")), "not kept")


# ------------------------------------------------------------------ two publishers


def test_a_publisher_that_was_stopped_is_fenced(fleet):
    fleet.announce(0, 1000)
    fleet.load(5, 1005)
    # It stops when it has begun, and given the lock back.
    trace = ["strace", "-f", "-qq", "-o", fleet.at("trace"), "-e", "trace=flock"]
    inject = ["-e", "inject=flock:signal=STOP:when=2"]
    log = open(fleet.at("stopped.log"), "w")
    stopped = fleet.start([*trace, *inject, BINARY, *fleet.publish_command()], stderr=log)
    fleet.wait_for("it is stopped", lambda: "SIGSTOP" in fleet.read("trace"))
    version = fleet.head()["version"]
    fleet.publish("--epoch", "2", "--max-change", "100")
    check(fleet.head()["epoch"] == [["2"]] and fleet.head()["version"] != version, "taken over")
    with open(fleet.at("origin", NAME, "head")) as file:
        head = file.read()
    pid = int(re.match(r"\d+", fleet.read("trace"))[0])
    os.kill(pid, signal.SIGCONT)
    check(stopped.wait() == 3, "it is refused")
    said = fleet.read("stopped.log")
    check("taken over" in said, said)
    with open(fleet.at("origin", NAME, "head")) as file:
        check(file.read() == head, "the head stands")
    fleet.refused(fleet.run(fleet.publish_command("--epoch", "1")), "too low")


# ------------------------------------------------------------------ deaths

STEPS = "openat,write,fsync,rename,renameat,unlink,unlinkat,fchmod,mkdirat,flock,utimensat"


def killed(fleet, arguments, segment, step):
    """Runs until its next system call of STEPS has been made `step` times; was it killed?"""
    kill = ["-e", f"inject={STEPS}:signal=KILL:when={step}"]
    prefix = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={STEPS}", *kill]
    return fleet.run(arguments, segment, prefix).returncode != 0


def steps_of(fleet, arguments, segment):
    trace = fleet.at("trace")
    prefix = ["strace", "-f", "-qq", "-o", trace, "-e", f"trace={STEPS}"]
    fleet.run(arguments, segment, prefix)
    with open(trace) as file:
        return sum("(" in line for line in file)


def test_a_publisher_that_dies_announces_all_or_nothing(fleet):
    fleet.announce(0, 1000)
    fleet.load(1, 1001)
    count = steps_of(fleet, fleet.publish_command(), "publisher.seg")
    fleet.note_announced()
    fleet.start_nginx()
    fleet.follow("a")
    first, deaths = 2, 0
    for step in range(12, count + 4, max(1, count // 40)):
        fleet.load(first, first + 1000)
        deaths += killed(fleet, fleet.publish_command(), "publisher.seg", step)
        fleet.note_announced()
        fleet.follow("a")
        first += 1
    check(deaths > 20, f"it died {deaths} times")
    fleet.announce(first, first + 1000)
    fleet.follow("a")


def test_a_follower_that_dies_has_an_announced_image(fleet):
    fleet.announce(0, 1000)
    fleet.start_nginx()
    fleet.follow("a")
    fleet.announce(1, 1001)
    command = fleet.follow_command("a", "--once")
    count = steps_of(fleet, command, "a.seg")
    away = fleet.follow_command("a", "--once", url=fleet.at("nowhere"))
    os.mkdir(fleet.at("nowhere"))
    first, deaths = 2, 0
    for step in range(12, count + 4, max(1, count // 40)):
        fleet.announce(first, first + 1000)
        first += 1
        if not killed(fleet, command, "a.seg", step):
            continue
        deaths += 1
        fleet.check_image("a", newest=False)
        if deaths % 2 == 0:  # a reboot: what it kept is enough
            os.unlink(fleet.at("a.seg"))
            fleet.refused(fleet.run(away, "a.seg"), "cannot fetch")
            fleet.check_image("a", newest=False)
        fleet.follow("a")
    check(deaths > 20, f"it died {deaths} times")
    blobs = len(os.listdir(fleet.at("a", "blobs")))
    check(blobs <= 2 + len(fleet.head()["delta"]), f"{blobs} blobs are kept")


# ------------------------------------------------------------------ the service


def lag(fleet, host):
    done = fleet.run(["info", NAME, "--json"], f"{host}.seg")
    match = re.search(r'"lag": ([0-9.]+)', done.stdout)
    return float(match[1]) if match else None


def denies(fleet, host):
    return fleet.has(host, "absent-1", "absent-2", "absent-3", "500") == ["500"]


def test_a_dead_origin_makes_maybes(fleet):
    fleet.announce(0, 1000)
    fleet.start_nginx()
    fleet.serve("a", "--max-lag", "3")
    fleet.wait_for("it is followed", lambda: denies(fleet, "a"))
    fleet.stop_nginx()
    fleet.wait_for("it is stale", lambda: not denies(fleet, "a"))
    fleet.start_nginx()
    fleet.wait_for("it is certain again", lambda: denies(fleet, "a"))
    check("all is well again" in fleet.log("a"), fleet.log("a"))


def test_a_segment_that_was_removed_is_made_again(fleet):
    fleet.announce(0, 1000)
    fleet.start_nginx()
    fleet.serve("a")
    fleet.wait_for("it is followed", lambda: denies(fleet, "a"))
    os.unlink(fleet.at("a.seg"))
    fleet.wait_for("it is there again", lambda: fleet.has("a", 1, "absent") == ["1"])
    fleet.must(["drop", NAME], "a.seg")
    fleet.wait_for("and again", lambda: fleet.has("a", 1, "absent") == ["1"])


def test_followers_of_a_follower(fleet):
    fleet.announce(0, 20000)
    fleet.start_nginx()
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    fleet.serve("a", "--serve", f"127.0.0.1:{port}", "--max-lag", "3")
    fleet.wait_for("the first one has it", lambda: denies(fleet, "a"))
    fleet.serve("b", "--max-lag", "3", url=url)
    fleet.wait_for("the second one has it", lambda: denies(fleet, "b"))
    fleet.announce(100, 20100)
    fleet.wait_for("the second one has the next", lambda: fleet.is_newest("b"))
    check("by 1 delta," in fleet.log("b"), fleet.log("b"))
    for path in ("/", "/blobs", "/blobs/", "/../key", "/a/../../key", f"/{NAME}/head-1", "/x/head"):
        said = subprocess.run(
            ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--path-as-is", url + path],
            capture_output=True,
            text=True,
        )
        check(said.stdout == "404", f"{path}: {said.stdout}")
    said = subprocess.run(
        ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-d", "x", f"{url}/{NAME}/head"],
        capture_output=True,
        text=True,
    )
    check(said.stdout == "405", f"POST: {said.stdout}")
    # The origin is gone, the first one is not: but it says how old what it says is.
    fleet.stop_nginx()
    fleet.wait_for("the second one is stale", lambda: not denies(fleet, "b"))


def test_a_random_wait(fleet):
    fleet.announce(0, 1000, "--spread", "1")
    fleet.start_nginx()
    fleet.follow("a")


def test_systemd_is_told(fleet):
    fleet.announce(0, 1000)
    fleet.start_nginx()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener.settimeout(PATIENCE_S)
    listener.bind(fleet.at("notify"))
    os.environ["NOTIFY_SOCKET"] = fleet.at("notify")
    service = fleet.serve("a")
    del os.environ["NOTIFY_SOCKET"]
    check(listener.recv(100) == b"READY=1", "ready")
    check(listener.recv(100) == b"STATUS=all filters are followed", "status")
    service.terminate()
    check(service.wait() == 0, "it ends")
    listener.close()


# ------------------------------------------------------------------ adds


class Stream:
    """A Redis, and two followers of it."""

    def __init__(self, fleet):
        self.fleet = fleet
        self.url = "unix://" + fleet.at("redis")
        self.start()

    def start(self):
        socket_path = ["--port", "0", "--unixsocket", self.fleet.at("redis"), "--save", ""]
        self.redis = self.fleet.start(["redis-server", *socket_path], stdout=subprocess.DEVNULL)
        self.fleet.wait_for("redis answers", lambda: self.command("ping") == "PONG")

    def command(self, *words):
        command = ["redis-cli", "-s", self.fleet.at("redis"), *words]
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()

    def stop(self):
        self.redis.kill()
        self.redis.wait()

    def follow(self, host, *options):
        return self.fleet.serve(host, "--stream", self.url, *options, url=self.fleet.at("origin"))

    def mark(self):
        return self.fleet.must(["publish", NAME, "--mark", "--stream", self.url]).stdout[:-1]

    def add(self, host, *keys):
        self.fleet.must(["add", NAME, *keys], f"{host}.seg")

    def arrives(self, host, *keys):
        self.fleet.wait_for(
            f"{keys} on {host}", lambda: self.fleet.has(host, *keys, "no such") == list(keys)
        )


def two_followers(fleet):
    fleet.announce(0, 1000)
    stream = Stream(fleet)
    stream.follow("a")
    stream.follow("b")
    for host in "ab":
        fleet.wait_for("it is followed", lambda: denies(fleet, host))
    return stream


def test_an_add_is_seen_on_all_hosts(fleet):
    stream = two_followers(fleet)
    stream.add("a", "one", "k" * 4000)
    stream.arrives("b", "one", "k" * 4000)
    stream.add("b", "two")
    stream.arrives("a", "two")
    check(stream.command("xlen", "bloomshm:adds:" + NAME) == "3", "no key is sent back")
    stream.follow("c")  # one that begins later
    stream.arrives("c", "one", "two")


def test_adds_are_in_the_next_version(fleet):
    stream = two_followers(fleet)
    stream.add("a", "before")
    stream.arrives("b", "before")
    mark = stream.mark()
    stream.add("a", "after")
    stream.arrives("b", "after")
    fleet.announce(10, 1010)  # a batch that has neither; its mark is the last head's
    for host in "ab":
        fleet.wait_for("version 2", lambda: fleet.has(host, "1009") == ["1009"])
        stream.arrives(host, "before", "after")
    fleet.announce(20, 1020, "--adds-after", mark, "--stream", stream.url)
    for host in "ab":
        fleet.wait_for("version 3", lambda: fleet.has(host, "1019") == ["1019"])
        stream.arrives(host, "after")
        check(fleet.has(host, "before") == [], "what the batch was to have is the batch's")


def test_a_pin_has_the_adds_since_its_image(fleet):
    stream = Stream(fleet)
    marked = ["--stream", stream.url, "--adds-after"]
    fleet.announce(0, 1000, *marked, stream.mark())
    stream.follow("a")
    fleet.wait_for("it is followed", lambda: denies(fleet, "a"))
    stream.add("a", "new")
    fleet.wait_for("it is sent", lambda: stream.command("xlen", "bloomshm:adds:" + NAME) == "2")
    for i in range(2):
        keys = "".join(f"{i}\n" for i in ["new", f"{i}x", *range(1000)])
        fleet.must(["load", NAME, "--like", "--quiet"], text=keys)
        fleet.publish(*marked, stream.mark())
    fleet.publish("--pin", "1", "--stream", stream.url)
    fleet.wait_for("the pin", lambda: "published version 4" in fleet.log("a"))
    stream.arrives("a", "new")
    check(fleet.has("a", "0x", "1x") == [], "of the batches after it there is nothing")


def test_adds_wait_for_a_follower_and_a_stream_that_are_away(fleet):
    fleet.announce(0, 1000)
    stream = Stream(fleet)
    follower = stream.follow("a")
    fleet.wait_for("it is followed", lambda: denies(fleet, "a"))
    follower.kill(), follower.wait()
    stream.add("a", "alone")
    stream.follow("b")
    fleet.wait_for("it is followed", lambda: denies(fleet, "b"))
    stream.follow("a")
    stream.arrives("b", "alone")


def test_a_stream_that_was_begun_anew_makes_maybes(fleet):
    stream = two_followers(fleet)
    stream.add("a", "lost")
    stream.arrives("b", "lost")
    stream.stop()
    stream.add("a", "kept")
    check(fleet.has("a", "kept", "lost", "no such") == ["kept", "lost"], "what is there stands")
    stream.start()  # with no data
    for host in "ab":
        fleet.wait_for("it is stale", lambda: not denies(fleet, host))
    check("may be missing" in fleet.log("b"), fleet.log("b"))
    fleet.announce(10, 1010, "--adds-after", stream.mark())
    for host in "ab":
        fleet.wait_for("it is certain again", lambda: denies(fleet, host))
    stream.add("a", "later")
    stream.arrives("b", "later")


def test_a_stream_that_is_away_makes_a_lag(fleet):
    fleet.announce(0, 1000)
    stream = Stream(fleet)
    stream.follow("a", "--max-lag", "3")
    fleet.wait_for("it is followed", lambda: denies(fleet, "a"))
    stream.redis.send_signal(signal.SIGSTOP)
    fleet.wait_for("it is stale", lambda: not denies(fleet, "a"))
    stream.redis.send_signal(signal.SIGCONT)
    fleet.wait_for("it is certain again", lambda: denies(fleet, "a"))


def test_more_adds_than_the_outbox_holds_are_told(fleet):
    fleet.announce(0, 1000)
    stream = Stream(fleet)
    follower = stream.follow("a")
    fleet.wait_for("it is followed", lambda: denies(fleet, "a"))
    follower.send_signal(signal.SIGSTOP)
    fleet.must(["add", NAME], "a.seg", text="".join(f"many-{i}\n" for i in range(20000)))
    check(len(fleet.has("a", *[f"many-{i}" for i in range(0, 20000, 100)])) == 200, "all are here")
    follower.send_signal(signal.SIGCONT)
    fleet.wait_for("it says so", lambda: "were not sent" in fleet.log("a"))


def test_wrong_streams_and_marks(fleet):
    fleet.announce(0, 1000)
    mark = ["publish", NAME, "--mark", "--stream"]
    fleet.refused(fleet.run([*mark, "rediss://127.0.0.1"]), "a stream is redis://")
    fleet.refused(fleet.run([*mark, "unix://" + fleet.at("none")]), "cannot reach the stream")
    fleet.refused(fleet.run(["publish", NAME, "--mark"]), "--stream", status=2)
    fleet.refused(fleet.run(fleet.publish_command("--adds-after", "5")), "--mark", status=2)
    done = fleet.look("a", "--stream", "unix://" + fleet.at("none"), url=fleet.at("origin"))
    fleet.refused(done, "cannot reach the stream")
    check(fleet.image_of("a") is None, "a filter that may lack adds is not published")


# ------------------------------------------------------------------ all of them


def run(name, function):
    fleet = Fleet()
    try:
        function(fleet)
        print(f"ok - {name}", flush=True)
        return True
    except Skipped as skipped:
        print(f"skipped - {name}: {skipped}", flush=True)
        return None
    except Failed as failed:
        print(f"not ok - {name}\n# {failed}", flush=True)
    except Exception:  # a test that cannot go on has failed
        lines = traceback.format_exc().splitlines()
        print("\n# ".join([f"not ok - {name}", *lines]), flush=True)
    finally:
        for log in glob.glob(fleet.at("*.log")) if os.environ.get("FLEET_LOGS") else []:
            print(open(log).read())
        fleet.end()
    return False


def main():
    global BINARY
    BINARY = os.path.abspath(sys.argv[1])
    wanted = sys.argv[2:]
    tests = [(n[5:].replace("_", " "), f) for n, f in globals().items() if n.startswith("test_")]
    results = [
        run(name, function)
        for name, function in tests
        if not wanted or any(part in name for part in wanted)
    ]
    good, bad = results.count(True), results.count(False)
    print(f"{good} passed, {bad} failed")
    sys.exit(bad != 0 or good == 0)


main()
