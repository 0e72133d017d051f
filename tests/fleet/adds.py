#!/usr/bin/env python3
"""
adds.py - adds on hosts of a fleet, with a real Redis between them.

    tests/fleet/adds.py BINARY [NAME...]     all tests, or those whose names contain a NAME

Licensed under the MIT licence; see LICENSE.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import time

from hosts import NAME, PATIENCE_S, check, denies, free_port, main, make_authority
from stream import Mimic, Stream


def two_followers(fleet, marked=False):
    stream = Stream(fleet)
    fleet.announce(0, 1000, *(["--adds-after", stream.mark()] if marked else []))
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
    check(sorted(stream.keys()) == ["k" * 4000, "one", "two"], "no key is sent back")
    stream.follow("c")  # one that begins later
    stream.arrives("c", "one", "two")


def test_many_adds_are_few_entries(fleet):
    stream = two_followers(fleet)
    keys = [f"key-{i}" for i in range(1000)]
    fleet.must(["add", NAME], "a.seg", text="".join(f"{key}\n" for key in keys))
    stream.arrives("b", *keys)
    check(sorted(stream.keys()) == sorted(keys), "each is there once")
    check(len(stream.entries()) < 100, f"{len(stream.entries())} entries")


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


def test_a_load_that_is_announced_finds_its_mark(fleet):
    stream = Stream(fleet)
    options = ["load", NAME, "--like", "--quiet", "--publish", fleet.at("origin")]
    options += ["--key", fleet.at("key"), "--stream", stream.url]

    def place(*more, text="".join(f"{i}\n" for i in range(1000))):
        fleet.must([*options, *more], text=text)
        return fleet.head()["adds-after"][0][0]

    entries = lambda: stream.command("xrange", "bloomshm:adds:" + NAME, "-", "+").split()
    first = place()
    check(first == entries()[0] and entries()[1] == "begin", "it begins the stream")
    stream.command("xadd", "bloomshm:adds:" + NAME, "*", "k", "new")
    check(place() == first, "rows may be older than a new entry: the place of the last head")
    stream.stop()
    stream.start()
    for entry in ("1000-1", "2000-1", "*"):
        stream.command("xadd", "bloomshm:adds:" + NAME, entry, "k", "x")
    fleet.publish("--adds-after", "2000-1")
    check(place("--adds-after", "1000-1") == "1000-1", "that which is given")
    check("1000-1" in entries(), "it is not trimmed")
    with open(fleet.at("keys"), "w") as file:
        file.write("1\n")
    check(place(fleet.at("keys"), "--max-change", "100") == "1000-1", "a file is of any age")
    check(place("--max-change", "1000000") == "2000-1", "the newest one of more than a minute ago")


def test_a_wake_up_brings_a_version_at_once(fleet):
    stream = Stream(fleet)
    told = ["--stream", stream.url]
    fleet.announce(0, 1000, *told)
    stream.follow("a", "--every", "86400")
    fleet.wait_for("it is followed", lambda: denies(fleet, "a"))
    for i in range(1, 4):
        fleet.announce(10 * i, 1000 + 10 * i, *told)
        newest = str(999 + 10 * i)
        fleet.wait_for("the next version", lambda: fleet.has("a", newest) == [newest])
    # One that is lost costs the wait alone.
    stream.stop()
    done = fleet.run(fleet.publish_command(*told))
    check(done.returncode == 0 and "the stream was not told" in done.stderr, done.stderr)
    check("announced" in done.stdout, done.stdout)


def test_wake_ups_end_no_random_wait(fleet):
    stream = Stream(fleet)
    told = ["--stream", stream.url]
    fleet.announce(0, 1000, *told)
    fleet.start_nginx()
    fleet.serve("a", *told, "--every", "86400")
    fleet.wait_for("it is followed", lambda: denies(fleet, "a"))
    head = f"/{NAME}/head"
    for i in range(1, 4):
        looks = len(fleet.served(head))
        fleet.announce(10 * i, 1000 + 10 * i, *told, "--spread", "86400")
        fleet.wait_for("it looks", lambda: len(fleet.served(head)) > looks)
    check(fleet.read("access.log").count("/blobs/") == 1, "it waits with what it fetches")
    fleet.publish(*told, "--spread", "0")
    fleet.wait_for("it need not wait any more", lambda: fleet.has("a", "1029") == ["1029"])


def test_a_pin_has_the_adds_since_its_image(fleet):
    stream = Stream(fleet)
    marked = ["--stream", stream.url, "--adds-after"]
    fleet.announce(0, 1000, *marked, stream.mark())
    stream.follow("a")
    fleet.wait_for("it is followed", lambda: denies(fleet, "a"))
    stream.add("a", "new")
    fleet.wait_for("it is sent", lambda: stream.command("xlen", "bloomshm:adds:" + NAME) == "3")
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


def test_no_add_is_lost_by_followers_that_die(fleet):
    fleet.announce(0, 1000)
    stream = Stream(fleet)
    kept = []
    follower = stream.follow("a")
    fleet.wait_for("it is followed", lambda: denies(fleet, "a"))
    for death in range(12):
        keys = [f"{death}-{i}" for i in range(300)]
        fleet.must(["add", NAME, *keys], "a.seg")
        kept += keys
        time.sleep(random.random() * 0.2)  # anywhere between the outbox and the stream
        follower.kill(), follower.wait()
        if death % 4 == 3:
            fleet.announce(death, 1000 + death)
        follower = stream.follow("a")
    stream.follow("b")
    for host in "ab":
        fleet.wait_for("all adds", lambda: len(fleet.has(host, *kept)) == len(kept))
        check(fleet.has(host, "no such") == [], "and no others")


def test_a_key_lies_in_the_outbox_until_the_stream_has_it(fleet):
    fleet.announce(0, 1000)
    stream = Stream(fleet)
    follower = stream.follow("a")
    fleet.wait_for("it is followed", lambda: denies(fleet, "a"))
    fleet.wait_for("it waits for adds", lambda: stream.blocked() == 1)
    stream.command("client", "pause", "600000", "write")
    stream.add("a", "one", "two")
    fleet.wait_for("it has sent them", lambda: stream.blocked() == 2)
    follower.kill(), follower.wait()  # with it goes what the server has not done yet
    fleet.wait_for("it has gone", lambda: stream.blocked() == 0)
    stream.command("client", "unpause")
    check(stream.command("exists", "bloomshm:adds:" + NAME) == "0", "the stream has no key")
    stream.follow("a")
    stream.follow("b")
    stream.arrives("b", "one", "two")


def test_a_follower_without_adds_asks_seldom(fleet):
    fleet.announce(0, 1000)
    asked = {"a": 0, "b": 0}
    count = lambda host: lambda word: asked.update({host: asked[host] + 1}) or True
    mimics = {"a": Mimic(fleet, count("a"), waits=True), "b": Mimic(fleet, count("b"))}
    for host, mimic in mimics.items():
        fleet.serve(host, "--stream", mimic.url, url=fleet.at("origin"))
        fleet.wait_for("it is followed", lambda: denies(fleet, host))
        fleet.must(["add", NAME, "one"], f"{host}.seg")
        fleet.wait_for("it sends at once", lambda: mimic.entries != [])
    before = dict(asked)
    fleet.wait_for("the one that cannot wait asks", lambda: asked["b"] - before["b"] >= 60)
    check(asked["a"] - before["a"] < 20, f"that which waits: {asked} after {before}")


def test_a_single_look_waits_for_no_adds(fleet):
    fleet.announce(0, 1000)
    words = []
    mimic = Mimic(fleet, lambda word: words.append(word) or True)
    done = fleet.look("a", "--stream", mimic.url, url=fleet.at("origin"))
    check(done.returncode == 0 and "EXEC" in words and "XREAD" not in words, f"{words}")


def test_adds_arrive_whatever_becomes_of_those_who_wait(fleet):
    stream = two_followers(fleet, marked=True)
    for i in range(3):
        fleet.wait_for("both wait for adds", lambda: stream.blocked() == 2)
        stream.command("client", "kill", "type", "normal")
        stream.add("ab"[i % 2], f"key-{i}")
        stream.arrives("ba"[i % 2], f"key-{i}")
    stream.command("acl", "setuser", "default", "-xread")
    stream.command("client", "kill", "type", "normal")
    stream.add("a", "last")
    stream.arrives("b", "last")


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


def test_a_stream_that_went_back_makes_maybes(fleet):
    """The server has a copy of its data from before: after a crash, or another one takes over."""
    stream = two_followers(fleet, marked=True)
    stream.add("a", "early")
    stream.arrives("b", "early")
    stream.command("save")
    stream.add("a", "lost")
    stream.arrives("b", "lost")
    stream.stop()
    stream.start()
    for host in "ab":
        fleet.wait_for("it is stale", lambda: not denies(fleet, host))
    stream.follow("c")  # one that has seen nothing of it
    fleet.wait_for("it answers", lambda: fleet.has("c", "early") == ["early"])
    for host in "abc":
        check(fleet.has(host, "lost") == ["lost"], f"nothing that was added is denied on {host}")
    fleet.announce(10, 1010, "--adds-after", stream.mark())
    for host in "abc":
        fleet.wait_for("it is certain again", lambda: denies(fleet, host))


def test_a_host_that_may_lack_adds_sends_its_own(fleet):
    fleet.announce(0, 1000)
    stream = Stream(fleet)
    stream.follow("b")
    fleet.wait_for("it is followed", lambda: denies(fleet, "b"))
    stream.add("b", "early")
    fleet.wait_for("it is sent", lambda: "early" in stream.keys())
    stream.command("xadd", "bloomshm:adds:" + NAME, "*", "k", "later")
    stream.arrives("b", "early", "later")  # its place is the entry that stays
    stream.command("xtrim", "bloomshm:adds:" + NAME, "maxlen", "1")
    stream.follow("a")
    fleet.wait_for("it may lack some", lambda: "may be missing" in fleet.log("a"))
    stream.add("a", "one")
    stream.arrives("b", "one")


def test_a_gap_is_one_without_room_for_another_image(fleet):
    stream = Stream(fleet)
    fleet.announce(0, 500000, "--adds-after", stream.mark())
    stream.follow("a", "--filter-memory", "1M")
    fleet.wait_for("it is followed", lambda: denies(fleet, "a"))
    stream.add("a", "one")
    fleet.wait_for("it is sent", lambda: stream.command("xlen", "bloomshm:adds:" + NAME) == "2")
    stream.stop()
    stream.start()  # with no data
    absent = [f"absent-{i}" for i in range(9)]
    fleet.wait_for("all is maybe", lambda: fleet.has("a", *absent) == absent)


def test_an_add_to_a_full_filter_is_no_reason_for_maybes(fleet):
    stream = Stream(fleet)
    fleet.must(["reserve", NAME, "--capacity", "1000", "--expansion", "0"])
    fleet.must(["add", NAME], text="".join(f"{i}\n" for i in range(990)))
    fleet.publish("--adds-after", stream.mark())
    for host in "ab":
        stream.follow(host)
        fleet.wait_for("it is followed", lambda: denies(fleet, host))
    more = [f"more-{i}" for i in range(30)]
    fleet.refused(fleet.run(["add", NAME, *more], "a.seg"), "full")
    for host in "ab":
        stream.arrives(host, *more)
    stream.follow("c")
    stream.arrives("c", *more)
    check(json.loads(fleet.must(["info", NAME, "--json"], "c.seg").stdout)["items"] > 1000, "")


def test_a_host_without_its_origin_sends_its_adds(fleet):
    stream = two_followers(fleet)
    fleet.children[-2].kill(), fleet.children[-2].wait()
    shutil.rmtree(fleet.at("a"))
    os.rename(fleet.at("origin", NAME), fleet.at("away"))
    stream.follow("a")
    stream.add("a", "one")
    stream.arrives("b", "one")


def test_what_a_server_has_lost_before_it_was_read_makes_maybes(fleet):
    fleet.announce(0, 1000)

    def before(word):
        if word != "MULTI" or mimic.entries == [] or mimic.entries[-1][1] != "k":
            return True
        mimic.entries.clear()  # it has said that it has it, and dies
        return False

    mimic = Mimic(fleet, before)
    fleet.serve("a", "--stream", mimic.url, url=fleet.at("origin"))
    fleet.wait_for("it is followed", lambda: denies(fleet, "a"))
    fleet.must(["add", NAME, "one"], "a.seg")
    fleet.wait_for("it is stale", lambda: not denies(fleet, "a"))


def test_a_start_without_the_stream_publishes_what_was_kept(fleet):
    stream = two_followers(fleet, marked=True)
    stream.add("b", "one")
    stream.arrives("a", "one")
    fleet.children[-2].kill(), fleet.children[-2].wait()
    os.unlink(fleet.at("a.seg"))
    stream.command("save")
    stream.stop()
    stream.follow("a")
    fleet.wait_for("it is published", lambda: fleet.image_of("a") is not None)
    check(fleet.has("a", "one", "absent") == ["one", "absent"], "all is maybe")
    stream.add("a", "two")
    stream.start()
    fleet.wait_for("it is certain", lambda: denies(fleet, "a"))
    for host in "ab":
        stream.arrives(host, "one", "two")
    check("may be missing" not in fleet.log("a"), "none was")


def test_an_endless_stream_is_left_at_a_signal(fleet):
    fleet.announce(0, 1000)
    grow = lambda word: word != "XRANGE" or [mimic.add("k", "x") for _ in range(1001)]
    mimic = Mimic(fleet, grow)
    follower = fleet.serve("a", "--stream", mimic.url, url=fleet.at("origin"))
    fleet.wait_for("it reads", lambda: len(mimic.entries) > 5000)
    follower.terminate()
    check(follower.wait(PATIENCE_S) == 0, "it ends as it is told")
    check(fleet.image_of("a") is None, "and publishes nothing that lacks adds")


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
    stream.add("a", "later")
    fleet.wait_for("it goes on", lambda: "later" in stream.keys())
    fleet.announce(1, 1001)
    fleet.wait_for("it goes on", lambda: "version 2" in fleet.log("a"))
    check("all is well again" not in fleet.log("a"), "other hosts lack these")
    stream.stop()
    fleet.must(["add", NAME, "x" * 4073], "a.seg")  # too long
    unsent = json.loads(fleet.must(["info", NAME, "--json"], "a.seg").stdout)["unsent"]
    status = json.loads(fleet.must(["status", "--json"], "a.seg").stdout)
    check(unsent > 1 and status["unsent"] == unsent, f"{unsent} of {status}")
    fleet.must(["add", NAME, "waits"], "a.seg")
    told = fleet.must(["metrics"], "a.seg").stdout
    check(f'bloomshm_filter_unsent_total{{filter="{NAME}"}} {unsent}\n' in told, told)
    check("\nbloomshm_outbox_keys 1\n" in told, told)


def test_a_filter_that_was_dropped_leaves_the_room_to_others(fleet):
    fleet.announce(0, 1000)
    fleet.must(["load", "other", "--quiet"], text="x\n")
    fleet.must(fleet.publish_command(filter_name="other"))
    stream = Stream(fleet)
    options = ["--stream", stream.url, "--once"]
    command = fleet.follow_command("a", *options, url=fleet.at("origin"), filter_name="other")
    fleet.must(command, "a.seg")
    fleet.must(["add", "other"], "a.seg", text="".join(f"many-{i}\n" for i in range(20000)))
    fleet.must(["drop", "other"], "a.seg")
    stream.follow("a")
    fleet.wait_for("it is followed", lambda: denies(fleet, "a"))

    def is_sent():
        fleet.must(["add", NAME, "one"], "a.seg")
        return stream.command("exists", "bloomshm:adds:" + NAME) == "1"

    fleet.wait_for("there is room", is_sent)


def test_an_entry_that_cannot_be_read_makes_maybes(fleet):
    stream = Stream(fleet)
    fleet.announce(0, 1000, "--adds-after", stream.mark())
    stream.follow("a")
    fleet.wait_for("it is followed", lambda: denies(fleet, "a"))
    long = ["redis-cli", "-s", fleet.at("redis"), "-x", "xadd", "bloomshm:adds:" + NAME, "*", "k"]
    subprocess.run(long, input=b"x" * 9000000, check=True, stdout=subprocess.DEVNULL)
    stream.command("xadd", "bloomshm:adds:" + NAME, "*", "k", "behind it")
    fleet.wait_for("it says maybe", lambda: not denies(fleet, "a"))
    check("entries of 8 MB" in fleet.log("a"), fleet.log("a"))
    stream.add("a", "its own")
    fleet.wait_for("it is sent", lambda: "its own" in stream.keys())
    fleet.publish("--adds-after", stream.mark())
    fleet.wait_for("it is certain again", lambda: denies(fleet, "a"))


def test_a_filter_that_was_dropped_comes_back_while_others_add(fleet):
    stream = Stream(fleet)
    fleet.announce(0, 1000, "--adds-after", stream.mark())
    stream.follow("a")
    fleet.wait_for("it is followed", lambda: denies(fleet, "a"))
    fleet.must(["drop", NAME], "a.seg")

    def is_back():
        stream.command("xadd", "bloomshm:adds:" + NAME, "*", "k", "x")
        return denies(fleet, "a")

    fleet.wait_for("it is back", is_back)
    check("until the stream is read" not in fleet.log("a"), "whole, in one step: " + fleet.log("a"))


def test_a_stream_over_tls(fleet):
    make_authority(fleet, "ours")
    make_authority(fleet, "other")
    port = free_port()
    secret = ["--tls-cert-file", fleet.at("ours.crt"), "--tls-key-file", fleet.at("ours.secret")]
    ours = ["--tls-ca-cert-file", fleet.at("ours.pem")]
    stream = Stream(fleet, "--tls-port", str(port), *secret, *ours)
    client = f"&cert={fleet.at('ours.crt')}&key={fleet.at('ours.secret')}"
    address = f"rediss://localhost:{port}/0?ca={fleet.at('ours.pem')}{client}"
    wrong = {
        address[: address.index("?")]: "SSL certificate problem",
        address.replace("ours.pem", "other.pem"): "SSL certificate problem",
        address.replace("ours.pem", "none.pem"): "error setting certificate",
        address.replace("localhost", "127.0.0.1"): "matches target host name",
        address.replace(client, ""): "perhaps it wants a certificate",
        address.replace("ours.crt", "none.crt"): "could not load PEM client certificate",
        address.replace("ours.secret", "other.secret"): "unable to set private key file",
    }
    mark = ["publish", NAME, "--mark", "--stream"]
    for url, words in wrong.items():
        done = fleet.run([*mark, url])
        fleet.refused(done, "the stream's server")
        check(words in done.stderr, f"{words}: {done.stderr}")
    stream.url = address
    fleet.announce(0, 1000, "--adds-after", stream.mark())
    for host in "ab":
        stream.follow(host)
        fleet.wait_for("it is followed", lambda: denies(fleet, host))
    keys = [f"{i}-" + "k" * 4000 for i in range(5)]  # more than a buffer holds
    stream.add("a", *keys)
    stream.arrives("b", *keys)
    stream.command("client", "kill", "type", "normal")
    stream.add("b", "two")
    stream.arrives("a", "two")
    stream.redis.send_signal(signal.SIGSTOP)  # it takes bytes, and does not answer
    stream.add("b", "three")
    fleet.refused(fleet.run([*mark, address]), "SSL connection timeout")
    stream.redis.send_signal(signal.SIGCONT)
    stream.arrives("a", "three")


def test_wrong_streams_and_marks(fleet):
    fleet.announce(0, 1000)
    mark = ["publish", NAME, "--mark", "--stream"]
    fleet.refused(fleet.run([*mark, "http://127.0.0.1"]), "a stream is redis[s]://")
    fleet.refused(fleet.run([*mark, "unix://" + fleet.at("none")]), "cannot reach the stream")
    fleet.refused(fleet.run(["publish", NAME, "--mark"]), "--stream", status=2)
    fleet.refused(fleet.run(fleet.publish_command("--adds-after", "5")), "--mark", status=2)
    done = fleet.look("a", "--stream", "unix://" + fleet.at("none"), url=fleet.at("origin"))
    fleet.refused(done, "cannot reach the stream")
    check(fleet.has("a", "absent") == ["absent"], "what may lack adds says maybe")
    check(fleet.image_of("a") is not None, "but takes those of pages")


main(globals())
