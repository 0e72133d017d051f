"""
test_save.py - save and bring: a whole segment in a folder.

Licensed under the MIT licence; see LICENSE.
"""

import copy
import ctypes
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

import lib
from lib import check
from test_cache import records

KEYS = "".join(f"key{i}\n" for i in range(20000))
ABSENT = "".join(f"absent{i}\n" for i in range(20000))


def fill(b):
    """All kinds of filters, and a record."""
    b("load", "fixed", "--expansion", "0", stdin=KEYS).gives(0)
    b("add", "growing", "--create", "-n", "100", stdin=KEYS).gives(0)
    b("reserve", "counting", "-n", "1000", "--counting").gives(0)
    b("add", "counting", "x", "x", "x", "y").gives(0)
    b("reserve", "sliding", "-n", "1000", "-w", "3600").gives(0)
    b("add", "sliding", "s").gives(0)
    b("reserve", b"any\xff\x01 bytes\n", "-n", "10").gives(0)
    b("cache", "set", "k", "v").gives(0)


def saved(b, name="saved"):
    folder = os.path.join(b.folder, name)
    b("save", folder).gives(0)
    return folder


def other(b, name="other"):
    return ["--path", os.path.join(b.folder, name)]


def left(b):
    return sorted(f for f in os.listdir(b.folder) if f.startswith("saved"))


def checksum(path):
    hashed = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
    hashed.restype = ctypes.c_uint64
    hashed.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    with open(path, "rb") as file:
        content = file.read()
    return f"{hashed(content, len(content)):016x}"


def manifest_of(folder):
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
        return json.load(file)


def write_manifest(folder, manifest):
    text = manifest if isinstance(manifest, str) else json.dumps(manifest)
    with open(os.path.join(folder, "manifest.json"), "w", encoding="utf-8") as file:
        file.write(text)


def test_into_a_segment_of_other_sizes(b):
    fill(b)
    items = [(b"r%d" % i, 5, b"value %d" % i) for i in range(10000)]
    b("cache", "restore", b.file("records", records(*items))).gives(0, "10000\n")
    b("cache", "set", "--ttl", "300", "later", "v").gives(0)
    b("reserve", "aged", "-n", "100", "-w", "2").gives(0)
    b("add", "aged", "a").gives(0)
    before = {name: b("has", name, stdin=ABSENT).out for name in ["fixed", "growing"]}
    for _ in range(20):
        begun = time.monotonic()
        b("cache", "set", "--ttl", "3", "soon", "v").gives(0)
        call = b("save", os.path.join(b.folder, "saved")).gives(0)
        if time.monotonic() - begun < 2:  # so it lived when it was saved
            break
        shutil.rmtree(os.path.join(b.folder, "saved"))
    check(call.out.startswith(b"saved 6 filters and 10003 records, "), call.out)
    time.sleep(4)
    new = other(b)
    call = b("bring", os.path.join(b.folder, "saved"), *new, "--filter-memory", "3M",
             "--cache-memory", "5M", "--cache-records", "20000", "--json").gives(0)
    told = call.json()
    check(told["created"] and told["records"] == 10002 and told["records_saved"] == 10003, told)
    check({f["name"] for f in told["filters"]} == {"fixed", "growing", "counting", "sliding",
                                                    "aged", "any\\xFF\\x01 bytes\\x0A"}, told)
    status = b("status", "--json", *new).json()
    check(status["filter_bytes"] == 3 << 20 and status["cache_bytes"] == 5 << 20, status)
    check(b("cache", "info", "--json", *new).json()["max_records"] == 20000, "max_records")
    for name in ["fixed", "growing"]:
        check(b("has", name, *new, stdin=KEYS).out == KEYS.encode(), f"{name} has its keys")
        check(b("has", name, *new, stdin=ABSENT).out == before[name], f"{name} denies as before")
    b("count", "counting", "x", "y", *new).gives(0, "3 x\n1 y\n")
    b("has", "sliding", "s", "t", *new).gives(0, "s\n")
    b("has", "aged", "a", *new).gives(1, "")
    b("cache", "get", "r77", "later", *new).gives(0, "r77\tvalue 77\nlater\tv\n")
    b("cache", "get", "soon", *new).gives(1, "")
    b("verify", *new).gives(0, "")


def test_the_sizes_of_the_saved_segment(b):
    b("reserve", "f", "-n", "10", "--filter-memory", "7M", "--cache-memory", "3M",
      "--cache-records", "77", "--mode", "0640").gives(0)
    folder = os.path.join(b.folder, "saved")
    b("save", folder).gives(3, "", "has the mode 0640")
    b("save", folder, "--mode", "0640").gives(0)
    check(os.stat(folder).st_mode & 0o7777 == 0o700, "the folder's mode")
    b("bring", folder, *other(b)).gives(0)
    figures = b("status", "--json", "--mode", "0640", *other(b)).json()
    check(figures["filter_bytes"] == 7 << 20 and figures["mode"] == 0o640, figures)
    figures = b("cache", "info", "--json", "--mode", "0640", *other(b)).json()
    check(figures["bytes_total"] == 3 << 20 and figures["max_records"] == 77, figures)


def test_a_second_save_replaces_the_first(b):
    fill(b)
    folder = saved(b)
    b("add", "counting", "new").gives(0)
    b("drop", "fixed").gives(0)
    call = b("save", folder + "//", "--json").gives(0).json()
    check(call["filters"] == 4 and call["records"] == 1, call)
    check(left(b) == ["saved"], left(b))
    b("bring", folder, *other(b)).gives(0)
    b("has", "counting", "new", *other(b)).gives(0, "new\n")
    b("info", "fixed", *other(b)).gives(3, "", "is not published")
    sub = subprocess.run([lib.BINARY, "save", "saved"], cwd=b.folder, env=b.environment(),
                         capture_output=True, check=True)
    check(sub.stderr == b"" and left(b) == ["saved"], "a relative path")


def test_filters_that_are_there_are_replaced(b):
    fill(b)
    folder = saved(b)
    b("clear", "fixed").gives(0)
    b("add", "counting", "y").gives(0)
    b("cache", "set", "k", "newer").gives(0)
    call = b("bring", folder).gives(0)
    check(b"fixed (replaced the one that was there)\n" in call.out, call.out)
    check(call.out.endswith(b"brought 5 filters and 0 of 1 records\n"), call.out)
    check(b("has", "fixed", "-c", stdin=KEYS).out == b"20000\n", "fixed")
    b("count", "counting", "y").gives(0, "1 y\n")
    b("cache", "get", "k").gives(0, "newer\n")


def test_filters_that_cannot_fit(b):
    b("load", "large", "-n", "2000000", stdin=KEYS).gives(0)
    folder = saved(b)
    b("bring", folder, *other(b), "--filter-memory", "1M").gives(3, "", "nothing was changed")
    check(not os.path.exists(os.path.join(b.folder, "other")), "a segment was made")
    b("reserve", "f", "-n", "10", *other(b), "--filter-memory", "1M").gives(0)
    b("bring", folder, *other(b)).gives(3, "", "the filters need")
    b("ls", *other(b)).gives(0, "f\n")
    b("bring", folder, *other(b, "third"), "--filter-memory", "3M").gives(0)
    b("bring", folder, *other(b, "third")).gives(3, "", "at once")
    b("bring", folder, *other(b, "third"), "--filter-memory", "x").gives(2, "", "--filter-memory")
    b("bring", folder, *other(b, "fourth"), "--cache-memory", "0").gives(0)


def test_no_record_store(b):
    b("reserve", "f", "-n", "10", "--cache-memory", "0").gives(0)
    folder = saved(b)
    check(manifest_of(folder)["records"] is None, "records")
    call = b("bring", folder, *other(b)).gives(0)
    check(call.out.endswith(b"brought 1 filters and 0 of 0 records (the segment has no record "
                            b"store)\n"), call.out)


def test_no_segment_and_no_folder(b):
    folder = os.path.join(b.folder, "saved")
    b("save", folder).gives(3, "", "no segment yet")
    b("save", folder, "--if-exists").gives(0, "")
    check(left(b) == [], left(b))
    b("bring", folder).gives(3, "", f"there is no folder {folder}")
    b("bring", folder, "--boot").gives(0, "")
    b("bring", "/").gives(2, "", "the folder needs a name of its own")
    b("bring", "").gives(2, "", "the folder needs a name of its own")
    check(not os.path.exists(b.path), "a segment was made")


def test_places_that_are_something_else(b):
    fill(b)
    good = saved(b, "good")
    file = b.file("file", "x")
    link = os.path.join(b.folder, "link")
    os.symlink(good, link)
    folder = os.path.join(b.folder, "folder")
    os.mkdir(folder)
    b("save", file).gives(3, "", "is a file; it stays as it is")
    b("save", link).gives(3, "", "is a link; it stays as it is")
    b("save", folder).gives(3, "", "that no save has made")
    for name in ["manifest.json", "mine"]:
        with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
            out.write("{}")
    b("save", folder).gives(3, "", "that no save has made")
    for place in [".", "..", "/", "a/..", ""]:
        b("save", place).gives(2, "", "the folder needs a name of its own")
    b("save", os.path.join(b.folder, "none/saved")).gives(3, "", "No such file")
    b("save", "/proc/saved").gives(3, "", "cannot make the folder /proc/saved.new-")
    b("save", os.path.join(b.folder, "x" * 250)).gives(3, "", "File name too long")
    check(sorted(os.listdir(b.folder)) == ["file", "folder", "good", "link", "segment"], "left")
    b("bring", link, *other(b)).gives(0)
    b("bring", file).gives(3, "", "cannot open the folder")
    b("bring", folder).gives(3, "", "manifest.json: it does not describe a saved segment")


def test_another_file_system(b):
    fill(b)
    place = tempfile.mkdtemp(prefix="bloomshm-cli.", dir="/tmp")
    try:
        b("save", os.path.join(place, "saved")).gives(0)
        b("save", os.path.join(place, "saved")).gives(0)
        check(os.listdir(place) == ["saved"], os.listdir(place))
        b("bring", os.path.join(place, "saved"), *other(b)).gives(0)
    finally:
        shutil.rmtree(place)


def test_damaged_folders(b):
    fill(b)
    folder = saved(b)
    bad = os.path.join(b.folder, "bad")

    def refused(said, change):
        shutil.copytree(folder, bad)
        change()
        call = b("bring", bad, *other(b))
        call.gives(3, "", said)
        check(not os.path.exists(os.path.join(b.folder, "other")), "a segment was made")
        shutil.rmtree(bad)

    def write(name, content, mode="wb"):
        with open(os.path.join(bad, name), mode) as file:
            file.write(content)

    refused("cannot open the file", lambda: os.unlink(bad + "/filter-00002"))
    refused("cannot open the file", lambda: os.unlink(bad + "/manifest.json"))
    refused("another size", lambda: os.truncate(bad + "/filter-00002", 100))
    refused("another size", lambda: write("filter-00002", b"x", "ab"))
    refused("another size", lambda: os.truncate(bad + "/filter-00002", 1 << 50))  # sparse
    refused("another checksum", lambda: write("records", b"x", "r+b"))
    refused("that is not in the manifest", lambda: write("filter-00009", b""))
    refused("that is not in the manifest", lambda: write("more", b""))
    refused("it is not JSON", lambda: os.truncate(bad + "/manifest.json", 200))
    refused("it is not JSON", lambda: write("manifest.json", b"\0\xff" * 100))
    refused("it is not JSON", lambda: write("manifest.json", b"[" * 100000))
    refused("it is larger than any", lambda: os.truncate(bad + "/manifest.json", 65 << 20))

    def link(to):
        os.unlink(bad + "/filter-00002")
        os.symlink(to, bad + "/filter-00002")

    def fifo(name):
        os.unlink(os.path.join(bad, name))
        os.mkfifo(os.path.join(bad, name))

    refused("cannot open the file", lambda: link(folder + "/filter-00002"))
    refused("is not a regular file", lambda: fifo("filter-00002"))
    refused("is not a regular file", lambda: fifo("manifest.json"))


def hostile(manifest):
    """(what is said, a manifest)"""
    def changed(*path_and_value):
        *path, last, value = path_and_value
        new = copy.deepcopy(manifest)
        part = new
        for step in path:
            part = part[step]
        part[last] = value
        return new

    for name in ["../../etc/x", "/etc/passwd", "filter-00002", "filter-1", "", None, 5, "records"]:
        yield "the file filter-00001 is damaged", changed("filters", 0, "file", name)
    for name in ["", "0", "xx", "00", "6", "AB", None, 7, "61" * 64, "6100"]:
        yield "the file filter-00001 is damaged", changed("filters", 0, "name_hex", name)
    for size in [-1, 2**62, 1.5, "8464", None, True]:
        said = "another size" if size == 2**62 else "the file filter-00001 is damaged"
        yield said, changed("filters", 0, "bytes", size)
    for check_ in ["", "0" * 15, "0" * 17, "G" * 16, 5, None]:
        yield "the file filter-00001 is damaged", changed("filters", 0, "xxh3_64", check_)
    yield "another checksum", changed("filters", 0, "xxh3_64", "0" * 16)
    yield "two filters have one name", changed(
        "filters", 0, "name_hex", manifest["filters"][1]["name_hex"])
    for filters in [None, {}, 5, "x"]:
        yield "the list of filters is damaged", changed("filters", filters)
    yield "the list of filters is damaged", changed("filters", [{}] * 16385)
    yield "is damaged", changed("filters", [None])
    yield "that is not in the manifest", changed("filters", [])
    yield "that is not in the manifest", changed("records", None)
    for value in [{}, 5, [], {**manifest["records"], "file": "../x"}]:
        yield "the entry of the records is damaged", changed("records", value)
    for key, values in {
        "filter_memory": [0, -1, 1, 2**62, "1M", None],
        "cache_memory": [-1, 1, 2**62, None],
        "cache_records": [-1, 2**40],
        "mode": [-1, 0o1777, "0600"],
    }.items():
        for value in values:
            yield "the sizes of the segment are damaged", changed("segment", key, value)
    yield "the sizes of the segment are damaged", changed("segment", None)
    for version in [0, 2, "1", None, -1]:
        yield "another version of bloomshm", changed("version", version)
    for name in ["", "x", None, 5]:
        yield "does not describe a saved segment", changed("format", name)
    for when in [-1, 1e300, None, "now"]:
        yield "the date is damaged", changed("saved_at", when)
    text = json.dumps(manifest)
    yield "it is not JSON", text.replace('"version": 1', '"version": 99999999999999999999')
    yield "it is not JSON", text.replace('"version": 1', '"version": 1, "version": 1')
    yield "it is not JSON", text.replace('"version": 1', '"version": NaN')
    yield "it is not JSON", text + "x"
    yield "it is not JSON", ""
    yield "does not describe a saved segment", "[]"
    yield "does not describe a saved segment", "{}"


def test_hostile_manifests(b):
    b("reserve", "a", "-n", "10").gives(0)
    b("reserve", "b", "-n", "10").gives(0)
    b("cache", "set", "k", "v").gives(0)
    folder = saved(b)
    manifest = manifest_of(folder)
    for said, made in hostile(manifest):
        write_manifest(folder, made)
        b("bring", folder, *other(b)).gives(3, "", said)
        check(not os.path.exists(os.path.join(b.folder, "other")), f"{said}: a segment was made")
    write_manifest(folder, {**manifest, "more": [1]})
    b("bring", folder, *other(b)).gives(0)


def test_a_sound_manifest_of_a_damaged_dump(b):
    """Its checksum was made anew: the engine refuses it, and filters before it stay."""
    b("reserve", "a", "-n", "10").gives(0)
    b("reserve", "b", "-n", "10").gives(0)
    folder = saved(b)
    manifest = manifest_of(folder)
    with open(folder + "/filter-00002", "r+b") as file:
        file.seek(50)
        file.write(b"xxxx")
    manifest["filters"][1]["xxh3_64"] = checksum(folder + "/filter-00002")
    write_manifest(folder, manifest)
    call = b("bring", folder, *other(b))
    call.gives(3, None, f"the file {folder}/filter-00002 is damaged")
    b("ls", *other(b)).gives(0, "a\n")
    b("verify", *other(b)).gives(0, "")


def test_saves_at_once(b):
    fill(b)
    folder = os.path.join(b.folder, "saved")
    for _ in range(5):
        calls = [b.start("save", folder) for _ in range(4)]
        bringing = b.start("bring", folder) if os.path.exists(folder) else None
        for call in calls:
            _, err = call.communicate(timeout=lib.SECONDS)
            check(call.returncode == 0 and err == b"", err)
        if bringing is not None:
            out, err = bringing.communicate(timeout=lib.SECONDS)
            check(bringing.returncode == 0, f"{out} {err}")
    b("save", folder).gives(0)
    check(left(b) == ["saved"], left(b))
    b("bring", folder, *other(b)).gives(0)


def test_a_save_that_is_about_to_remove_what_another_one_publishes(b):
    library = library_of(b, """
        #include <signal.h>
        #include <sys/file.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        static int stopped; /* once */
        int flock(int fd, int how)
        {
            if (how == (LOCK_EX | LOCK_NB) && !stopped++) {
                raise(SIGSTOP);
            }
            return (int) syscall(SYS_flock, fd, how);
        }
    """)
    fill(b)
    folder = saved(b)
    os.rename(folder, folder + ".new-abcdef")  # of another save, before its last step
    late = b.start("save", folder, env=b.environment(LD_PRELOAD=library))
    os.waitid(os.P_PID, late.pid, os.WSTOPPED)
    os.rename(folder + ".new-abcdef", folder)
    late.send_signal(signal.SIGCONT)
    _, err = late.communicate(timeout=lib.SECONDS)
    check(late.returncode == 0 and err == b"", err)
    b("bring", folder, *other(b)).gives(0)
    check(left(b) == ["saved"], left(b))


def test_a_save_while_filters_are_loaded_and_dropped(b):
    fill(b)
    load = b.start("load", "fixed", stdout=subprocess.DEVNULL)
    load.stdin.write(KEYS.encode())
    load.stdin.flush()
    ours, theirs = os.pipe()
    churn = subprocess.Popen(
        ["bash", "-c", f"while :; do {lib.BINARY} reserve c -n 10; {lib.BINARY} drop c; "
         f"{lib.BINARY} add growing $RANDOM; {lib.BINARY} cache set $RANDOM v; done"],
        env=b.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True, pass_fds=[theirs])
    os.close(theirs)
    try:
        for i in range(10):
            folder = saved(b)
            b("bring", folder, *other(b, f"other{i}")).gives(0)
            check(b("has", "fixed", "-c", *other(b, f"other{i}"), stdin=KEYS).out == b"20000\n", "")
            b("verify", *other(b, f"other{i}")).gives(0, "")
            os.unlink(os.path.join(b.folder, f"other{i}"))
    finally:
        os.killpg(churn.pid, signal.SIGKILL)
        churn.wait()
        os.read(ours, 1)  # its end: the last of them has ended
        os.close(ours)
    load.stdin.close()
    check(load.wait(lib.SECONDS) == 0, load.stderr.read())


def test_signals_leave_nothing(b):
    fill(b)
    b("load", "large", "-n", "20000000", "--path", b.path, stdin=KEYS).gives(0)
    folder = os.path.join(b.folder, "saved")
    ended = 0
    for number in [signal.SIGINT, signal.SIGTERM]:
        for delay in [0, 0.001, 0.002, 0.004, 0.008, 0.016]:
            call = b.start("save", folder)
            lib.moved(call, 1, "wchar")
            time.sleep(delay)
            call.send_signal(number)
            _, err = call.communicate(timeout=lib.SECONDS)
            check(call.returncode in (0, 128 + number, -number) and err == b"", err)
            check(left(b) == (["saved"] if call.returncode == 0 else []), left(b))
            ended += call.returncode == 128 + number
            shutil.rmtree(folder, ignore_errors=True)
    check(ended != 0, "no signal met a save")


def test_what_a_killed_save_leaves_is_removed(b):
    fill(b)
    b("load", "large", "-n", "20000000", stdin=KEYS).gives(0)
    folder = os.path.join(b.folder, "saved")
    met = 0
    for delay in [0, 0.001, 0.002, 0.004, 0.008, 0.016]:
        call = b.start("save", folder)
        lib.moved(call, 1, "wchar")
        time.sleep(delay)
        call.kill()
        call.communicate(timeout=lib.SECONDS)
        met += any(name != "saved" for name in left(b))
    check(met != 0, "no save was killed in time")
    os.mkdir(os.path.join(b.folder, "saved.new-people"))  # not ours: it has another file
    with open(os.path.join(b.folder, "saved.new-people", "mine"), "w", encoding="utf-8"):
        pass
    b("save", folder).gives(0)
    check(left(b) == ["saved", "saved.new-people"], left(b))
    b("bring", folder, *other(b)).gives(0)


def test_a_full_disk(b):
    fill(b)
    b("load", "large", "-n", "2000000", stdin=KEYS).gives(0)
    place = os.path.join(b.folder, "small")
    os.mkdir(place)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", place], check=False,
                      stderr=subprocess.DEVNULL).returncode != 0:
        return  # only root may
    try:
        b("save", os.path.join(place, "saved")).gives(3, "", "No space left on device")
        check(os.listdir(place) == [], os.listdir(place))
        b("drop", "large").gives(0)
        b("save", os.path.join(place, "saved")).gives(0)
        b("load", "large", "-n", "2000000", stdin=KEYS).gives(0)
        b("save", os.path.join(place, "saved")).gives(3, "", "No space left on device")
        check(os.listdir(place) == ["saved"], "the one before is there still")
        b("bring", os.path.join(place, "saved"), *other(b)).gives(0)
        b("save", place).gives(3, "", "that no save has made")
    finally:
        subprocess.run(["umount", place], check=True)


def test_at_boot(b):
    fill(b)
    folder = saved(b)
    call = b("bring", folder, "--boot").gives(0, "", "nothing was brought")
    check(left(b) == [], left(b))
    folder = saved(b)
    os.unlink(b.path)
    b("cache", "restore", b.file("none", records())).gives(0)  # a segment without filters
    b("bring", folder, "--boot", "--json").gives(0)
    check(left(b) == [], left(b))
    check(b("ls").out.count(b"\n") == 5, "five filters")
    folder = saved(b)
    os.truncate(os.path.join(folder, "records"), 5)
    os.unlink(b.path)
    b("bring", folder, "--boot").gives(3, "", "another size")
    check(left(b) == ["saved"], "what was not brought stays")


def test_a_link_at_boot(b):
    """It is no folder that bring may remove; nothing is made beside it."""
    fill(b)
    os.symlink(saved(b), os.path.join(b.folder, "link"))
    os.unlink(b.path)
    call = b("bring", os.path.join(b.folder, "link"), "--boot")
    check(call.status == 3 and b"cannot remove the folder" in call.err, call.err)
    check(sorted(os.listdir(b.folder)) == ["link", "saved", "segment"], os.listdir(b.folder))


def test_other_users(b):
    if os.geteuid() != 0:
        return
    fill(b)
    folder = saved(b)
    os.chmod(b.folder, 0o777)
    mine = ["--user", "nobody", *other(b)]
    b("bring", folder, *mine).gives(3, "", "cannot open the folder")
    os.chmod(folder, 0o755)
    b("bring", folder, *mine).gives(3, "", "Permission denied")
    uid = int(subprocess.run(["id", "-u", "nobody"], capture_output=True, check=True).stdout)
    os.chown(folder, uid, -1)
    b("bring", folder).gives(3, "", f"belongs to uid {uid}; it is not trusted")
    os.chmod(b.folder, 0o755)
    b("reserve", "f", "-n", "10", *mine).gives(3, "", "Permission denied")
    place = os.path.join(b.folder, "place")
    os.mkdir(place)
    os.chmod(b.folder, 0o777)
    b("reserve", "f", "-n", "10", *mine).gives(0)
    b("save", os.path.join(place, "saved"), *mine).gives(3, "", "Permission denied")
    check(os.listdir(place) == [], os.listdir(place))


def library_of(b, text):
    """To be loaded before others: it has functions of its own in place of theirs."""
    if "asan" in lib.BINARY:
        raise lib.Skipped("the sanitizer must be the first library")
    source = b.file("own.c", text)
    library = os.path.join(b.folder, "own.so")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def test_a_file_system_that_cannot_exchange(b):
    library = library_of(
        b, "#include <errno.h>\nint renameat2(void) { errno = EINVAL; return -1; }\n"
    )
    fill(b)
    folder = os.path.join(b.folder, "saved")
    for keys in ["one", "two", "three"]:
        b("add", "counting", keys).gives(0)
        b("save", folder, LD_PRELOAD=library).gives(0)
        check(left(b) == ["saved"], left(b))
    b("bring", folder, *other(b)).gives(0)
    b("has", "counting", "three", *other(b)).gives(0, "three\n")


def test_segments_that_cannot_be_used(b):
    fill(b)
    folder = saved(b)
    b("bring", folder, "--readonly").gives(3, "", "read-only")
    b("bring", folder, "--readonly", *other(b)).gives(3, "", "no segment yet")
    b("save", os.path.join(b.folder, "saved2"), "--readonly").gives(0)
    b("save", folder, "x").gives(2, "", "too many arguments")
    b("bring", folder, "--mode", "9").gives(2, "", "--mode must be octal")
    with open(b.path, "r+b") as file:
        file.write(b"x" * 64)
    b("save", folder).gives(3, "", "is not a bloomshm segment")
    b("bring", folder).gives(3, "", "is not a bloomshm segment")
    check(left(b) == ["saved", "saved2"], left(b))
