"""
origin.py - a web server with the files of an origin, which answers for some of them as it is told.

Licensed under the MIT licence; see LICENSE.
"""

import http.server
import threading


class Origin:
    """A web server that has the origin's files, and answers for some paths as it is told to."""

    def __init__(self, fleet):
        self.hostile = {}  # an ending of a path: a function that gets the handler
        self.asked = []  # the ETags that requests named
        self.from_caches = set()  # what they said of caches in between
        self.connections = 0
        outer = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments):
                super().__init__(*arguments, directory=fleet.at("origin"))

            def setup(self):
                super().setup()
                outer.connections += 1

            def do_GET(self):
                outer.asked.append(self.headers.get("If-None-Match"))
                if self.path.endswith("/head"):
                    outer.from_caches.add(self.headers.get("Cache-Control"))
                for end, answer in outer.hostile.items():
                    if self.path.endswith(end) or end in self.path:
                        self.close_connection = True
                        return answer(self)
                return super().do_GET()

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def raw(*parts):
    """An answer of these bytes; the last ones again and again if they end with None."""

    def answer(handler):
        try:
            for part in parts:
                while part is None:
                    handler.wfile.write(parts[-2])
                handler.wfile.write(part)
        except OSError:
            pass  # the follower has had enough

    return answer


def with_headers(status, headers, *parts):
    return raw(f"HTTP/1.1 {status}\r\n{headers}\r\n\r\n".encode(), *parts)
