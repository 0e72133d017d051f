"""
test_show.py - status, verify, ls, info.

Licensed under the MIT licence; see LICENSE.
"""

import os

import lib
from lib import check

STATUS = """available reason path layout_version owner_uid mode filter_bytes filter_bytes_free
    largest_free_bytes cache_bytes cache_bytes_free filters attached repairs lock_timeouts questions
    maybes outbox_keys outbox_bytes outbox_bytes_free unsent missing_answers last_error""".split()
INFO = """name type error_rate capacity items expansion window hashes partitions bytes bits_per_key
    fill estimated_error_rate worst_partition_error_rate generation published_at questions maybes
    fetches false_positives source version lag max_lag stale unsent layers""".split()
LAYER = "capacity items error_rate hashes partitions bytes fill estimated_error_rate".split()
# What a terminal may not get as it is, and how it is shown.
NAMES = {
    b'"><script>': '"><script>',
    b"bad\xff\xc3utf8": "bad\\xFF\\xC3utf8",
    b"control\x01\x1b[31m\n": "control\\x01\\x1B[31m\\x0A",
    "turned\u202eround".encode(): "turned\\xE2\\x80\\xAEround",
    b"App\\Filter": "App\\Filter",
    b"App\\x01": "App\\x5Cx01",
    "größe 文字".encode(): "größe 文字",
    b"a" * 63: "a" * 63,
}


def keys_of(figures):
    """The names at the begin of the lines."""
    return [line.split()[0] for line in figures.decode().splitlines()]


def test_without_a_segment(b):
    for verb in (["status"], ["verify"], ["ls"], ["ls", "-l"], ["info", "x"]):
        for form in ([], ["--json"]):
            b(*verb, *form).gives(3, "", f"no segment yet at {b.path}")
    check(not os.path.exists(b.path), "a verb that looks has made a segment")


def test_status(b):
    b("load", "articles", stdin="vim\ngimp\n")
    figures = b("status", "--json").gives(0).json()
    check(list(figures) == STATUS, figures)
    check(figures["available"] is True and figures["reason"] is None, figures)
    check(figures["path"] == b.path and figures["filters"] == 1, figures)
    check(figures["mode"] == 0o600 and figures["owner_uid"] == os.geteuid(), figures)
    check(figures["filter_bytes"] == 32 << 20 and figures["cache_bytes"] == 16 << 20, figures)
    out = b("status").gives(0).out
    check(keys_of(out) == STATUS and b"mode                        0600\n" in out, out)
    b("has", "articles", "vim", "emacs")
    figures = b("status", "--json").json()
    check((figures["questions"], figures["maybes"]) == (2, 1), figures)


def test_info(b):
    b("load", "articles", stdin="vim\ngimp\n")
    figures = b("info", "articles", "--json").gives(0).json()
    check(list(figures) == INFO, list(figures))
    check([list(layer) for layer in figures["layers"]] == [LAYER], figures)
    check(list(figures["fetches"]) == "asked denied found loaded confirmed".split(), figures)
    check([figures[key] for key in INFO[:2]] == ["articles", "scalable"], figures)
    check(figures["items"] == 2, figures)
    lines = keys_of(b("info", "articles").gives(0).out)
    plain = INFO.index("fetches") + 1
    check(lines[:plain] == INFO[:plain], lines)
    b("reserve", "empty", "-n", "10")
    check(b("info", "empty", "--json").json()["bits_per_key"] is None, "there is no key")
    b("info", "none").gives(3, "", f'filter "none" is not published in {b.path}')
    b("info", "").gives(2, "", "a filter's name has 1 to 63 bytes, 0 given")
    b("info", "x" * 64).gives(2, "", "a filter's name has 1 to 63 bytes, 64 given")


def test_names_of_any_bytes(b):
    for name in NAMES:
        b("reserve", name, "-n", "10").gives(0)
    order = sorted(NAMES)
    b("ls").gives(0, "".join(NAMES[name] + "\n" for name in order))
    b("ls", "-0").gives(0, b"".join(name + b"\0" for name in order))
    check(b("ls", "--json").gives(0).json() == [NAMES[name] for name in order], "as JSON")
    infos = b("ls", "-l", "--json").gives(0).json()
    check([info["name"] for info in infos] == [NAMES[name] for name in order], infos)
    lines = b("ls", "-l").gives(0).out.decode().splitlines()
    check(lines[0].split()[-1] == "FILTER" and len(lines) == 1 + len(order), lines)
    for line, name in zip(lines[1:], order):
        check(line[lines[0].index("FILTER") :] == NAMES[name], line)
    for name in NAMES:
        check(b("info", name, "--json").gives(0).json()["name"] == NAMES[name], name)


def test_many_filters(b):
    for i in range(200):
        b("reserve", f"f{i:03}", "-n", "10", "--filter-memory", "4M")
    b("ls").gives(0, "".join(f"f{i:03}\n" for i in range(200)))


def test_verify(b):
    b("load", "articles", stdin="vim\ngimp\n")
    b("verify").gives(0, "")
    check(b("verify", "--json").gives(0).json() == [], "nothing is wrong")
    with open(b.path, "r+b") as segment:
        data = segment.read(1 << 20)
        # The seed in the descriptor of the first generation: FORMAT.md.
        at = data.index(b"\x08articles") - 64 + 320 + 8
        segment.seek(at)
        segment.write(bytes([data[at] ^ 0xFF]))
    said = 'a descriptor or its name is damaged: filter "articles"'
    call = b("verify").gives(1, None)
    check(said in call.out.decode().splitlines(), call.out)
    check(said in b("verify", "--json").gives(1).json(), "as JSON")
    b("info", "articles").gives(3, "", 'filter "articles"')
    b("has", "articles", "vim").gives(3, "", 'filter "articles"')


def test_a_file_that_is_no_segment(b):
    for content, said in (
        (b"hello\n", "it is 6 bytes long, and the header of a segment is"),
        (b"\0" * 1000000, "is not a bloomshm segment"),
    ):
        b.file("segment", content)
        os.chmod(b.path, 0o600)
        for verb in ("status", "ls", "verify"):
            b(verb).gives(3, "", said)
    os.remove(b.path)
    os.mkdir(b.path)
    b("status").gives(3, "", "Is a directory")


def test_another_mode(b):
    b("reserve", "x", "-n", "10", "--mode", "0660").gives(0)
    b("ls").gives(3, "", "has the mode 0660, which gives access to more users than")
    b("ls", "--mode", "0660").gives(0, "x\n")
    b("--mode", "660", "ls").gives(0, "x\n")


def test_another_owner(b):
    if os.geteuid() != 0:
        return
    b("reserve", "x", "-n", "10")
    os.chown(b.path, 65534, 65534)
    b("ls").gives(3, "", "belongs to uid 65534, and this process runs as uid 0")
    check(b"--user NAME" in b("ls").err, "root is told what to do")
    os.chmod(b.folder, 0o755)
    b("--user", "nobody", "ls").gives(0, "x\n")


def test_read_only(b):
    b("load", "articles", stdin="vim\n")
    for verb in (["status"], ["ls", "-l"], ["info", "articles"], ["verify"]):
        b(*verb, "--readonly").gives(0)
    b("has", "articles", "vim", "--readonly").gives(0, "vim\n")


def test_a_full_disk_for_the_output(b):
    b("load", "articles", stdin="vim\n")
    with open("/dev/full", "wb") as full:
        for verb in (["status"], ["ls"], ["has", "articles", "vim"], ["--help"], ["ls", "--json"]):
            done = b.start(*verb, stdout=full)
            err = done.communicate()[1]
            said = b"cannot write the output: No space left on device"
            check(done.returncode == 3 and said in err, f"{verb}: {done.returncode}, {err}")


def test_a_pipe_that_closes(b):
    b("load", "articles", stdin="vim\n")
    keys = b.file("keys", b"vim\n" * 1000000)
    with open(keys, "rb") as stdin:
        call = b.start("has", "articles", stdin=stdin)
        check(call.stdout.read(4) == b"vim\n", "the first line")
        call.stdout.close()
        check(call.wait(timeout=lib.SECONDS) == -13, "it ends by SIGPIPE, as grep does")
        check(call.stderr.read() == b"", "and says nothing")
