"""
test_load.py - load: keys from files, pipes and compressed files; what it refuses.

Licensed under the MIT licence; see LICENSE.
"""

import gzip
import os
import re
import select
import subprocess
import time

import lib
from lib import check

KEYS = "".join(f"key {i}\n" for i in range(1000))


def has_all(b, name, keys=KEYS):
    b("has", "-vc", name, stdin=keys).gives(1, "0\n")


def packed_by_zstd(content):
    return subprocess.run(["zstd", "-qc"], input=content, capture_output=True, check=True).stdout


def test_a_file(b):
    out = b("load", "x", b.file("keys", KEYS)).gives(0).out.decode()
    line = r'x: 1000 keys in 8\.2 kB, \S+ % of absent keys get "maybe", \d+\.\d\d s\n'
    check(re.fullmatch(line, out), out)
    has_all(b, "x")
    b("has", "-c", "x", stdin="other\n").gives(1, "0\n")
    b("verify").gives(0, "")


def test_json(b):
    answer = b("load", "--json", "x", b.file("keys", KEYS + "key 1\n")).gives(0).json()
    check(answer["keys"] == 1001 and answer["items"] <= 1000, answer)
    check(answer["name"] == "x" and answer["seconds"] >= 0, answer)
    info = b("info", "--json", "x").json()
    check(set(answer) - set(info) == {"keys", "seconds"}, answer)


def test_the_standard_input(b):
    b("load", "x", stdin=KEYS).gives(0)
    b("load", "y", "-", stdin=KEYS).gives(0)
    has_all(b, "x")
    has_all(b, "y")


def test_several_files_are_one_set(b):
    """A file whose last line has no newline does not join the next one."""
    one = b.file("one", "a\nb")
    two = b.file("two.gz", gzip.compress(b"c\nd"))
    answer = b("load", "--json", "x", one, two, "-", stdin="e").gives(0).json()
    check(answer["keys"] == 5, answer)
    has_all(b, "x", "a\nb\nc\nd\ne\n")
    b("has", "x", "bc", "de").gives(1, "")


def test_compressed_files_by_content(b):
    for name, content in [
        ("gz", gzip.compress(KEYS.encode())),
        ("members", gzip.compress(KEYS[:500].encode()) + gzip.compress(KEYS[500:].encode())),
        ("zst", packed_by_zstd(KEYS.encode())),
        ("frames", packed_by_zstd(KEYS[:500].encode()) + packed_by_zstd(KEYS[500:].encode())),
        ("skipped", b"P*M\x18\x04\0\0\0size" + packed_by_zstd(KEYS.encode())),  # as pzstd
    ]:
        answer = b("load", "--json", name, b.file("keys", content)).gives(0).json()
        check(answer["keys"] == 1000, f"{name}: {answer}")
        has_all(b, name)
        b("load", name, stdin=content).gives(0)


def test_a_compressed_file_that_is_cut_or_damaged(b):
    b("load", "x", stdin="before\n").gives(0)
    for content in [gzip.compress(os.urandom(90000)), packed_by_zstd(os.urandom(90000))]:
        b("load", "x", stdin=content[:-20]).gives(3, "", "the compressed data are cut short")
        broken = content[:40000] + bytes(byte ^ 255 for byte in content[40000:40100])
        call = b("load", "x", stdin=broken + content[40100:])
        call.gives(3, "", "cannot read the standard input")
    b("has", "x", "before").gives(0, "before\n")


def test_delimiters(b):
    b("load", "x", "--delimiter", ",", stdin="a,b\nc,,d\r").gives(0)
    b("has", "-0", "x", stdin="a\0b\nc\0d\r\0").gives(0, "a\0b\nc\0d\r\0")
    b("load", "x", "-0", stdin="a\nb\0\0c").gives(0)
    b("has", "-0", "x", stdin="a\nb\0c\0").gives(0, "a\nb\0c\0")
    check(b("load", "x", "--json", stdin="a\r\n\r\n\nb\n").gives(0).json()["keys"] == 2, "lines")
    b("has", "x", "a", "a\r").gives(0, "a\n")


def test_keys_of_ten_megabytes(b):
    big = b"x" * 10_000_000
    b("load", "x", stdin=big + b"\n" + big + b"y\n").gives(0)
    b("has", "-c", "x", stdin=big + b"y\n" + big + b"z").gives(0, "1\n")
    b("add", "x", stdin=big + b"z").gives(0, "1\n")


def test_the_parameters(b):
    answer = b("load", "x", "--json", "--error-rate", "0.001", "--capacity", "5000", "--expansion",
               "4", stdin=KEYS).gives(0).json()
    check(answer["error_rate"] == 0.001 and answer["capacity"] >= 5000, answer)
    check(answer["expansion"] == 4 and answer["type"] == "scalable", answer)
    answer = b("load", "x", "--json", "--expansion", "0", stdin=KEYS).gives(0).json()
    check(answer["type"] == "fixed", answer)
    b("load", "x", "--counting", stdin="a\na\nb\n").gives(0)
    b("count", "x", "a", "b", "c").gives(0, "2 a\n1 b\n0 c\n")
    for name in "pq":
        b("load", name, "--seed", "s", "--capacity", "1000", stdin=KEYS + name).gives(0)
    b("merge", "p", "q").gives(0, "")


def test_parameters_out_of_range(b):
    for words, said in [
        (["-e", "0"], '--error-rate must be greater than 0 and at most 0.5, "0" given'),
        (["-e", "0.51"], '--error-rate must be greater than 0 and at most 0.5, "0.51" given'),
        (["-e", "nan"], '--error-rate must be greater than 0 and at most 0.5, "nan" given'),
        (["--max-error-rate", "1.01"], "--max-error-rate must be greater than 0 and at most 1"),
        (["-n", "0"], "--capacity must be a number from 1 to 1099511627776"),
        (["-n", "-1"], "--capacity must be a number from 1 to 1099511627776"),
        (["-n", "1099511627777"], "--capacity must be a number from 1 to 1099511627776"),
        (["--expansion", "1"], '--expansion must be 0, or a number from 2 to 32, "1" given'),
        (["--expansion", "33"], "--expansion must be a number from 0 to 32"),
        (["--counting", "--expansion", "2"], "--expansion must be 0 with --counting"),
        (["--like", "--seed", "s"], "--like and --seed exclude each other"),
        (["--seed", ""], "--seed must be between 1 and 64 bytes long, 0 given"),
        (["--seed", "x" * 65], "--seed must be between 1 and 64 bytes long, 65 given"),
        (["--delimiter", ""], '--delimiter must be one byte, "" given'),
        (["--delimiter", ",,"], '--delimiter must be one byte, ",," given'),
        (["-0", "-d", ","], "--null and --delimiter exclude each other"),
        (["--window", "9"], "there is no option --window"),
        (["--filter-memory", "1"], "--filter-memory must be a number from 1048576"),
        (["--cache-memory", "1"], "--cache-memory must be 0, or at least 1M"),
    ]:
        b("load", "x", *words, stdin=KEYS).gives(2, "", said)
    b("load", "", stdin=KEYS).gives(2, "", "a filter's name has 1 to 63 bytes, 0 given")
    b("load", "x" * 64, stdin=KEYS).gives(2, "", "a filter's name has 1 to 63 bytes, 64 given")
    b("load").gives(2, "", "too few arguments")
    check(not os.path.exists(b.path), "wrong usage made a segment")


def test_no_keys(b):
    for content in ["", "\n\n\r\n"]:
        b("load", "x", stdin=content).gives(
            3, "", 'no key was offered for filter "x"; nothing was published (--allow-empty')
    b("ls").gives(0, "")
    b("load", "x", "--allow-empty").gives(0)
    b("has", "x", "a").gives(1, "")


def test_files_that_cannot_be_read(b):
    good = b.file("good", KEYS)
    missing = os.path.join(b.folder, "missing")
    b("load", "x", good, missing).gives(3, "", f"cannot read {missing}: No such file or directory")
    check(not os.path.exists(b.path), "a segment was made")
    b("load", "x", b.folder).gives(3, "", f"cannot read {b.folder}: Is a directory")
    b("ls").gives(0, "")
    b("load", "x\xff", b.file(b"\xfe\n".decode("latin1"), "")).gives(3, "", "no key was offered")


def test_the_rate_is_above_the_limit(b):
    b("load", "x", stdin="before\n").gives(0)
    b("load", "x", "--max-error-rate", "1e-12", stdin=KEYS).gives(
        3, "", "which is more than --max-error-rate, 1e-12; nothing was published")
    b("has", "x", "before").gives(0, "before\n")


def test_more_keys_than_fit(b):
    b("load", "x", "--filter-memory", "1M", stdin="before\n").gives(0)
    keys = "".join(f"{i}\n" for i in range(2_000_000))
    b("load", "x", stdin=keys).gives(3, "", "bytes) are free; raise bloomshm.filter_memory")
    b("load", "x", "--capacity", "100000000", stdin=KEYS).gives(3, "", "the filter takes 1")
    b("has", "x", "before").gives(0, "before\n")
    b("verify").gives(0, "")


def test_names_of_any_byte(b):
    name = bytes(i for i in range(1, 64))
    b("load", name, stdin=KEYS).gives(0)
    b("load", b"\xff\n\x1b[2J", stdin=KEYS).gives(0)
    b("ls", "-0").gives(0, name + b"\0" + b"\xff\n\x1b[2J\0")
    has_all(b, name)


def test_segments_that_cannot_be_used(b):
    b("load", "x", stdin=KEYS).gives(0)
    b("load", "x", "--readonly", stdin=KEYS).gives(3, "", "the filters are mapped read-only")
    with open(b.path, "r+b") as segment:
        segment.write(b"\0" * 64)
    b("load", "x", stdin=KEYS).gives(3, "", f"{b.path} is not a bloomshm segment")
    os.truncate(b.path, 100)
    b("load", "x", stdin=KEYS).gives(3, "", "is not a bloomshm segment")
    os.remove(b.path)
    with open(b.path, "wb"):
        pass
    if os.geteuid() == 0:
        os.chown(b.path, 12345, 12345)
        b("load", "x", stdin=KEYS).gives(3, "", "belongs to uid 12345")


def test_a_closed_standard_input(b):
    done = subprocess.run(["sh", "-c", f"{lib.BINARY} load x <&-"], capture_output=True,
                          env=b.environment(), check=False)
    check(done.returncode == 3 and b"cannot read the standard input: Bad file" in done.stderr,
          done.stderr)
    check(not os.path.exists(b.path), "a segment was made")


def test_a_file_of_another_user_makes_no_segment(b):
    if os.geteuid() != 0:
        return
    os.chmod(b.folder, 0o777)
    private = b.file("keys", KEYS)
    os.chmod(private, 0o600)
    b("load", "x", "--user", "nobody", private).gives(3, "", f"cannot read {private}: Permission")
    check(not os.path.exists(b.path), "a segment was made")


def test_the_segment_belongs_to_the_user(b):
    if os.geteuid() != 0:
        return
    os.chmod(b.folder, 0o777)
    b("load", "x", "--user", "nobody", b.file("keys", KEYS)).gives(0)
    check(os.stat(b.path).st_uid != 0, "root made it")
    b("load", "x", stdin=KEYS).gives(3, "", "root becomes that user with --user NAME")


def on_a_terminal(b, *words, until=b""):
    """The status, and what the command shows on a terminal while keys come: for half a second at
    least, and until it shows what is waited for."""
    leader, follower = lib.terminal()
    process = b.start("load", "x", *words, stdin=subprocess.PIPE, stderr=follower)
    os.close(follower)
    shown = b""
    for i in range(10 * lib.SECONDS):
        if i > 5 and until in shown:
            break
        process.stdin.write(b"%d\n" % i)
        process.stdin.flush()
        time.sleep(0.1)
        while select.select([leader], [], [], 0)[0]:
            shown += os.read(leader, 65536)
    process.communicate(timeout=lib.SECONDS)
    try:
        while part := os.read(leader, 65536):
            shown += part
    except OSError:  # the terminal's other end was closed
        pass
    os.close(leader)
    return process.returncode, shown


def test_progress_is_shown_on_a_terminal_only(b):
    status, shown = on_a_terminal(b, until=b" keys/s")
    check(status == 0 and b" keys, " in shown and b" keys/s" in shown, shown)
    check(b"making the filter" in shown and shown.endswith(b"\r\x1b[K"), shown)
    check(on_a_terminal(b, "--quiet") == (0, b""), "--quiet shows nothing")
    call = b("load", "x", stdin=KEYS).gives(0)
    check(call.err == b"", call.err)


def test_progress_knows_how_much_is_left(b):
    leader, follower = lib.terminal()
    # So many that it is shown on a fast machine too: from 0.2 s on.
    path = b.file("keys", "".join(f"key {i}\n" for i in range(1_000_000)) * 16)
    process = b.start("load", "x", path, stderr=follower)
    os.close(follower)
    process.communicate(timeout=lib.SECONDS)
    shown = b""
    try:
        while part := os.read(leader, 65536):
            shown += part
    except OSError:
        pass
    os.close(leader)
    check(process.returncode == 0 and b" %, " in shown and b" left" in shown, shown)


def test_like_the_one_that_stands(b):
    """Seed, parameters and size stay; a parameter that is given must be the same."""
    def load(*options):
        return b("load", "--json", "x", "--like", *options, stdin=KEYS)

    first = load("--error-rate", "0.001", "--expansion", "4").gives(0).json()
    check(first["capacity"] >= 1250, first)
    b("copy", "x", "before").gives(0)
    again = load().gives(0).json()
    for name in "type", "error_rate", "expansion", "capacity", "partitions", "hashes":
        check(again[name] == first[name], (name, first, again))
    load("--error-rate", "0.001").gives(0)
    # Only filters of one seed and size can be merged.
    b("merge", "before", "x").gives(0)
    load("--error-rate", "0.01").gives(
        3, "", 'filter "x" exists already, with error_rate: 0.001; asked for: 0.01'
    )
