#!/usr/bin/env python3
"""metrics_stand_in.py PORT_FILE SERVER CA TOKEN LEVELS - an API server with metrics, for tests.

Listens on a port of its own, which it writes to a file, without TLS. It answers for metrics.k8s.io,
custom.metrics.k8s.io and external.metrics.k8s.io from LEVELS, a file of JSON that is read each
time. Everything else it passes on to SERVER (HOST:PORT), as whoever has the token.
"""

import http.client
import http.server
import json
import ssl
import sys
import time
import urllib.parse

PORT_FILE, SERVER, CA, TOKEN, LEVELS = sys.argv[1:]
TLS = ssl.create_default_context(cafile=CA)
METRICS = ("metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io")


def connect():
    host, port = SERVER.rsplit(":", 1)
    return http.client.HTTPSConnection(host, int(port), context=TLS, timeout=600)


def pods(namespace, query):
    c = connect()
    c.request("GET", f"/api/v1/namespaces/{namespace}/pods?{query}",
              headers={"Authorization": "Bearer " + TOKEN})
    names = [(p["metadata"]["name"], [x["name"] for x in p["spec"]["containers"]])
             for p in json.loads(c.getresponse().read())["items"]]
    c.close()
    return names


def answer(path, query):
    """The answer to a path below /apis; parts[0] is the group."""
    with open(LEVELS, encoding="utf-8") as f:
        levels = json.load(f)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    parts = path.split("/")
    if len(parts) == 1:
        return {"kind": "APIGroup", "name": parts[0], "preferredVersion": {"version": "v1beta2"}}
    if parts[0] == "metrics.k8s.io":
        return {"items": [{"metadata": {"name": name}, "timestamp": now, "window": "1s",
                           "containers": [{"name": c, "usage": levels["resource"]} for c in containers]}
                          for name, containers in pods(parts[3], query)]}
    if parts[0] == "external.metrics.k8s.io":
        return {"items": [{"metricName": parts[4], "timestamp": now, "value": levels[parts[4]]}]}
    objects = [parts[5]]
    if objects == ["*"]:
        query = urllib.parse.parse_qs(query)
        selector = urllib.parse.urlencode({"labelSelector": query["labelSelector"][0]})
        objects = [name for name, _ in pods(parts[3], selector)]
    return {"items": [{"describedObject": {"name": name}, "timestamp": now, "value": levels[parts[-1]]}
                      for name in objects]}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def handle_any(self):
        url = urllib.parse.urlparse(self.path)
        path = urllib.parse.unquote(url.path)
        if path.startswith("/apis/") and path.split("/")[2] in METRICS:
            body = json.dumps(answer(path[len("/apis/"):], url.query)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            return
        self.pass_on()

    def pass_on(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else None
        headers = {k: v for k, v in self.headers.items()
                   if k.lower() in ("accept", "content-type", "user-agent")}
        headers["Authorization"] = "Bearer " + TOKEN
        c = connect()
        c.request(self.command, self.path, body, headers)
        r = c.getresponse()
        self.send_response(r.status)
        self.send_header("Content-Type", r.getheader("Content-Type", "text/plain"))
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            while True:
                some = r.read1(65536)
                self.wfile.write(b"%x\r\n%s\r\n" % (len(some), some))
                self.wfile.flush()
                if not some:
                    break
        except OSError:  # whoever asked has gone
            pass
        c.close()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(PORT_FILE, "w", encoding="utf-8") as f:
    f.write(str(server.server_port))
server.serve_forever()
