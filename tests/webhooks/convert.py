#!/usr/bin/env python3
"""convert.py FOLDER - a conversion webhook for conversion_test.sh.

It serves TLS with FOLDER/hook.crt and hook.key on a port of its own, which it writes to
FOLDER/port. FOLDER/mode says how it behaves (see answer()); every call is a line in FOLDER/calls.
Version v1 of a Gauge has spec.place as HOST:PORT, v2 has spec.host and spec.port.
"""
import json
import os
import ssl
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

folder = sys.argv[1]


def file(name):
    return os.path.join(folder, name)


def mode():
    try:
        with open(file("mode")) as f:
            return f.read().strip()
    except FileNotFoundError:
        return ""


def convert(obj, version):
    spec = dict(obj.get("spec") or {})
    if version.endswith("/v2") and "place" in spec:
        host, _, port = spec.pop("place").partition(":")
        spec.update(host=host, port=int(port or 0))
    elif version.endswith("/v1") and "host" in spec:
        spec["place"] = "%s:%d" % (spec.pop("host"), spec.pop("port", 0))
    return dict(obj, apiVersion=version, spec=spec)


def spoil(how, obj):
    meta = dict(obj["metadata"])
    obj = dict(obj, metadata=meta)
    if how == "wrong-kind":
        obj["kind"] = "Other"
    elif how == "wrong-version":
        obj["apiVersion"] = "x.test/v9"
    elif how == "no-kind":
        return {"metadata": meta}
    elif how == "renamed":
        meta["name"] = "other"
    elif how == "other-uid":
        meta["uid"] = "1234"
    elif how == "no-metadata":
        del obj["metadata"]
    elif how == "bad-label":
        meta["labels"] = {"a b": "c"}
    elif how == "label-number":
        meta["labels"] = {"a": 1}
    elif how == "new-label":
        meta["labels"] = {"hooked": "yes"}
        meta["finalizers"] = ["x.test/never"]
        meta["ownerReferences"] = []
    elif how == "unknown-field":
        obj["spec"]["mystery"] = 1
    elif how.startswith("bad-object-") and meta["name"] == how[len("bad-object-"):]:
        obj["kind"] = "Other"
    return obj


def answer(how, review):
    request = review["request"]
    objects = [convert(o, request["desiredAPIVersion"]) for o in request["objects"]]
    objects = [spoil(how, o) for o in objects]
    response = {"uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": objects}
    if how == "refuses":
        response["result"] = {"status": "Failure", "message": "not today"}
    elif how == "refuses-silently":
        response["result"] = {"status": "Failure"}
    elif how == "fewer":
        response["convertedObjects"] = objects[1:]
    elif how == "other-request":
        response["uid"] = "1234"
    out = {"kind": review["kind"], "apiVersion": review["apiVersion"], "response": response}
    if how == "no-response":
        del out["response"]
    elif how == "other-review":
        out["kind"] = "AdmissionReview"
    return out


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def reply(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.startswith("/stuck"):
            time.sleep(60)
            return
        request = review["request"]
        names = ",".join(o["metadata"].get("name", "") for o in request["objects"])
        with open(file("calls"), "a") as f:
            f.write("%s %s %s %s\n" % (review["apiVersion"].split("/")[-1], self.path,
                                       request["desiredAPIVersion"].split("/")[-1], names))
        how = mode()
        while how == "slow":
            time.sleep(0.02)
            how = mode()
        if how == "status-500":
            self.reply(500, b"out of \"order\"\n", "text/plain")
        elif how == "status-404":
            self.reply(404, b"nothing", "text/plain")
        elif how == "status-object":
            self.reply(403, json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure",
                                        "message": "go away"}).encode())
        elif how == "empty":
            self.reply(200, b"")
        elif how == "no-json":
            self.reply(200, b"{x")
        elif how == "huge":
            self.reply(200, b'"' + b"x" * (33 << 20) + b'"')
        elif how == "hangs-up":
            self.close_connection = True
        else:
            self.reply(200, json.dumps(answer(how, review)).encode())


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # whoever hangs up


server = Server(("0.0.0.0", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(file("hook.crt"), file("hook.key"))
server.socket = context.wrap_socket(server.socket, server_side=True)
with open(file("port.new"), "w") as f:
    f.write(str(server.server_address[1]))
os.rename(file("port.new"), file("port"))
server.serve_forever()
