"""
test_metrics.py - metrics. tests/web/run.sh compares them with those of the status page.

Licensed under the MIT licence; see LICENSE.
"""

import os
import re
import subprocess

from lib import check


def test_without_a_segment(b):
    down = (
        "# HELP bloomshm_up 1: the segment can be used.\n# TYPE bloomshm_up gauge\nbloomshm_up 0\n"
    )
    b("metrics").gives(0, down + "# EOF\n")
    b("metrics", "--text").gives(0, down)
    (up,) = b("metrics", "--json").gives(0).json()
    check(up["name"] == "bloomshm_up" and up["samples"] == [{"labels": {}, "value": 0}], up)
    check(os.listdir(b.folder) == [], "metrics creates no segment")


def test_with_a_damaged_segment(b):
    os.chmod(b.file("segment", os.urandom(100000)), 0o600)
    call = b("metrics").gives(0, None)
    check(b"\nbloomshm_up 0\n# EOF\n" in call.out, call.out)


def test_wrong_usage(b):
    b("metrics", "x").gives(2, "", "too many arguments; usage: bloomshm metrics")
    b("metrics", "--mode", "9").gives(2, "", "--mode must be octal")
    b("metrics", "--user", "no-such-user").gives(2, "", 'there is no user "no-such-user"')


def test_a_closed_pipe_and_a_full_disk(b):
    with open("/dev/full", "wb") as full:
        process = b.start("metrics", stdout=full)
        check(b"cannot write the output" in process.communicate()[1], "it says why")
        check(process.returncode == 3, process.returncode)
