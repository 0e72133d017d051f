"""
test_usage.py - the command line itself: help, verbs, options, and what is made from the tables.

Licensed under the MIT licence; see LICENSE.
"""

import os
import re
import subprocess

import lib
from lib import check

HELP_LINE = re.compile(r"^  (\w+(?: \w+)?)  +\S", re.M)
OPTION_LINE = re.compile(r"^  (?:-(\S), |    )--([\w-]+)( [A-Z]+)?", re.M)


def verbs_of(b):
    text = b("--help").gives(0, out=None).out.decode()
    return HELP_LINE.findall(text[text.index("Verbs:") : text.index("Options of")])


def options_of(b, verb):
    """[(letter or '', name, ' VALUE' or '')]"""
    return OPTION_LINE.findall(b(*verb.split(), "--help").gives(0).out.decode())


def made(b, what):
    return b("generate", what).gives(0).out.decode()


def test_help_is_on_stdout_and_fits_a_terminal(b):
    for verb in [[]] + [v.split() for v in verbs_of(b)]:
        text = b(*verb, "--help").gives(0).out.decode()
        check(text.startswith("Usage: bloomshm "), text)
        check(all(len(line) <= 80 and line == line.rstrip() for line in text.splitlines()), text)
        check(b(*verb, "-h").out.decode() == text, "-h is --help")


def test_no_verb_and_unknown_verbs(b):
    b().gives(2, "", "which verb? try: bloomshm --help")
    b("frobnicate").gives(2, "", 'there is no verb "frobnicate"')
    b("cache").gives(2, "", 'there is no verb "cache"')
    b("cache", "frob").gives(2, "", 'there is no verb "cache frob"')
    b("").gives(2, "", 'there is no verb ""')
    b("sta\x01tus\xff").gives(2, "", "\\x01tus")


def test_version_is_that_of_the_extension(b):
    header = os.path.join(os.path.dirname(__file__), "../../php_bloomshm.h")
    with open(header, encoding="utf-8") as source:
        version = re.search(r'PHP_BLOOMSHM_VERSION "(.*)"', source.read())[1]
    b("--version").gives(0, f"bloomshm {version}\n")
    b("-V").gives(0, f"bloomshm {version}\n")


def test_unknown_options_of_each_verb(b):
    for verb in verbs_of(b):
        words = verb.split()
        b(*words, "--frobnicate").gives(2, "", "there is no option --frobnicate")
        b(*words, "-Z").gives(2, "", "there is no option -Z")
        b(*words, "--help=1").gives(2, "", "the option --help takes no value")
        b(*words, "--path").gives(2, "", "the option --path needs a value")
    b("--frobnicate", "status").gives(2, "", "there is no option --frobnicate")


def test_each_option_of_each_verb_is_taken(b):
    """What --help names is an option: it is not refused as unknown."""
    for verb in verbs_of(b):
        for letter, name, value in options_of(b, verb):
            for word in [f"--{name}"] + ([f"-{letter}"] if letter else []):
                words = [*verb.split(), word] + (["x"] if value else [])
                call = b(*words, "--help")
                check(call.status == 0 and call.err == b"", f"{words}: {call.err}")


def test_too_many_arguments(b):
    b("status", "x").gives(2, "", "too many arguments; usage: bloomshm status")
    b("info").gives(2, "", "too few arguments; usage: bloomshm info [OPTION...] FILTER")
    b("info", "a", "b").gives(2, "", "too many arguments")


def test_options_before_and_behind_the_verb(b):
    other = os.path.join(b.folder, "other")
    b("--path", other, "ls").gives(3, "", f"no segment yet at {other}")
    b("ls", "--path", other).gives(3, "", f"no segment yet at {other}")
    b("has", "x", "k", f"--path={other}").gives(3, "", f"no segment yet at {other}")


def test_the_man_page_has_all_that_the_help_has(b):
    page = made(b, "man").replace("\\-", "-")
    for verb in verbs_of(b):
        check(re.search(rf"^\.Ss {verb}( |$)", page, re.M), verb)
        part = page[re.search(rf"^\.Ss {verb}( |$)", page, re.M).start() :]
        part = part[: re.search(r"^\.(Ss|Sh) ", part[4:], re.M).start() + 4]
        for letter, name, value in options_of(b, verb):
            if name in ("help", "path", "user", "mode", "readonly"):
                part_of = page
            else:
                part_of = part
            check(re.search(rf"Fl -{name}( Ar{value})?$", part_of, re.M), f"{verb} --{name}")
            check(not letter or f"Fl {letter} , Fl -{name}" in part_of, f"{verb} -{letter}")


def completed(b, *words):
    """What bash offers for the last of the words."""
    script = (
        f"compopt() {{ :; }}; source /dev/stdin; COMP_WORDS=(bloomshm {' '.join(map(repr, words))});"
        f"COMP_CWORD={len(words)}; _bloomshm; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    path = b.environment()["PATH"] + ":" + os.path.dirname(lib.BINARY)
    done = subprocess.run(
        ["bash", "-c", script], input=made(b, "bash"), text=True, capture_output=True,
        env=b.environment(PATH=path), check=True,
    )
    return done.stdout.split()


def test_bash_completes_verbs_and_options(b):
    verbs = verbs_of(b)
    offered = completed(b, "")
    check({v.split()[0] for v in verbs} <= set(offered), offered)
    for verb in verbs:
        wanted = {f"--{name}" for _, name, _ in options_of(b, verb)}
        offered = set(completed(b, *verb.split(), "--"))
        check(offered == wanted, f"{verb}: {offered ^ wanted}")


def test_zsh_has_each_verb_and_option(b):
    page = made(b, "zsh")
    for verb in verbs_of(b):
        part = page[page.index(f"'{verb}') _arguments") :]
        part = part[: part.index(";;")]
        for _, name, _ in options_of(b, verb):
            check(f"'--{name}[" in part, f"{verb} --{name}")


def test_users(b):
    b("--user", "no-such-user-at-all", "ls").gives(2, "", 'there is no user "no-such-user-at-all"')
    if os.geteuid() == 0:
        os.chmod(b.folder, 0o777)
        call = b("--user", "nobody", "ls", BLOOMSHM_PATH="/dev/shm/no-such-segment.%u")
        uid = subprocess.run(["id", "-u", "nobody"], capture_output=True, text=True, check=True)
        call.gives(3, "", f"no segment yet at /dev/shm/no-such-segment.{uid.stdout.strip()}")


def test_bad_settings(b):
    for mode in ["", "8", "600x", "1777", "-1"]:
        b("--mode", mode, "ls").gives(2, "", f'must be octal, from 0 to 0777, "{mode}" given')
    b("--path", "", "ls").gives(3, "", "bloomshm.path is empty")
    b("--path", "/" + "x" * 5000, "ls").gives(3, "", "bloomshm.path is longer than 4,095 bytes")


def test_only_the_verbs_of_a_fleet_load_its_libraries(b):
    for library in ["libcurl.so.4", "libmicrohttpd.so.12"]:
        b.file(library, b"none")
    at = {"LD_LIBRARY_PATH": b.folder}
    b("reserve", "f", "--capacity", "1", **at).gives(0)
    b("has", "f", "key", **at).gives(1)
    b("key", b.folder + "/key", **at).gives(0)
    follow = ["follow", b.folder, "f", "--state", b.folder + "/state"]
    follow += ["--verify-key", b.folder + "/key.pub", "--serve", "127.0.0.1:0"]
    b(*follow, **at).gives(3, "", "libcurl.so.4")
    os.remove(os.path.join(b.folder, "libcurl.so.4"))
    b(*follow, **at).gives(3, "", "libmicrohttpd.so.12")
