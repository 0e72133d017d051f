"""Reads metrics with the parser of OpenMetrics: read_metrics.py METRICS [PAGE]

Each counter and gauge must have a help text, and no series may come twice. With docs/METRICS.md as
PAGE, the names of the metrics and those in its tables must be the same.
"""

import re
import sys

from prometheus_client.openmetrics.parser import text_string_to_metric_families

with open(sys.argv[1], encoding="utf-8") as file:
    families = list(text_string_to_metric_families(file.read()))
assert families, "no metrics"
names, series = set(), set()
for family in families:
    assert family.documentation, f"{family.name} has no help text"
    assert family.type in ("counter", "gauge"), f"{family.name} is {family.type}"
    names.add(family.name + ("_total" if family.type == "counter" else ""))
    for sample in family.samples:
        one = (sample.name, tuple(sorted(sample.labels.items())))
        assert one not in series, f"twice: {one}"
        series.add(one)
if len(sys.argv) > 2:
    with open(sys.argv[2], encoding="utf-8") as file:
        documented = set(re.findall(r"^\| `(bloomshm_\w+)`", file.read(), re.M))
    assert documented == names, f"not in both: {sorted(documented ^ names)}"
print(len(names), "metrics,", len(series), "series")
