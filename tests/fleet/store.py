"""
store.py - a web server that takes PUT, as S3 does: conditions, signatures, and faults on demand.

It serves a folder. `before` and `after` are called with the number of each request of a publisher,
its method and path: before may return a status, or "cut", instead of what is asked for; after may
return "cut".

Licensed under the MIT licence; see LICENSE.
"""

import base64
import hashlib
import hmac
import http.server
import os
import re
import threading
import urllib.parse

AGENT = "bloomshm"
ID, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
REGION, TOKEN = "eu-1", "t0ken=="


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def sign(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def signature_of(method, path, headers, signed, scope):
    """SigV4, by the words of its documentation: a path has one spelling."""
    path = urllib.parse.quote(urllib.parse.unquote_to_bytes(path), safe="/-_.~")
    lines = "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in signed)
    request = [method, path, "", lines, ";".join(signed), headers["x-amz-content-sha256"]]
    text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, sha256("\n".join(request).encode())]
    key = ("AWS4" + SECRET).encode()
    for part in scope.split("/"):
        key = sign(key, part)
    return sign(key, "\n".join(text)).hex()


def is_signed(method, path, headers, body):
    form = r"AWS4-HMAC-SHA256 Credential=([^/]+)/([^,]+), *SignedHeaders=([^,]+), *Signature=(\w+)"
    match = re.fullmatch(form, headers.get("authorization", ""))
    if match is None:
        return False
    signed = match[3].split(";")
    needed = {"host", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token"}
    return (
        match[1] == ID
        and match[2] == f"{headers['x-amz-date'][:8]}/{REGION}/s3/aws4_request"
        and needed <= set(signed)
        and headers["x-amz-security-token"] == TOKEN
        and headers["x-amz-content-sha256"] == sha256(body)
        and signature_of(method, path, headers, signed, match[2]) == match[4]
    )


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def reply(self, status, body=b"", etag=None, length=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        if etag:
            self.send_header("ETag", etag)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def refuse(self, status, word):
        self.reply(status, f"<?xml version='1.0'?>\n<Error><Code>{word}</Code></Error>".encode())

    def cut(self):
        self.close_connection = True
        self.connection.close()

    def is_allowed(self, body):
        store = self.server.store
        if store.password and self.is_writer():
            word = base64.b64encode(store.password.encode()).decode()
            return self.headers.get("authorization") == f"Basic {word}"
        headers = {name.lower(): value for name, value in self.headers.items()}
        if store.signed and (self.is_writer() or "authorization" in headers):
            return is_signed(self.command, self.path, headers, body)
        return True

    def is_writer(self):
        return self.command in ("PUT", "DELETE")

    def condition(self, data):
        """Does a condition of the request not hold for what is there?"""
        store = self.server.store
        match, none = self.headers.get("if-match"), self.headers.get("if-none-match")
        if not store.conditions:
            return False
        return (match is not None and (data is None or match != self.etag(data))) or (
            none is not None and data is not None and none in ("*", self.etag(data))
        )

    def etag(self, data):
        return f'"{hashlib.md5(data).hexdigest()}"'

    def handle_one(self):
        store = self.server.store
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if len(body) != int(self.headers.get("content-length") or 0):
            return self.cut()  # the sender has died
        path = urllib.parse.unquote(self.path)
        number = store.note(self.command, path)
        fault = store.before(number, self.command, path)
        if fault == "cut":
            return self.cut()
        if fault:
            return self.refuse(fault, "Fault")
        if not self.is_allowed(body):
            return self.refuse(401 if store.password else 403, "SignatureDoesNotMatch")
        with store.lock:
            answer = self.answer(store.folder + path, body)
        if store.after(number, self.command, path) == "cut":
            return self.cut()
        self.reply(*answer)

    def answer(self, file, body):
        data = None
        if os.path.isfile(file):
            with open(file, "rb") as there:
                data = there.read()
        if self.condition(data):
            return (304 if self.command in ("GET", "HEAD") else 412,)
        if self.command == "MKCOL":
            if data is not None or os.path.isdir(file):
                return (405,)
            os.mkdir(file)
            return (201,)
        if self.command == "PUT":
            if self.server.store.folders and not os.path.isdir(os.path.dirname(file)):
                return (self.server.store.folders,)
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(file + ".new", "wb") as new:
                new.write(body)
            os.replace(file + ".new", file)
            return (200, b"", self.etag(body))
        if self.command == "DELETE":
            if data is not None:
                os.unlink(file)
            return (204,)
        if data is None:
            return (404, b"<Error><Code>NoSuchKey</Code></Error>")
        return (200, data, self.etag(data))

    do_GET = do_HEAD = do_PUT = do_DELETE = do_MKCOL = handle_one


class Store:
    """
    Serves `folder`; `signed`: by SigV4; `password`: USER:PASSWORD of who may write; `folders`: the
    status of a PUT to a folder that is not there.
    """

    def __init__(self, folder, signed=False, password=None, conditions=True, folders=None):
        self.folder, self.signed, self.password = folder, signed, password
        self.conditions, self.folders = conditions, folders
        self.lock = threading.Lock()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.store = self
        self.server.daemon_threads = True
        self.server.handle_error = lambda *told: None  # a publisher that died does not read
        self.host = f"127.0.0.1:{self.server.server_address[1]}"
        self.url = f"http://{self.host}"
        self.reset()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def reset(self, before=None, after=None):
        """Forgets what was asked for, and has these faults from now on."""
        self.log = []
        self.before = before or (lambda number, method, path: None)
        self.after = after or (lambda number, method, path: None)

    def note(self, method, path):
        with self.lock:
            self.log.append((method, path))
            return len(self.log) - 1

    def written(self):
        """The paths of what was put, in order."""
        return [path for method, path in self.log if method == "PUT"]

    def end(self):
        self.server.shutdown()
        self.server.server_close()
