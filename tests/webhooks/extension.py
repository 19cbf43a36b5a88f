#!/usr/bin/env python3
"""extension.py DIR - an extension API server on loopback: the group tea.test/v1 with cups.

DIR has hook.crt, hook.key and proxy-ca.crt, the authority that whoever speaks for others must have a
certificate of; it gets the file port. Each request is a line of calls: METHOD PATH USER GROUPS. Names
of cups say how it behaves: slow answers after the file go is there, endless never ends, zipped comes
compressed, away redirects, gone closes the connection."""
import gzip
import json
import os
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

folder = sys.argv[1]
lock = threading.Lock()
RESOURCES = [{"name": "cups", "singularName": "cup", "namespaced": True, "kind": "Cup",
              "verbs": ["create", "get", "list", "watch"], "shortNames": ["cu"]},
             {"name": "cups/status", "singularName": "", "namespaced": True, "kind": "Cup",
              "verbs": ["get"]}]


def cup(name):
    return {"kind": "Cup", "apiVersion": "tea.test/v1", "metadata": {"name": name, "namespace": "default"}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def setup(self):
        self.request.do_handshake()
        super().setup()

    def reply(self, code, body, **headers):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for key, value in headers.items():
            self.send_header(key.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def chunks(self, pieces):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in pieces:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def watch(self):
        yield json.dumps({"type": "ADDED", "object": cup("first")}).encode() + b"\n"
        while not os.path.exists(folder + "/go"):
            time.sleep(0.02)
        yield json.dumps({"type": "DELETED", "object": cup("first")}).encode() + b"\n"

    def endless(self):
        while True:
            yield b" " * 65536

    def one(self, name):
        if name == "slow":
            while not os.path.exists(folder + "/go"):
                time.sleep(0.02)
        if name == "endless":
            self.chunks(self.endless())
        elif name == "zipped":
            self.reply(200, gzip.compress(json.dumps(cup(name)).encode()), Content_Encoding="gzip")
        elif name == "away":
            self.reply(302, b"", Location="https://127.0.0.1:1/")
        elif name == "gone":
            self.close_connection = True
            self.request.unwrap()
        else:
            self.reply(200, cup(name))

    def handle_any(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else b""
        path, _, query = self.path.partition("?")
        if not self.request.getpeercert():
            return self.reply(401, {"kind": "Status", "code": 401})
        user = self.headers.get("X-Remote-User", "-")
        groups = ",".join(self.headers.get_all("X-Remote-Group", []))
        if not user.endswith("aggregator"):
            with lock, open(folder + "/calls", "a", encoding="utf-8") as out:
                secret = self.headers.get("Authorization", "")
                out.write(f"{self.command} {self.path} {user} {groups} {secret}\n")
        parts = path.strip("/").split("/")
        if path.rstrip("/") == "/apis/tea.test/v1":
            return self.reply(200, {"kind": "APIResourceList", "apiVersion": "v1",
                                    "groupVersion": "tea.test/v1", "resources": RESOURCES})
        if parts[:4] != ["apis", "tea.test", "v1", "namespaces"] or parts[5:6] != ["cups"]:
            return self.reply(404, {"kind": "Status", "apiVersion": "v1", "status": "Failure",
                                    "reason": "NotFound", "message": "no such path", "code": 404})
        if self.command == "POST":
            return self.reply(201, json.loads(body))
        if len(parts) > 6:
            return self.one(parts[6])
        if "watch=" in query:
            return self.chunks(self.watch())
        return self.reply(200, {"kind": "CupList", "apiVersion": "tea.test/v1", "metadata": {},
                                "items": [cup("first"), cup("second")]})

    def do_GET(self):
        try:
            self.handle_any()
        except OSError:
            self.close_connection = True

    do_POST = do_GET


class Server(ThreadingHTTPServer):
    daemon_threads, request_queue_size = True, 128

    def get_request(self):
        sock, address = self.socket.accept()
        return context.wrap_socket(sock, server_side=True, do_handshake_on_connect=False), address

    def handle_error(self, *args):
        pass


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(folder + "/hook.crt", folder + "/hook.key")
context.verify_mode = ssl.CERT_OPTIONAL
context.load_verify_locations(folder + "/proxy-ca.crt")
port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
server = Server(("127.0.0.1", port), Handler)
with open(folder + "/port.new", "w", encoding="utf-8") as out:
    out.write(str(server.server_address[1]))
os.rename(folder + "/port.new", folder + "/port")
server.serve_forever()
