#!/usr/bin/env python3
"""audit.py FOLDER - an audit webhook for audit_test.sh.

It serves HTTP on a port of its own, which it writes to FOLDER/port. Each EventList that it takes is
a line in FOLDER/lists, each Authorization header a line in FOLDER/callers. FOLDER/mode says how it
behaves: "good", "refuses" (500), or "hangs" (answers when the mode is another one).
"""
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

folder = sys.argv[1]


def file(name):
    return os.path.join(folder, name)


def mode():
    with open(file("mode")) as f:
        return f.read().strip()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(file("calls"), "a") as f:
            f.write(self.path + "\n")
        while mode() == "hangs":
            time.sleep(0.05)
        good = mode() == "good"
        if good:
            with open(file("callers"), "a") as f:
                f.write(self.headers.get("Authorization", "") + "\n")
            with open(file("lists"), "a") as f:
                f.write(json.dumps(json.loads(body)) + "\n")
        try:
            self.send_response(200 if good else 500)
            self.send_header("Content-Length", "0")
            self.end_headers()
        except OSError:
            pass  # nobody waits any more


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
with open(file("port.new"), "w") as out:
    out.write(str(server.server_address[1]))
os.rename(file("port.new"), file("port"))
server.serve_forever()
