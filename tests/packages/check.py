#!/usr/bin/env python3
"""Checks what installers read: versions, composer.json, the workflow.

    tests/packages/check.py versions [PRINTED...] | composer SCHEMA | workflow

versions    CHANGELOG, debian/changelog, composer.json, and what programs PRINTED, have the version
            of php_bloomshm.h
composer    composer.json is valid by Composer's schema, whose part `php-ext` is PIE's, and says
            what is true of config.m4
workflow    each action is pinned to a commit, and script/test is run

Prints each fault, and ends with status 1 if there was one.
"""

import glob
import json
import os
import re
import subprocess
import sys

# PIE reads no other key. A misspelt one would be ignored in silence: the schema permits it.
PHP_EXT_KEYS = {
    "extension-name", "priority", "support-zts", "support-nts", "build-path",
    "download-url-method", "os-families", "os-families-exclude", "configure-options",
}  # fmt: skip
CONFIGURED_BY = {"linux": "config.m4", "windows": "config.w32"}


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def version(kind=""):
    command = ["script/version"] + ([kind] if kind else [])
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def numbers(text):
    return [int(number) for number in text.split(".")]


def changelog_faults(here):
    """The newest heading: a release has its version and date; work towards one has neither."""
    headings = re.findall(r"^## \[(.*?)\](.*)$", text_of("CHANGELOG.md"), re.M)
    released = [name for name, rest in headings if re.fullmatch(r" - \d{4}-\d\d-\d\d", rest)]
    if headings[0][0] == "Unreleased":
        if not here.endswith("-dev"):
            yield f"CHANGELOG.md: [Unreleased] is at the top, so {here} must end in -dev"
        if numbers(here.removesuffix("-dev")) <= numbers(released[0]):
            yield f"CHANGELOG.md: {released[0]} is released, and {here} is not above it"
    elif released[0] != here or headings[0][0] != here:
        yield f"CHANGELOG.md: the top is [{headings[0][0]}], not [{here}] - DATE"


def versions(*printed):
    here = version()
    if not re.fullmatch(r"\d+\.\d+\.\d+(-dev)?", here):
        yield f"php_bloomshm.h: {here} is not N.N.N or N.N.N-dev"
        return
    yield from changelog_faults(here)
    debian = re.match(r"bloomshm \((.*)-\d+\) ", text_of("debian/changelog"))
    if not debian or debian[1] != version("debian"):
        yield f"debian/changelog: the top is {debian and debian[1]}, not {version('debian')}"
    package = json.loads(text_of("composer.json"))
    if "version" in package:
        yield "composer.json: the tag says the version, so `version` must not"
    alias = package.get("extra", {}).get("branch-alias", {}).get("dev-main")
    if alias != version("composer"):
        yield f"composer.json: the alias of main is {alias}, not {version('composer')}"
    for line in printed:
        if here not in line.split():
            yield f"not the version {here}: {line}"


def composer(schema):
    import jsonschema

    package = json.loads(text_of("composer.json"))
    for error in jsonschema.Draft4Validator(json.loads(text_of(schema))).iter_errors(package):
        yield f"composer.json: {'.'.join(map(str, error.path))}: {error.message}"
    extension = package["php-ext"]
    for key in extension.keys() - PHP_EXT_KEYS:
        yield f"composer.json: PIE knows no php-ext.{key}"
    if package["type"] != "php-ext":
        yield "composer.json: PIE installs packages of type php-ext"
    if package["name"] == json.loads(text_of("php/composer.json"))["name"]:
        yield "composer.json: a library has the same name"
    for name in package["require"]:
        if name != "php" and not name.startswith("ext-"):
            yield f"composer.json: an extension cannot require {name}"
    options = re.findall(r"PHP_ARG_(ENABLE|WITH)\(\[(.*?)\]", text_of("config.m4"))
    known = {f"{kind.lower()}-{name}" for kind, name in options}
    for option in extension["configure-options"]:
        if option["name"] not in known:
            yield f"composer.json: config.m4 has no --{option['name']}"
    for family in extension["os-families"]:
        if not os.path.exists(CONFIGURED_BY.get(family, "")):
            yield f"composer.json: nothing configures the extension for {family}"


def workflow():
    import yaml

    runs = []
    for path in glob.glob(".github/workflows/*.yml"):
        for name, job in yaml.safe_load(text_of(path))["jobs"].items():
            for step in job["steps"]:
                runs.append(step.get("run", ""))
                action = step.get("uses")
                if action and not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action):
                    yield f"{path}: {name}: {action} is not pinned to a commit"
    if "script/test" not in runs:
        yield "no workflow runs script/test"


def main():
    check = {"versions": versions, "composer": composer, "workflow": workflow}[sys.argv[1]]
    faults = list(check(*sys.argv[2:]))
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
