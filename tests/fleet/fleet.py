#!/usr/bin/env python3
"""
fleet.py - publishers and followers of one filter, with a real web server between them.

    tests/fleet/fleet.py BINARY [NAME...]     all tests, or those whose names contain a NAME

Licensed under the MIT licence; see LICENSE.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess

from hosts import NAME, BINARY, PATIENCE_S, Skipped
from hosts import check, denies, free_port, lag, main, make_authority


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
    found = fleet.has("a", 50499, *range(100, 120))
    check(found[0] == "50499" and len(found) <= 4, "the new keys, not the old ones")
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


def test_a_follower_that_was_away_for_a_day_takes_deltas(fleet):
    url = fleet.at("origin")
    for version in range(1, 33):  # one an hour
        fleet.announce(version, 1000 + version)
        if 5 <= version <= 8:  # one of four has a delta of four versions, too
            check("by its image" in fleet.follow(f"h{version}", url=url), "the first image")
        if version >= 29:
            said = fleet.follow(f"h{version - 24}", url=url)
            check("delta" in said, f"version {version}: {said}")


def test_an_unchanged_filter_is_announced_again(fleet):
    fleet.announce(0, 1000)
    version = fleet.head()["version"]
    blobs = os.listdir(fleet.at("origin", "blobs"))
    check("no bit has changed" in fleet.publish("--valid", "100"), "it says so")
    check(fleet.head()["version"] == version, "the version stands")
    check(fleet.head()["valid-until"] != [["0"]], "the head is new")
    check(os.listdir(fleet.at("origin", "blobs")) == blobs, "no blob is left")


def test_a_delta_that_was_removed_is_not_named_again(fleet):
    fleet.announce(0, 1000)
    fleet.announce(10, 1010)
    os.unlink(fleet.blob(fleet.head()["delta"][0][0]))
    check("no bit has changed" in fleet.publish(), "it is announced again")
    check("delta" not in fleet.head(), "without the delta")


def test_a_damaged_image_at_the_origin_is_replaced(fleet):
    fleet.announce(0, 1000)
    with open(fleet.blob(fleet.head()["image"][0][0]), "r+b") as file:
        file.seek(5000)
        file.write(b"damaged")
    fleet.refused(fleet.look("a", url=fleet.at("origin")), "has other bytes")
    check("version 2" in fleet.publish() and "delta" not in fleet.head(), "the whole image")
    fleet.follow("a", url=fleet.at("origin"))


def test_two_heads_of_one_second_are_two(fleet):
    """nginx makes an ETag of a file's second and size, which two heads may have in common."""
    head = fleet.at("origin", NAME, "head")
    now = int(os.stat(fleet.folder).st_mtime)

    def announce(second, *options):
        fleet.publish(*options)
        os.utime(head, (second, second))

    fleet.announce(0, 1000)
    fleet.start_nginx()
    fleet.load(10, 1010)
    announce(now + 1000)  # for nginx this second is not over
    size = os.path.getsize(head)
    fleet.serve("a")
    fleet.wait_for("it has the second", lambda: fleet.is_newest("a"))
    fleet.wait_for("it looks again", lambda: len(fleet.served("/head")) > 2)
    announce(now + 1000, "--pin", "1")
    check(os.path.getsize(head) == size, "the heads are of one size")
    fleet.wait_for("it is led back", lambda: fleet.is_newest("a"))
    os.utime(head, (now - 1000, now - 1000))
    fleet.wait_for("a head that is older is not sent again", lambda: "304" in fleet.served("/head"))


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


def test_another_filter_of_the_origin_is_not_taken_for_the_right_one(fleet):
    fleet.announce(0, 1000)
    fleet.load(5000, 6000, filter_name="other")
    fleet.must(fleet.publish_command(filter_name="other"))
    for name in (NAME, "other"):
        command = fleet.follow_command("a", "--once", url=fleet.at("origin"), filter_name=name)
        fleet.must(command, "a.seg")
        shutil.rmtree(fleet.at("a"))
    fleet.must(["rename", "other", NAME], "a.seg")
    check(fleet.has("a", 1, 5000) == ["5000"], "it is the other one")
    fleet.follow("a", url=fleet.at("origin"))


def test_a_folder_is_an_origin(fleet):
    fleet.announce(0, 1000)
    fleet.follow("a", url=fleet.at("origin"))
    fleet.follow("b", url="file://" + fleet.at("origin"))


def test_a_load_that_is_announced(fleet):
    options = ["--like", "--publish", fleet.at("origin"), "--key", fleet.at("key"), "--quiet"]
    numbers = lambda first: "".join(f"{i}\n" for i in range(first, first + 1000))
    load = lambda text, *more: fleet.run(["load", NAME, *options, *more], text=text)
    done = load(numbers(0))
    check(done.returncode == 0 and "version 1 announced" in done.stdout, done.stderr)
    check(done.stdout.startswith(NAME + ": 1000 keys in"), done.stdout)
    said = json.loads(load(numbers(10), "--json", "--valid", "60").stdout)
    check((said["keys"], said["announced"]["version"]) == (1000, 2), said)
    check(fleet.head()["valid-until"] != [["0"]], "the options are those of publish")
    fleet.refused(load(""), "nothing was published")
    check(fleet.has("publisher", "1009") == ["1009"], "the filter stands")
    done = load(numbers(5000))
    fleet.refused(done, "of the keys")
    check(done.stdout.startswith(NAME + ": 1000 keys in"), "it was loaded")
    said = load(numbers(6000), "--json")
    fleet.refused(said, "of the keys")
    check("announced" not in json.loads(said.stdout), said.stdout)
    check(fleet.head()["version"] == [["2"]], "version 2 stands")
    done = load("", "--allow-empty", "--max-change", "100")
    check("version 3 announced" in done.stdout, done.stderr)
    # What is wrong with the announcement is said before anything is loaded.
    fleet.refused(load(numbers(0), "--key", fleet.at("none")), "none")
    fleet.refused(load(numbers(0), "--spread", "x"), "--spread", status=2)
    fleet.refused(load(numbers(0), "--stream", "unix://" + fleet.at("none")), "cannot reach")
    fleet.refused(fleet.run(["load", NAME, "--publish", "x"], text="x"), "needs --key", status=2)
    fleet.refused(fleet.run(["load", NAME, "--keep", "1"], text="x"), "without --publish", status=2)
    check(fleet.has("publisher", 0, 1) == [], "the empty filter stands")


# ------------------------------------------------------------------ what is refused


def test_empty_filters_bad_rates_and_great_changes_are_not_announced(fleet):
    fleet.must(["reserve", NAME, "--capacity", "1000", "--filter-memory", "8M"])
    fleet.refused(fleet.run(fleet.publish_command()), "has no keys")
    fleet.announce(0, 1000)
    fleet.refused(fleet.run(fleet.publish_command("--max-error-rate", "1e-9")), "error rate")
    fleet.load(500, 1500)
    blobs = sorted(os.listdir(fleet.at("origin", "blobs")))
    fleet.refused(fleet.run(fleet.publish_command()), "of the keys")
    check(sorted(os.listdir(fleet.at("origin", "blobs"))) == blobs, "nothing is left")
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
    # A publisher whose clock was years ahead, once: the next head ends when it should.
    fleet.load(15, 1015)
    ahead = fleet.run(fleet.publish_command(), prefix=["faketime", "-f", "+9y"])
    check(ahead.returncode == 0, ahead.stderr)
    made = int(fleet.head()["made"][0][0])
    fleet.publish("--valid", "3600")
    check(int(fleet.head()["valid-until"][0][0]) < made, "it does not last for years")
    fleet.follow("a")
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


def test_a_full_disk_of_the_publisher(fleet):
    os.rename(fleet.at("origin"), fleet.at("kept"))
    os.mkdir(fleet.at("origin"))
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m,mode=755", "none", fleet.at("origin")]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        raise Skipped("mounts are not allowed here")
    try:
        fleet.announce(0, 100000)
        fleet.follow("a", url=fleet.at("origin"))
        head, blobs = fleet.head(), sorted(os.listdir(fleet.at("origin", "blobs")))
        failures = 0
        for free in range(0, 600000, 60000):
            room = os.statvfs(fleet.at("origin"))
            with open(fleet.at("origin", "other"), "wb") as file:
                file.write(bytes(room.f_bavail * room.f_frsize - free))
            fleet.load(free // 600, 100000 + free // 600)
            done = fleet.run(fleet.publish_command())
            os.unlink(fleet.at("origin", "other"))
            if done.returncode == 0:
                break
            failures += 1
            fleet.refused(done, "No space left")
            check(fleet.head() == head, "the head stands")
            check(sorted(os.listdir(fleet.at("origin", "blobs"))) == blobs, "nothing is left")
            fleet.follow("a", url=fleet.at("origin"))
        check(failures > 3 and done.returncode == 0, f"it was full {failures} times, and then not")
        fleet.note_announced()
        fleet.follow("a", url=fleet.at("origin"))
    finally:
        subprocess.run(["umount", fleet.at("origin")], check=True)


def test_a_limit_of_file_sizes(fleet):
    fleet.announce(0, 1000)
    fleet.follow("a", url=fleet.at("origin"))
    fleet.announce(0, 200000, "--max-change", "1000000")
    done = fleet.look("a", url=fleet.at("origin"), prefix=["prlimit", "--fsize=100000"])
    fleet.refused(done, "File too large")
    fleet.check_image("a", newest=False)


def test_an_image_that_cannot_be_opened_now_is_kept(fleet):
    fleet.announce(0, 1000)
    fleet.start_nginx()
    fleet.follow("a")
    os.unlink(fleet.at("a.seg"))
    image = fleet.head()["image"][0][0]
    trace = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", fleet.at("a", "blobs", image)]
    inject = ["-e", "trace=openat", "-e", "inject=openat:error=EMFILE"]
    fleet.refused(fleet.look("a", prefix=[*trace, *inject]), "Too many open files")
    fleet.follow("a")
    check(fleet.served(image) == ["200"], "it was fetched once")


def test_a_new_folder_has_its_name_after_a_power_cut(fleet):
    fleet.load(0, 1000)
    command = ["publish", NAME, "--to", fleet.at("new"), "--key", fleet.at("key")]
    prefix = ["strace", "-f", "-y", "-o", fleet.at("trace"), "-e", "trace=mkdir,fsync"]
    done = fleet.run(command, prefix=prefix)
    check(done.returncode == 0, done.stderr)
    steps = fleet.read("trace")
    check(f"<{fleet.folder}>) " in steps[steps.index("mkdir(") :], f"it is not synced: {steps}")


def test_a_public_key_is_for_all(fleet):
    # Followers run as other users; the secret one is for its owner alone, whatever the umask.
    for umask in ("077", "000"):
        path = fleet.at(f"key-{umask}")
        fleet.run(["key", path], prefix=["sh", "-c", f'umask {umask}; exec "$@"', "sh"])
        modes = [os.stat(name).st_mode & 0o777 for name in (path, f"{path}.pub")]
        check(modes == [0o600, 0o644], f"umask {umask}: {[oct(mode) for mode in modes]}")


def test_a_filter_that_is_named_twice(fleet):
    command = fleet.follow_command("a", "--once", url=fleet.at("origin"))
    fleet.refused(fleet.run([*command, NAME], "a.seg"), "twice", status=2)


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


# ------------------------------------------------------------------ https


def test_a_server_of_https_has_a_certificate_that_is_known(fleet):
    fleet.announce(0, 1000)
    make_authority(fleet, "ours")
    make_authority(fleet, "other")
    port = free_port()
    fleet.start_nginx(
        f"server {{ listen 127.0.0.1:{port} ssl; ssl_certificate {fleet.at('ours.crt')};"
        f" ssl_certificate_key {fleet.at('ours.secret')};"
        f" location /moved {{ return 301 {fleet.url}; }} }}"
    )
    url = f"https://localhost:{port}"
    ca = ["--ca", fleet.at("ours.pem")]
    wrong = {
        "unable to get local issuer certificate": (url, []),
        "certificate": (url, ["--ca", fleet.at("other.pem")]),
        "error setting certificate": (url, ["--ca", fleet.at("none.pem")]),
        "does not match target host name|no alternative certificate subject name": (
            f"https://127.0.0.1:{port}",
            ca,
        ),
        "the server says 301": (f"{url}/moved", ca),
        "wrong version number|packet length": (fleet.url.replace("http:", "https:"), ca),
    }
    for words, (where, options) in wrong.items():
        done = fleet.look("a", *options, url=where)
        check(done.returncode == 3 and re.search(words, done.stderr), f"{words}: {done.stderr}")
    check(fleet.image_of("a") is None, "nothing was taken")
    check(fleet.served("") == ["301"], f"no redirect to http is followed: {fleet.served('')}")
    fleet.follow("a", *ca, url=url)


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


def stop_at_flock(fleet, times, command, **options):
    """A command that stops after so many calls of flock, and what lets it go on."""
    trace = ["strace", "-f", "-qq", "-o", fleet.at("trace"), "-e", "trace=flock"]
    inject = ["-e", f"inject=flock:signal=STOP:when={times}"]
    log = open(fleet.at("stopped.log"), "w")
    stopped = fleet.start([*trace, *inject, BINARY, *command], stdout=log, stderr=log, **options)
    fleet.wait_for("it is stopped", lambda: "SIGSTOP" in fleet.read("trace"))
    pid = int(re.match(r"\d+", fleet.read("trace"))[0])
    return stopped, lambda: os.kill(pid, signal.SIGCONT)


def test_a_load_announces_what_it_has_loaded(fleet):
    fleet.announce(0, 1000)
    version = fleet.head()["version"]
    command = ["load", NAME, "--like", "--publish", *fleet.publish_command()[3:]]
    with open(fleet.at("rows"), "w") as rows:
        rows.write("".join(f"{i}\n" for i in range(1010)))
    with open(fleet.at("rows")) as rows:
        stopped, go_on = stop_at_flock(fleet, 1, command, stdin=rows)
    fleet.load(5, 1005)  # of older rows, perhaps: the mark is not theirs
    go_on()
    check(stopped.wait() == 3, "it is refused")
    check("another process has replaced" in fleet.read("stopped.log"), fleet.read("stopped.log"))
    check(fleet.head()["version"] == version, "nothing was announced")


def test_a_publisher_that_was_stopped_is_fenced(fleet):
    fleet.announce(0, 1000)
    fleet.load(5, 1005)
    # It stops when it has begun, and given the lock back.
    stopped, go_on = stop_at_flock(fleet, 2, fleet.publish_command())
    version = fleet.head()["version"]
    fleet.publish("--epoch", "2", "--max-change", "100")
    check(fleet.head()["epoch"] == [["2"]] and fleet.head()["version"] != version, "taken over")
    with open(fleet.at("origin", NAME, "head")) as file:
        head = file.read()
    go_on()
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


def test_a_dead_origin_makes_maybes(fleet):
    fleet.announce(0, 1000)
    fleet.start_nginx()
    fleet.serve("a", "--max-lag", "3")
    fleet.wait_for("it is followed", lambda: denies(fleet, "a"))
    fleet.stop_nginx()
    fleet.wait_for("it is stale", lambda: not denies(fleet, "a"))
    fleet.start_nginx()
    fleet.wait_for("it is certain again", lambda: denies(fleet, "a"))
    fleet.wait_for("it says so", lambda: "all is well again" in fleet.log("a"))


def test_a_saved_segment_says_no_for_no_longer(fleet):
    """A dump does not know how old it may get. What the follower keeps does."""
    fleet.announce(0, 1000)
    for limit in ([], ["--max-lag", "600"]):
        fleet.follow("a", *limit, url=fleet.at("origin"))
        saved = fleet.run(["save", fleet.at(f"saved{len(limit)}")], "a.seg")
        check(saved.returncode == 0, saved.stderr)
        check(("was not saved" in saved.stderr) == bool(limit), saved.stderr)
        os.unlink(fleet.at("a.seg"))
        fleet.must(["bring", fleet.at(f"saved{len(limit)}")], "a.seg")
        there = fleet.must(["ls"], "a.seg").stdout
        check((NAME in there) == (not limit), there)
    fleet.look("a", "--max-lag", "600", url="http://127.0.0.1:1")
    check(fleet.has("a", "1", "5000") == ["1"], "its follower publishes it again")


def test_a_segment_that_was_removed_is_made_again(fleet):
    fleet.announce(0, 1000)
    fleet.start_nginx()
    fleet.serve("a")
    fleet.wait_for("it is followed", lambda: denies(fleet, "a"))
    os.unlink(fleet.at("a.seg"))
    fleet.wait_for("it is there again", lambda: fleet.has("a", 1, "absent") == ["1"])
    fleet.must(["drop", NAME], "a.seg")
    fleet.wait_for("and again", lambda: fleet.has("a", 1, "absent") == ["1"])


def test_a_start_without_the_origin_publishes_what_was_kept(fleet):
    fleet.announce(0, 1000)
    origin = fleet.at("origin")
    fleet.follow("a", url=origin)
    os.unlink(fleet.at("a.seg"))
    os.rename(origin, fleet.at("away"))
    fleet.refused(fleet.look("a", url=origin), "cannot fetch file://" + origin)
    check(denies(fleet, "a"), "what was kept is there")
    service = fleet.serve("a", url=os.path.relpath(origin))
    fleet.wait_for("it looks", lambda: "cannot fetch" in fleet.log("a"))
    os.rename(fleet.at("away"), origin)
    fleet.announce(10, 1010)
    fleet.wait_for("the next version", lambda: fleet.is_newest("a"))


def test_a_state_folder_that_was_removed_is_made_again(fleet):
    fleet.announce(0, 1000)
    fleet.start_nginx()
    port = free_port()
    fleet.serve("a", "--serve", f"127.0.0.1:{port}")
    fleet.wait_for("it is followed", lambda: denies(fleet, "a"))
    shutil.rmtree(fleet.at("a"))
    fleet.announce(10, 1010)
    fleet.wait_for("the next version", lambda: fleet.is_newest("a"))
    shutil.rmtree(fleet.at("a", "blobs"))
    fleet.announce(20, 1020)
    fleet.wait_for("and the next", lambda: fleet.is_newest("a"))
    fleet.follow("b", url=f"http://127.0.0.1:{port}")
    fleet.refused(fleet.look("a"), "another follower")
    # What cannot be made again is told once, and not with each name that it tried.
    shutil.rmtree(fleet.at("a"))
    with open(fleet.at("a"), "w"):
        fleet.announce(30, 1030)
    fleet.wait_for("it says so", lambda: "cannot make a file in" in fleet.log("a"))
    os.unlink(fleet.at("a"))
    fleet.wait_for("and the last", lambda: fleet.is_newest("a"))
    check(fleet.log("a").count("cannot make a file in") == 1, fleet.log("a"))


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


main(globals())
