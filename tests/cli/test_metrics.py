"""
test_metrics.py - metrics. tests/web/run.sh compares them with those of the status page.

Licensed under the MIT licence; see LICENSE.
"""

import os

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


def test_what_is_read_of_a_large_filter_tells_nearly_what_all_of_it_does(b):
    b("load", "large", stdin="".join(f"key {i}\n" for i in range(300000))).gives(0, None)
    b("reserve", "empty", "-n", "1000000", "-w", "60").gives(0, None)
    metrics = {
        (metric["name"], sample["labels"].get("filter")): sample["value"]
        for metric in b("metrics", "--json").gives(0, None).json()
        for sample in metric["samples"]
    }
    one = b("info", "large", "--json").json()
    check(one["partitions"] > 32, one["partitions"])
    ratio = metrics["bloomshm_filter_error_ratio", "large"] / one["estimated_error_rate"]
    check(0.85 < ratio < 1.15, ratio)
    check(metrics["bloomshm_filter_keys", "large"] == one["items"], one["items"])
    published = metrics["bloomshm_filter_published_timestamp_seconds", "large"]
    check(published == one["published_at"], published)
    check(metrics["bloomshm_filter_error_ratio", "empty"] == 0, metrics)
    check(metrics["bloomshm_filter_keys", "empty"] == 0, metrics)
    status = b("status", "--json").json()
    check(metrics["bloomshm_memory_free_bytes", None] == status["filter_bytes_free"], status)
