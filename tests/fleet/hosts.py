"""
hosts.py - what the tests of a fleet share: a publisher, followers, and a web server between them.

Each follower has a segment of its own. An image is told by its partitions: a follower's filter must
at each moment be one that was announced, bit for bit.

Licensed under the MIT licence; see LICENSE.
"""

import glob
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback

BINARY = os.path.abspath(sys.argv[1])
PATIENCE_S = 60
NAME = "articles"
NGINX = """daemon off; worker_processes 1; pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{ log_format f '"$request" $status $bytes_sent'; access_log {folder}/access.log f;
client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2;
fastcgi_temp_path {folder}/t3; uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
default_type text/plain; root {folder}/origin;
server {{ listen 127.0.0.1:{port}; }} {more} }}
"""


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


held = []  # while these are open, no other process is given their ports


def free_port():
    """One at which nobody listens; only who sets SO_REUSEADDR, as servers do, can listen there."""
    held.append(socket.socket())
    held[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held[-1].bind(("127.0.0.1", 0))
    return held[-1].getsockname()[1]


def tail(path):
    """All of a dump but its header and layers, which tell when it was made."""
    with open(path, "rb") as file:
        data = file.read()
    return data[192 + 64 * struct.unpack_from("<I", data, 92)[0] :]


class Fleet:
    """An origin behind nginx, a publisher's segment, and followers'."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="bloomshm-fleet.", dir="/dev/shm")
        os.chmod(self.folder, 0o755)
        # Whoever may read this folder may read its files: nginx's worker is another user.
        os.mkdir(self.at("origin"))
        os.chmod(self.at("origin"), 0o755)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.children = []
        self.nginx = None
        self.announced = set()
        self.must(["key", self.at("key")])

    def at(self, *parts):
        return os.path.join(self.folder, *parts)

    def read(self, *parts):
        """A file's text; "" if there is none yet."""
        try:
            with open(self.at(*parts)) as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def end(self):
        if self.nginx is not None and self.nginx.poll() is None:
            self.stop_nginx()  # with its worker
        for child in self.children:
            if child.poll() is None:
                child.kill()
                child.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    # -------------------------------------------------------------- the command

    def environment(self, segment):
        return {**os.environ, "BLOOMSHM_PATH": self.at(segment)}

    def run(self, arguments, segment="publisher.seg", prefix=(), text=None):
        return subprocess.run(
            [*prefix, BINARY, *arguments],
            env=self.environment(segment),
            input=text,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )

    def must(self, arguments, segment="publisher.seg", text=None):
        done = self.run(arguments, segment, text=text)
        if done.returncode != 0:
            raise Failed(f"{' '.join(arguments)}: {done.returncode} {done.stderr}")
        return done

    def refused(self, done, words, status=3):
        if done.returncode != status or words not in done.stderr:
            raise Failed(f'not refused with "{words}": {done.returncode} {done.stderr}{done.stdout}')

    def start(self, command, segment=None, **options):
        child = subprocess.Popen(
            command, env=self.environment(segment or "publisher.seg"), **options
        )
        self.children.append(child)
        return child

    # -------------------------------------------------------------- the publisher

    def load(self, first, last, filter_name=NAME, options=()):
        keys = "".join(f"{i}\n" for i in range(first, last))
        self.must(["load", filter_name, "--like", "--quiet", *options], text=keys)

    def publish_command(self, *options, filter_name=NAME):
        key = ["--to", self.at("origin"), "--key", self.at("key"), "--quiet"]
        return ["publish", filter_name, *key, *options]

    def publish(self, *options):
        done = self.must(self.publish_command(*options))
        self.note_announced()
        return done.stdout

    def announce(self, first, last, *options):
        self.load(first, last)
        return self.publish(*options)

    def head(self, filter_name=NAME):
        with open(self.at("origin", filter_name, "head")) as file:
            fields = {}
            for line in file:
                word, rest = line.split(" ", 1)
                fields.setdefault(word, []).append(rest.split())
        return fields

    def blob(self, name):
        return self.at("origin", "blobs", name)

    def note_announced(self):
        image = self.head()["image"][0][0]
        self.announced.add(tail(self.blob(image)))

    # -------------------------------------------------------------- the web server

    def start_nginx(self, more=""):
        """`more`: servers of its configuration."""
        with open(self.at("nginx.conf"), "w") as file:
            file.write(NGINX.format(folder=self.folder, port=self.port, more=more))
        self.nginx = self.start(
            ["nginx", "-e", self.at("error.log"), "-p", self.folder, "-c", self.at("nginx.conf")]
        )
        self.wait_for("nginx answers", self.is_served)

    def is_served(self):
        check(self.nginx.poll() is None, "nginx has ended")
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def stop_nginx(self):
        self.nginx.terminate()
        self.nginx.wait()

    def served(self, path):
        """The statuses with which nginx has answered for a path."""
        log = self.read("access.log")
        return re.findall(rf'"GET [^"]*{re.escape(path)} [^"]*" (\d+)', log)

    def sent(self):
        """How many bytes of blobs nginx has sent, with their headers; and of all else."""
        found = re.findall(r'"GET ([^ ]*) [^"]*" \d+ (\d+)', self.read("access.log"))
        blobs = sum(int(count) for path, count in found if path.startswith("/blobs/"))
        return blobs, sum(int(count) for _, count in found) - blobs

    def wait_for(self, what, condition):
        end = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > end:
                raise Failed(f"in vain: {what}")
            time.sleep(0.02)

    # -------------------------------------------------------------- followers

    def follow_command(self, host, *options, url=None, filter_name=NAME):
        state = ["--state", self.at(host), "--verify-key", self.at("key.pub")]
        return ["follow", url or self.url, filter_name, *state, *options]

    def look(self, host, *options, url=None, prefix=()):
        """One look."""
        command = self.follow_command(host, "--once", *options, url=url)
        return self.run(command, f"{host}.seg", prefix)

    def follow(self, host, *options, url=None):
        done = self.look(host, *options, url=url)
        if done.returncode != 0:
            raise Failed(f"follow: {done.returncode} {done.stderr}")
        self.check_image(host)
        return done.stdout

    def serve(self, host, *options, url=None):
        """A follower that goes on."""
        log = open(self.at(f"{host}.log"), "a")
        command = self.follow_command(host, "--every", "1", *options, url=url)
        return self.start([BINARY, *command], f"{host}.seg", stdout=log, stderr=log)

    def log(self, host):
        return self.read(f"{host}.log")

    def image_of(self, host):
        """The partitions of a follower's filter; None: it has none."""
        path = self.at(f"{host}.dump")
        done = self.run(["dump", NAME, path], f"{host}.seg")
        return tail(path) if done.returncode == 0 else None

    def check_image(self, host, newest=True):
        image = self.image_of(host)
        if image not in self.announced:
            raise Failed(f"{host} has a filter that was never announced")
        if newest and image != tail(self.blob(self.head()["image"][0][0])):
            raise Failed(f"{host} does not have the newest image")

    def has(self, host, *keys):
        done = self.run(["has", NAME, *map(str, keys)], f"{host}.seg")
        return done.stdout.split()

    def is_newest(self, host):
        return self.image_of(host) == tail(self.blob(self.head()["image"][0][0]))


def make_authority(fleet, name):
    """NAME.pem, an authority, and NAME.crt and .secret of a server "localhost"."""
    new = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    new += ["-nodes", "-days", "2", "-keyout"]
    ca = [fleet.at(f"{name}.ca"), "-out", fleet.at(f"{name}.pem"), "-subj", f"/CN={name}"]
    own = [fleet.at(f"{name}.secret"), "-out", fleet.at(f"{name}.crt"), "-subj", "/CN=server"]
    own += ["-CA", fleet.at(f"{name}.pem"), "-CAkey", fleet.at(f"{name}.ca")]
    own += ["-addext", "subjectAltName=DNS:localhost"]
    for what in (ca, own):
        subprocess.run([*new, *what], check=True, capture_output=True)


def check(condition, what):
    if not condition:
        raise Failed(what)


def lag(fleet, host):
    done = fleet.run(["info", NAME, "--json"], f"{host}.seg")
    match = re.search(r'"lag": ([0-9.]+)', done.stdout)
    return float(match[1]) if match else None


ABSENT = [f"absent-{i}" for i in range(5)]


def denies(fleet, host):
    """Does it say no to absent keys? To one in a thousand, or two, any filter says maybe."""
    maybes = fleet.has(host, *ABSENT, "500")
    return "500" in maybes and len(maybes) <= 3


def run(name, function):
    fleet = Fleet()
    try:
        function(fleet)
        print(f"ok - {name}", flush=True)
        return True
    except Skipped as skipped:
        print(f"skipped - {name}: {skipped}", flush=True)
        return None
    except Failed as failed:
        print(f"not ok - {name}\n# {failed}", flush=True)
    except Exception:  # a test that cannot go on has failed
        lines = traceback.format_exc().splitlines()
        print("\n# ".join([f"not ok - {name}", *lines]), flush=True)
    finally:
        for log in glob.glob(fleet.at("*.log")) if os.environ.get("FLEET_LOGS") else []:
            print(open(log).read())
        fleet.end()
    return False


def main(names):
    """Runs the tests among these names: all, or those whose names contain an argument."""
    wanted = sys.argv[2:]
    tests = [(n[5:].replace("_", " "), f) for n, f in names.items() if n.startswith("test_")]
    results = [
        run(name, function)
        for name, function in tests
        if not wanted or any(part in name for part in wanted)
    ]
    good, bad = results.count(True), results.count(False)
    print(f"{good} passed, {bad} failed")
    sys.exit(bad != 0 or good == 0)
