#!/usr/bin/env python3
"""
web.py - publishers that write to a web server: one that takes conditions and signatures as S3 does,
and fails on demand (store.py); and nginx.

    tests/fleet/web.py BINARY [NAME...]     all tests, or those whose names contain a NAME

Licensed under the MIT licence; see LICENSE.
"""

import os
import re
import shutil
import signal
import subprocess

from hosts import NAME, BINARY, PATIENCE_S, check, free_port, main, make_authority
from store import ID, REGION, SECRET, TOKEN, Store
from stream import Stream

HEAD = f"/{NAME}/head"
TURN = f"bloomshm:turn:{NAME}"


class Site:
    """A store, and publishers on hosts of their own, each with its copy and its segment."""

    def __init__(self, fleet, **options):
        self.fleet = fleet
        self.store = Store(fleet.at("origin"), **options)
        self.url = self.store.url

    def command(self, *options, host="copy"):
        place = ["--to", self.url, "--state", self.fleet.at(host)]
        return self.fleet.publish_command(*place, *options)

    def load(self, first, host="copy"):
        keys = "".join(f"{i}\n" for i in range(first, first + 20000))
        self.fleet.must(["load", NAME, "--like", "--quiet"], f"{host}.seg", text=keys)

    def run(self, *options, host="copy", prefix=()):
        return self.fleet.run(self.command(*options, host=host), f"{host}.seg", prefix)

    def publish(self, *options, host="copy"):
        done = self.run(*options, host=host)
        check(done.returncode == 0, f"{done.returncode} {done.stderr}")
        self.fleet.note_announced()
        return done.stdout

    def announce(self, first, *options, host="copy"):
        self.load(first, host)
        return self.publish(*options, host=host)

    def follow(self, host):
        return self.fleet.follow(host, url=self.url)

    def version(self):
        return int(self.fleet.head()["version"][0][0])

    def blobs(self):
        return set(os.listdir(self.fleet.at("origin", "blobs")))


def has_only(fleet, first):
    """Does it have the keys of site.load(first), and not their neighbours, but one in 800?"""
    keys = [first, first + 19999]
    others = [first - i for i in range(1, 9)] + [first + 20000 + i for i in range(8)]
    return fleet.has("a", *keys) == [str(key) for key in keys] and len(fleet.has("a", *others)) <= 4


def environment(**variables):
    return ["env", *(f"{name}={value}" for name, value in variables.items())]


def test_blobs_then_the_head_last(fleet):
    site = Site(fleet)
    site.announce(0)
    log = site.store.written()
    check([path.split("/")[1] for path in log] == [NAME, "blobs", NAME], f"{log}")
    check(log[-1] == HEAD, "the head is the last")
    check("by its image" in site.follow("a"), "an image")
    site.store.reset()
    check("delta" in site.announce(100), "a delta")
    log = site.store.written()
    blobs = [path for path in log if path.startswith("/blobs/")]
    check(len(blobs) == 2 and log == [*blobs, f"{HEAD}-1", HEAD], f"{log}")
    check("by 1 delta," in site.follow("a"), "it travels")
    site.store.reset()
    check("no bit has changed" in site.publish("--valid", "60"), "announced again")
    check(site.store.written() == [f"{HEAD}-2", HEAD], f"{site.store.written()}")
    for i in range(2, 5):
        site.announce(100 * i)
    site.store.reset()
    site.publish("--pin", "2")
    check([p for p in site.store.written() if "blobs" in p] == [], "what is there is not put again")
    site.follow("a")
    check(has_only(fleet, 100), "back at version 2")
    fleet.refused(site.run(), "pinned")
    site.publish("--unpin")
    site.follow("a")


def test_a_copy_that_was_lost(fleet):
    site = Site(fleet)
    site.announce(0)
    site.announce(100)
    shutil.rmtree(fleet.at("copy"))
    check("delta" in site.announce(200), "the last image was fetched for it")
    check(len(fleet.head()["delta"]) == 2, "the deltas from before are named still")
    shutil.rmtree(fleet.at("copy"))
    os.unlink(fleet.blob(fleet.head()["image"][0][0]))
    check("delta" not in site.announce(300), "without it there is none")
    site.follow("a")


def age(fleet, host):
    """Two hours pass for what is in a copy."""
    for name in os.listdir(fleet.at(host, "blobs")):
        path = fleet.at(host, "blobs", name)
        os.utime(path, (os.path.getmtime(path) - 7200,) * 2)


def named_by(fleet, *heads):
    """The blobs that these heads name."""
    texts = "".join(fleet.read("origin", NAME, head) for head in heads)
    return set(re.findall(r"\b[0-9a-f]{64}\b", texts))


def test_what_no_head_names_is_removed(fleet):
    site = Site(fleet)
    site.announce(0, "--keep", "2")
    first = site.blobs()
    for i in range(1, 4):
        site.announce(30000 * i, "--keep", "2", "--max-change", "1000000")
    check(first < site.blobs(), "not before an hour has passed")
    age(fleet, "copy")
    site.announce(200000, "--keep", "2", "--max-change", "1000000")
    check(not first & site.blobs(), "and then it goes")
    heads = set(os.listdir(fleet.at("origin", NAME)))
    check(heads == {"head", "head-3", "head-4", "publisher"}, f"{heads}")
    named = named_by(fleet, *heads)
    check(named <= site.blobs(), "all that is named is there")
    # A new host does not have the blobs, but it knows of them.
    site.announce(300000, "--keep", "2", "--max-change", "1000000", host="other")
    for i in range(11, 14):
        age(fleet, "other")
        site.announce(30000 * i, "--keep", "2", "--max-change", "1000000", host="other")
    check(not named & site.blobs(), "and removes them")
    heads = os.listdir(fleet.at("origin", NAME))
    check(site.blobs() >= named_by(fleet, *heads), "all that is named is there")
    site.follow("a")


def test_a_head_that_the_server_has_lost(fleet):
    """Followers have seen it: its number is not given to another image."""
    site = Site(fleet)
    site.announce(0)
    older = fleet.read("origin", NAME, "head")
    site.announce(100)
    site.follow("a")
    with open(fleet.at("origin", NAME, "head"), "w") as head:
        head.write(older)
    site.announce(200)
    check(site.version() == 3, "version 2 is passed over")
    site.follow("a")
    os.unlink(fleet.at("origin", NAME, "head"))
    site.announce(300)
    check(site.version() == 4, "and version 3")
    site.follow("a")


def test_what_a_publisher_that_died_has_announced_stays(fleet):
    """Also if its copy serves another filter next."""
    site = Site(fleet)
    site.announce(0)
    site.load(100)
    publisher = []

    def kill(number, method, path):
        if method == "PUT" and path == HEAD:
            publisher[0].kill()
            publisher[0].wait()

    site.store.reset(None, kill)
    with site.store.lock:
        publisher.append(fleet.start([BINARY, *site.command()], "copy.seg"))
    publisher[0].wait()
    site.store.reset()
    check(site.version() == 2, "it was the last step")
    age(fleet, "copy")
    fleet.must(["load", "other", "--quiet"], "copy.seg", text="x\n")
    fleet.must(["publish", "other", *site.command()[2:]], "copy.seg")
    check(named_by(fleet, "head") <= site.blobs(), "all that is named is there")
    check_origin(site)


def test_a_copy_is_of_one_server(fleet):
    site = Site(fleet)
    site.announce(0)
    os.mkdir(fleet.at("another"))
    there, here = Store(fleet.at("another")).url, site.url
    site.url = there
    fleet.refused(site.run(), f"has the copy of {here}")
    check(os.listdir(fleet.at("another")) == [], "nothing was put")
    site.url = here
    site.announce(100)
    shutil.rmtree(fleet.at("copy"))
    site.url = there
    check(site.run().returncode == 0, "an empty one takes any")


def test_a_load_that_is_announced(fleet):
    site = Site(fleet)
    place = ["--publish", site.url, "--state", fleet.at("copy"), "--key", fleet.at("key")]
    load = ["load", NAME, "--like", "--quiet", *place]
    for first in (0, 10):
        fleet.must(load, text="".join(f"{i}\n" for i in range(first, first + 1000)))
        fleet.note_announced()
        site.follow("a")
    fleet.refused(fleet.run(load[:6] + load[8:], text="x\n"), "needs --state", status=2)


# ------------------------------------------------------------------ who may write


def test_signatures(fleet):
    site = Site(fleet, signed=True)
    site.load(0)
    keys = {"AWS_ACCESS_KEY_ID": ID, "AWS_SECRET_ACCESS_KEY": SECRET}
    keys |= {"AWS_REGION": REGION, "AWS_SESSION_TOKEN": TOKEN}
    sound = environment(**keys)
    fleet.refused(site.run(), "the server says 403 (SignatureDoesNotMatch)")
    for name in keys:
        done = site.run(prefix=environment(**{**keys, name: "wrong"}))
        fleet.refused(done, "the server says 403 (SignatureDoesNotMatch)")
        check(SECRET not in done.stderr and TOKEN not in done.stderr, "no secret is told")
    done = site.run(prefix=["env", "AWS_ACCESS_KEY_ID=x"])
    fleet.refused(done, "AWS_SECRET_ACCESS_KEY is not")
    for first in (0, 100, 200):
        site.load(first)
        done = site.run(prefix=sound)
        check(done.returncode == 0, done.stderr)
        fleet.note_announced()
    check(len(fleet.head()["delta"]) == 2, "deltas too")
    site.follow("a")
    odd = "a/b c\u00e9%2F..="
    fleet.must(["load", odd, "--quiet"], "copy.seg", text="x\n")
    command = ["publish", odd, *site.command()[2:]]
    done = fleet.run(command, "copy.seg", sound)
    check(done.returncode == 0, done.stderr)
    check(os.path.isfile(fleet.at("origin", "a=2fb=20c=c3=a9=252F..=3d", "head")), "its name")
    for path in ("env=prod", "a+b,c@d;e:f&g!'()*$[]", "%c3%a9%7e%61%20", "\u00e9"):
        site.url = f"{site.store.url}/{path}"
        shutil.rmtree(fleet.at("copy"))
        done = site.run(prefix=sound)
        check(done.returncode == 0, f"{path}: {done.stderr}")


def test_passwords(fleet):
    site = Site(fleet, password="who:a secret")
    site.load(0)
    fleet.refused(site.run(), "the server says 401")
    site.url = site.url.replace("//", "//who:a%20secret@")
    done = site.run()
    check(done.returncode == 0, done.stderr)
    fleet.note_announced()
    fleet.refused(site.run("--epoch", "0"), "--epoch", status=2)
    site.store.password = "who:another"
    site.load(100)
    done = site.run()
    fleet.refused(done, "the server says 401")
    check("secret" not in done.stderr, done.stderr)
    site.url = site.store.url
    with open(fleet.at(".netrc"), "w") as file:
        file.write("machine 127.0.0.1 login who password another\n")
    done = site.run(prefix=environment(HOME=fleet.folder))
    check(done.returncode == 0, done.stderr)


def test_wrong_options(fleet):
    fleet.load(0, 1000)
    to = lambda *words: fleet.run(fleet.publish_command(*words))
    state = ["--state", fleet.at("copy")]
    fleet.refused(to("--to", "http://127.0.0.1:1"), "an URL needs --state", status=2)
    fleet.refused(to(*state), "are for an URL", status=2)
    fleet.refused(to("--to", "ftp://127.0.0.1", *state), "http://")
    fleet.refused(to("--to", "file:///tmp", *state), "a publisher writes to a folder, or to http")
    fleet.refused(to("--to", f"http://127.0.0.1:{free_port()}", *state), "cannot fetch")


# ------------------------------------------------------------------ faults


def check_origin(site, host="a"):
    """A follower can take what is announced."""
    site.store.reset()
    site.fleet.note_announced()
    site.follow(host)


def test_each_request_fails_once(fleet):
    site = Site(fleet)
    site.announce(0)
    site.store.reset()
    site.announce(100)
    count, first = len(site.store.log), 200
    for fault in (500, 503, 429, 408, "cut", "cut after"):
        for at in range(count):
            hit = lambda n, m, p: (fault if n == at else None)
            later = lambda n, m, p: ("cut" if n == at else None)
            site.store.reset(*((None, later) if fault == "cut after" else (hit, None)))
            version = site.version()
            site.announce(first)
            check(site.version() == version + 1, f"{fault} at {at}")
            first += 100
    check_origin(site)


def test_the_last_image_is_fetched_in_spite_of_a_fault(fleet):
    site = Site(fleet)
    site.announce(0)
    shutil.rmtree(fleet.at("copy"))
    faults = []

    def fail_once(number, method, path):
        if not faults and method == "GET" and path.startswith("/blobs/"):
            faults.append(path)
            return 503

    site.store.reset(fail_once)
    check("delta" in site.announce(100) and faults, "there is a delta")


def test_another_one_was_writing(fleet):
    """S3 says 409, and that one should come again."""
    site = Site(fleet)
    site.announce(0)
    faults = []

    def fail_once(number, method, path):
        if not faults and (method, path) == ("PUT", HEAD):
            faults.append(path)
            return 409

    site.store.reset(fail_once)
    site.announce(100)
    check(faults and site.version() == 2, "it came again")


def test_a_request_fails_for_good(fleet):
    site = Site(fleet)
    site.announce(0)
    wrong = [("PUT", "/blobs/"), ("PUT", f"{HEAD}-1"), ("PUT", HEAD), ("GET", HEAD)]
    first = 100
    for method, path in [*wrong, ("HEAD", "/blobs/")]:
        for fault in (403, 500):
            is_it = lambda p: p == path or (path == "/blobs/" and p.startswith(path))
            hit = lambda n, m, p: (fault if m == method and is_it(p) else None)
            site.load(first)
            first += 100
            site.store.reset(hit)
            done = site.run()
            fleet.refused(done, f"the server says {fault}")
            check(site.version() == 1, f"{method} {path}: version 1 stands")
    check_origin(site)
    site.announce(first)
    check_origin(site)


def test_a_publisher_that_dies_announces_all_or_nothing(fleet):
    site = Site(fleet)
    site.announce(0)
    site.announce(100)
    site.load(200)
    site.store.reset()
    site.publish()
    count, first = len(site.store.log), 300
    for is_before in (True, False):
        for at in range(count):
            site.load(first)
            first += 100
            publisher = []

            def kill(number, method, path):
                if number == at:
                    publisher[0].kill()
                    publisher[0].wait()
                    return "cut"

            site.store.reset(*((kill, None) if is_before else (None, kill)))
            with site.store.lock:  # it asks for nothing before it is known
                publisher.append(fleet.start([BINARY, *site.command()], "copy.seg"))
            publisher[0].wait()
            check_origin(site)
    site.announce(first)
    check_origin(site)


def test_a_signal_ends_it_before_the_last_step(fleet):
    site = Site(fleet)
    site.announce(0)
    site.load(100)
    publisher = []

    def stop(number, method, path):
        if method == "PUT" and path.startswith("/blobs/"):
            publisher[0].send_signal(signal.SIGTERM)
            publisher[0].wait()

    site.store.reset(stop)
    with site.store.lock:
        publisher.append(fleet.start([BINARY, *site.command()], "copy.seg"))
    check(publisher[0].wait() == 128 + signal.SIGTERM, "it ends")
    check(site.version() == 1, "nothing was announced")
    site.store.reset()
    site.publish()
    check_origin(site)


# ------------------------------------------------------------------ two publishers


def overtaken(fleet, at, *options, **store):
    """What a publisher says that another one overtakes at a PUT of such a path."""
    site = Site(fleet, **store)
    site.announce(0)
    site.load(100)
    site.load(200, host="other")
    others = []

    def overtake(number, method, path):
        if not others and method == "PUT" and path.startswith(at):
            others.append(None)
            site.publish(*options, host="other")

    site.store.reset(overtake)
    done = site.run()
    check(others, "the other one came")
    check_origin(site)
    return site, done


def test_of_two_at_the_last_step_one_is_refused(fleet):
    site, done = overtaken(fleet, HEAD + "-1")
    fleet.refused(done, "another publisher has announced something meanwhile")
    check(has_only(fleet, 200), "the other one's")
    site.publish("--max-change", "100")
    site.follow("a")
    check(site.version() == 3, "it may come after it")


def test_a_higher_epoch_takes_over(fleet):
    site, done = overtaken(fleet, "/blobs/", "--epoch", "5")
    fleet.refused(done, "has taken over")
    fleet.refused(site.run("--epoch", "4"), "too low")


def test_a_server_without_conditions(fleet):
    site, done = overtaken(fleet, "/blobs/", conditions=False)
    fleet.refused(done, "another publisher has announced something meanwhile")


def test_without_conditions_the_head_is_looked_at_right_before_it_is_written(fleet):
    site, done = overtaken(fleet, HEAD + "-1", conditions=False)
    fleet.refused(done, "another publisher has announced something meanwhile")


def test_an_answer_that_was_lost_before_another_publisher_came(fleet):
    """The head was announced: the other one has kept it, and its deltas lead from it."""
    site = Site(fleet)
    site.announce(0)
    site.load(100)
    site.load(200, host="other")
    others = []

    def lose(number, method, path):
        if not others and (method, path) == ("PUT", HEAD):
            others.append(None)
            site.publish("--max-change", "100", host="other")
            return "cut"

    site.store.reset(None, lose)
    done = site.run()
    check(done.returncode == 0 and "version 2 announced" in done.stdout, done.stderr)
    check(site.version() == 3, "the other one's came after it")
    check_origin(site)


def test_a_publisher_that_was_stopped_before_it_wrote_its_epoch(fleet):
    site = Site(fleet)
    site.announce(0)
    site.load(100)
    others = []

    def overtake(number, method, path):
        if not others and method == "PUT" and path == f"/{NAME}/publisher":
            others.append(None)
            others.append(site.run("--epoch", "5"))

    site.store.reset(overtake)
    site.load(200, host="other")
    fleet.refused(site.run("--epoch", "3", host="other"), "another publisher has begun meanwhile")
    check(others[1].returncode == 0, others[1].stderr)
    check(fleet.read("origin", NAME, "publisher") == "epoch 5\n", "it is in charge")
    check_origin(site)


def test_without_conditions_publishers_take_turns(fleet):
    stream = Stream(fleet)
    site = Site(fleet, conditions=False)
    site.announce(0)
    site.load(100)
    site.load(200, host="other")
    turns = ["--stream", stream.url]
    others = []

    def meet(number, method, path):
        if not others and method == "PUT" and path == f"{HEAD}-1":
            command = [BINARY, *site.command(*turns, host="other")]
            others.append(fleet.start(command, "other.seg", stderr=subprocess.PIPE, text=True))
            fleet.wait_for("it asks", lambda: stream.calls("eval") > 3)

    site.store.reset(meet)
    done = site.run(*turns)
    check(done.returncode == 0, f"{done}")
    said = others[0].communicate()[1]
    check("another publisher has announced something meanwhile" in said, said)
    fleet.note_announced()
    site.follow("a")
    check(has_only(fleet, 100), "the first one's")
    check(stream.command("exists", TURN) == "0", "the turn has ended")


def test_turns_that_were_left_and_lost(fleet):
    stream = Stream(fleet)
    site = Site(fleet)
    turns = ["--stream", stream.url]
    publisher = []

    def die(number, method, path):
        if method == "PUT" and path == HEAD:
            publisher[0].kill()
            publisher[0].wait()

    site.load(0)
    site.store.reset(die)
    with site.store.lock:
        publisher.append(fleet.start([BINARY, *site.command(*turns)], "copy.seg"))
    publisher[0].wait()
    with open("/proc/sys/kernel/random/boot_id") as file:
        check(file.read().strip() in stream.command("get", TURN), "it died in its turn")
    site.store.reset()
    before = stream.calls("eval")
    site.publish(*turns)  # the next one on that host goes on
    check(stream.calls("eval") == before + 2, "and waits for nothing")
    stream.command("set", TURN, "another:1:2")
    site.load(100)
    before = stream.calls("eval")
    waiting = fleet.start([BINARY, *site.command(*turns)], "copy.seg")
    fleet.wait_for("it waits", lambda: stream.calls("eval") > before + 2)
    stream.command("pexpire", TURN, "1")
    check(waiting.wait(PATIENCE_S) == 0, "the other's turn has ended")
    fleet.note_announced()

    def lose(number, method, path):
        if method == "PUT" and path == HEAD:
            stream.command("set", TURN, "another:1:2", "px", "1000")

    site.load(200)
    site.store.reset(lose)
    fleet.refused(site.run(*turns), "the turn had ended before")
    site.store.reset()
    stream.stop()
    done = site.run(*turns)
    check(done.returncode == 0 and "the stream was not told" in done.stderr, f"{done}")


def test_a_turn_begins_when_the_blobs_are_there(fleet):
    stream = Stream(fleet)
    site = Site(fleet)

    def close_idle(number, method, path):
        if method == "PUT" and path.startswith("/blobs/"):
            stream.command("client", "kill", "type", "normal")

    site.load(0)
    site.store.reset(close_idle)
    site.publish("--stream", stream.url)


def test_a_stream_whose_memory_is_full_is_trimmed(fleet):
    stream = Stream(fleet, "--maxmemory-policy", "noeviction")
    site = Site(fleet)
    add = lambda: stream.command("xadd", "bloomshm:adds:" + NAME, "*", "k", "x" * 4000)
    site.announce(0, "--stream", stream.url, "--adds-after", stream.mark())
    while len(stream.entries()) < 200:
        add()
    used = re.search("used_memory:([0-9]+)", stream.command("info", "memory"))[1]
    stream.command("config", "set", "maxmemory", str(int(used) - 100000))
    check("OOM" in add(), "it takes no more")
    mark = stream.mark()
    for i in (1, 2):
        site.announce(i, "--stream", stream.url, "--adds-after", mark, "--keep", "0")
    check("OOM" not in add(), "there is room")


def test_what_comes_after_the_turn_is_not_sent_again(fleet):
    if shutil.which("faketime") is None or "asan" in BINARY:
        raise Skipped("no faketime")
    stream = Stream(fleet)
    site = Site(fleet, conditions=False)
    site.announce(0)
    site.load(100)
    preload = ["faketime", "-f", "+0s", "printenv", "LD_PRELOAD"]
    preload = subprocess.run(preload, capture_output=True, text=True).stdout.strip()
    clock = {"FAKETIME_TIMESTAMP_FILE": fleet.at("clock"), "FAKETIME_NO_CACHE": "1"}

    def set_clock(text):
        with open(fleet.at("clock"), "w") as file:
            file.write(text)

    def pass_a_minute(number, method, path):
        if method == "PUT" and path == HEAD:
            set_clock("+60s")
            return 503

    set_clock("+0s")
    site.store.reset(pass_a_minute)
    done = site.run("--stream", stream.url, prefix=environment(LD_PRELOAD=preload, **clock))
    fleet.refused(done, "the turn has ended; nothing was announced")
    check(site.store.written().count(HEAD) == 1, f"{site.store.written()}")


# ------------------------------------------------------------------ WebDAV


def test_folders_are_made_where_the_server_does_not(fleet):
    """Apache and lighttpd say 409, rclone 404."""
    for status in (409, 404):
        site = Site(fleet, folders=status)
        site.announce(0)
        check("delta" in site.announce(100), "it goes on")
        made = [path for method, path in site.store.log if method == "MKCOL"]
        check(made == [f"/{NAME}/", "/blobs/"], f"{made}")
        site.url += "/none"
        shutil.rmtree(fleet.at("copy"))
        fleet.refused(site.run(), f"the server says {status}")
        for name in ("origin", "copy"):
            shutil.rmtree(fleet.at(name))
        os.mkdir(fleet.at("origin"))


# ------------------------------------------------------------------ nginx


def test_nginx_takes_what_is_put(fleet):
    os.chmod(fleet.at("origin"), 0o777)
    make_authority(fleet, "ours")
    port = free_port()
    fleet.start_nginx(
        f"server {{ listen 127.0.0.1:{port} ssl; ssl_certificate {fleet.at('ours.crt')};"
        f" ssl_certificate_key {fleet.at('ours.secret')}; client_max_body_size 0;"
        " dav_methods PUT DELETE; create_full_put_path on; dav_access user:rw group:r all:r; }"
    )
    url = f"https://localhost:{port}"
    place = ["--to", url, "--state", fleet.at("copy"), "--ca", fleet.at("ours.pem")]
    fleet.announce(0, 50000, *place)
    fleet.follow("a")
    for i in range(1, 4):
        fleet.announce(100 * i, 50000 + 100 * i, *place)
        check("by 1 delta," in fleet.follow("a"), "a delta")
    fleet.load(9, 50009)
    fleet.refused(fleet.run(fleet.publish_command(*place[:4])), "certificate")
    curl = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--cacert", place[-1]]
    put = [*curl, "-T", fleet.at("key.pub"), "-H", 'If-Match: "other"', f"{url}/x"]
    said = subprocess.run(put, capture_output=True, text=True).stdout
    check(said in ("201", "204"), f"docs/FLEET.md says that it does not know conditions: {said}")


main(globals())
