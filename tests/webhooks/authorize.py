#!/usr/bin/env python3
"""authorize.py FOLDER - webhooks for tokens and for decisions, for webhook_auth_test.sh.

It serves TLS with FOLDER/hook.crt and hook.key on a port of its own, which it writes to
FOLDER/port. Each review that it gets is a line in FOLDER/reviews. FOLDER/mode says how it behaves:
"good", "refuses" (503), "flaky" (500 at the first call, then good), "odd" (another kind), or
"hangs" (answers when the mode is another one).

A token is NAME:AUDIENCE, e.g. ann:; "broken" gives an error. What it says of a question is the
name of the user or of the object: NAME-yes, NAME-no, NAME-both, anything else: no opinion.
"""
import json
import os
import ssl
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

folder = sys.argv[1]
failed_once = set()


def file(name):
    return os.path.join(folder, name)


def mode():
    with open(file("mode")) as f:
        return f.read().strip()


def token_status(spec):
    name, colon, audience = spec["token"].partition(":")
    if name == "broken":
        return {"authenticated": False, "error": "the token is broken"}
    if not colon:
        return {"authenticated": False}
    status = {"authenticated": True,
              "user": {"username": name, "uid": "u-" + name, "groups": ["hooked"],
                       "extra": {"harbour.example/berth": ["7"]}}}
    if audience:
        status["audiences"] = audience.split("+")
    return status


def access_status(spec):
    about = spec.get("resourceAttributes") or spec.get("nonResourceAttributes")
    words = "%s %s" % (spec.get("user", ""), about.get("name") or about.get("path") or "")
    if "-both" in words:
        return {"allowed": True, "denied": True, "reason": "in two minds"}
    if "-no" in words:
        return {"allowed": False, "denied": True, "reason": "the harbour is closed"}
    if "-yes" in words:
        return {"allowed": True, "reason": "welcome"}
    return {"allowed": False, "reason": "who knows"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, obj):
        body = json.dumps(obj).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            pass  # nobody waits any more

    def do_POST(self):
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with open(file("reviews"), "a") as f:
            f.write(json.dumps(review, sort_keys=True) + "\n")
        while mode() == "hangs":
            time.sleep(0.05)
        how, spec = mode(), review["spec"]
        key = json.dumps(spec, sort_keys=True)
        if how == "refuses":
            return self.reply(503, {})
        if how == "flaky" and key not in failed_once:
            failed_once.add(key)
            return self.reply(500, {})
        if how == "odd":
            review["kind"] = "Something"
        review["status"] = token_status(spec) if "token" in spec else access_status(spec)
        return self.reply(200, review)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(file("hook.crt"), file("hook.key"))
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
with open(file("port.new"), "w") as out:
    out.write(str(server.server_address[1]))
os.rename(file("port.new"), file("port"))
server.serve_forever()
