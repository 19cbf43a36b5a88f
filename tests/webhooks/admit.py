#!/usr/bin/env python3
"""admit.py FOLDER - admission webhooks for webhook_test.sh, good and bad ones.

It serves TLS with FOLDER/hook.crt and hook.key on a port of its own, which it writes to
FOLDER/port. What a webhook does is its path (see answer() and Handler.misbehave()); every call is a
line in FOLDER/calls. Those below /stuck answer when there is a file FOLDER/release.
"""
import base64
import json
import os
import select
import ssl
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

folder = sys.argv[1]
lock = threading.Lock()


def file(name):
    return os.path.join(folder, name)


def note(line):
    with lock, open(file("calls"), "a") as f:
        f.write(line + "\n")


def patch_for(how, obj):
    """The JSON patch that the webhook `how` wants, or None."""
    labels = (obj or {}).get("metadata", {}).get("labels")
    if how.startswith("label-"):
        name = how[len("label-"):]
        if labels is None:
            return [{"op": "add", "path": "/metadata/labels", "value": {name: "yes"}}]
        return [{"op": "add", "path": "/metadata/labels/" + name, "value": "yes"}]
    if how == "sidecar":
        if any(c["name"] == "sidecar" for c in obj["spec"]["containers"]):
            return None
        return [{"op": "add", "path": "/spec/containers/-",
                 "value": {"name": "sidecar", "image": "registry.test/sidecar:1"}}]
    if how == "two-replicas":
        return [{"op": "replace", "path": "/spec/replicas", "value": 2}]
    if how == "other-kind":
        return [{"op": "replace", "path": "/kind", "value": "Secret"},
                {"op": "replace", "path": "/data", "value": {}}]
    if how == "renames":
        return [{"op": "replace", "path": "/metadata/name", "value": "renamed"}]
    if how == "revises":
        return [{"op": "add", "path": "/metadata/resourceVersion", "value": "5"}]
    if how == "other-name":
        return [{"op": "replace", "path": "/metadata/name", "value": "../../evil"}]
    return None


def answer(how, review):
    request = review["request"]
    response = {"uid": request["uid"], "allowed": True}
    patch = patch_for(how, request.get("object"))
    if patch:
        response["patchType"] = "JSONPatch"
        response["patch"] = base64.b64encode(json.dumps(patch).encode()).decode()
    if how == "deny":
        response.update(allowed=False, status={"code": 403, "message": "not on my watch"})
    elif how == "warn":
        response["warnings"] = ["mind the gap"]
    elif how == "other-uid":
        response["uid"] = "1234"
    return {"kind": review["kind"], "apiVersion": review["apiVersion"], "response": response}


def convert(review):
    request = review["request"]
    objects = [dict(o, apiVersion=request["desiredAPIVersion"]) for o in request["objects"]]
    return {"kind": review["kind"], "apiVersion": review["apiVersion"],
            "response": {"uid": request["uid"], "result": {"status": "Success"},
                         "convertedObjects": objects}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def reply(self, status, body, **headers):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def misbehave(self, how):
        """True if it has."""
        if how == "redirect":
            self.reply(302, b"", Location="/followed")
        elif how == "huge":
            self.reply(200, b'"' + b"x" * (64 << 20) + b'"')
        elif how == "endless":
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.close_connection = True
            while True:
                self.wfile.write(b"[" * 65536)
        elif how == "deep":
            self.reply(200, b'{"response":' * 200000)
        elif how == "garbage":
            self.reply(200, b"{x")
        elif how == "broken":
            self.reply(500, b"broken")
        elif how == "hangs-up":
            self.close_connection = True
        elif how.startswith("retry-"):
            return self.ask_for_retry(*how.split("-")[1:])
        else:
            return False
        return True

    def ask_for_retry(self, status, after, n):
        """/retry-STATUS-AFTER-N: the first N calls are told to come again; True if this one is."""
        with lock, open(file("calls")) as f:
            is_told = sum(line.startswith("retry-") for line in f) <= int(n)
        if is_told:
            self.reply(int(status), b"busy", **{"Retry-After": after})
        return is_told

    def do_GET(self):
        note("GET " + self.path)
        self.reply(404, b"{}")

    def do_POST(self):
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        how = self.path.split("?")[0].lstrip("/")
        request = review["request"]
        if review["kind"] == "ConversionReview":
            note("%s convert" % how)
        else:
            grace = (request.get("options") or {}).get("gracePeriodSeconds")
            note("%s %s %s %s%s" % (how, request["operation"], request["kind"]["kind"],
                                    request.get("name", ""),
                                    "" if grace is None else " in %d s" % grace))
        if how.startswith("stuck"):
            while not os.path.exists(file("release")):
                if select.select([self.connection], [], [], 0.05)[0]:  # nothing more is sent
                    note("gone " + how)
                    self.close_connection = True
                    return
            how = how[len("stuck"):].lstrip("-")
        if review["kind"] == "ConversionReview":
            self.reply(200, json.dumps(convert(review)).encode())
        elif not self.misbehave(how):
            self.reply(200, json.dumps(answer(how, review)).encode())


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def get_request(self):
        sock, address = self.socket.accept()
        return context.wrap_socket(sock, server_side=True, do_handshake_on_connect=False), address

    def handle_error(self, request, client_address):
        pass  # whoever hangs up


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(file("hook.crt"), file("hook.key"))
server = Server(("127.0.0.1", 0), Handler)
with open(file("port.new"), "w") as f:
    f.write(str(server.server_address[1]))
os.rename(file("port.new"), file("port"))
server.serve_forever()
