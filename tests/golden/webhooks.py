#!/usr/bin/env python3
"""webhooks.py VECTORS DIR [CLIENT-CA] - the webhook server of the golden traces, on loopback.

DIR gets the certificates of its authority and of another one (ca.crt, other.crt) and, when it
serves, the file port. By SNI it shows a certificate for any name that ends with .svc, except those
that start with nocert. It notes whose certificate of CLIENT-CA a client shows."""
import importlib.util
import os
import ssl
import subprocess
import sys
import threading
import time

vectors, folder = sys.argv[1:3]
client_ca = sys.argv[3] if len(sys.argv) > 3 else None
spec = importlib.util.spec_from_file_location("webhookd", vectors + "/golden/webhookd.py")
webhookd = importlib.util.module_from_spec(spec)
spec.loader.exec_module(webhookd)
lock, contexts = threading.Lock(), {}


def openssl(*args):
    subprocess.run(("openssl",) + args, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def make_authority(name):
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-days", "2", "-subj", "/CN=golden-" + name, "-keyout", f"{folder}/{name}.key",
            "-out", f"{folder}/{name}.crt")


def make_context(file, names):
    base = f"{folder}/{file}"
    with open(base + ".ext", "w", encoding="utf-8") as out:
        out.write("subjectAltName=" + names + "\n")
    openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-subj", "/CN=webhook", "-keyout", base + ".key", "-out", base + ".csr")
    openssl("x509", "-req", "-in", base + ".csr", "-CA", folder + "/ca.crt", "-CAkey",
            folder + "/ca.key", "-days", "2", "-extfile", base + ".ext", "-out", base + ".crt",
            "-CAserial", base + ".srl", "-CAcreateserial")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(base + ".crt", base + ".key")
    if client_ca:
        context.verify_mode = ssl.CERT_OPTIONAL
        context.load_verify_locations(client_ca)
    return context


def choose(sock, name, _context):
    if not name or not name.endswith(".svc") or name.startswith("nocert"):
        return
    with lock:
        if name not in contexts:
            contexts[name] = make_context(f"sni{len(contexts)}", "DNS:" + name)
    sock.context = contexts[name]


for authority in ("ca", "other"):
    make_authority(authority)
plain = make_context("plain", "DNS:localhost,IP:127.0.0.1")
plain.sni_callback = choose
server = webhookd.Server(0, plain)
with open(folder + "/port.new", "w", encoding="utf-8") as out:
    out.write(str(server.httpd.server_address[1]))
os.rename(folder + "/port.new", folder + "/port")
while True:
    time.sleep(3600)
