#!/usr/bin/env python3
"""issuer.py - an OpenID issuer for oidc_test.sh.

  issuer.py serve FOLDER PORT         serves the files below FOLDER/www by HTTPS with FOLDER/tls.crt
                                      and FOLDER/tls.key; each path is a line in FOLDER/calls. For
                                      /groups it wants to see the token in FOLDER/access. While
                                      there is a file FOLDER/hang it answers nobody.
  issuer.py key FOLDER ID rsa|ec      makes a key, FOLDER/ID.pem
  issuer.py publish FOLDER URL ID...  writes the discovery document and these keys
  issuer.py token FOLDER ID ALG JSON  prints a token with these claims, signed by the key; an
                                      "exp" and "nbf" below 10^9 count from now
"""
import base64
import json
import os
import ssl
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

P256_BYTES = 32
HASHES = {"256": "sha256", "384": "sha384", "512": "sha512"}


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def openssl(*args, stdin=b""):
    return subprocess.run(["openssl", *args], input=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True).stdout


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def find(self):
        if self.path == "/groups":
            with open(os.path.join(self.server.folder, "access")) as f:
                if self.headers.get("Authorization") != "Bearer " + f.read().strip():
                    return 403, b""
        try:
            with open(os.path.join(self.server.folder, "www") + self.path, "rb") as f:
                return 200, f.read()
        except OSError:
            return 404, b""

    def do_GET(self):
        with open(os.path.join(self.server.folder, "calls"), "a") as f:
            f.write(self.path + "\n")
        while os.path.exists(os.path.join(self.server.folder, "hang")):
            time.sleep(0.05)
        status, body = self.find()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            pass  # nobody waits any more


def serve(folder, port):
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(os.path.join(folder, "tls.crt"), os.path.join(folder, "tls.key"))
    server = ThreadingHTTPServer(("127.0.0.1", int(port)), Handler)
    server.folder = folder
    server.daemon_threads = True
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    server.serve_forever()


def pem(folder, key_id):
    return os.path.join(folder, key_id + ".pem")


def make_key(folder, key_id, kind):
    how = ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"] if kind == "rsa" else \
        ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
    openssl("genpkey", "-algorithm", *how, "-out", pem(folder, key_id))


def web_key(folder, key_id):
    der = openssl("pkey", "-in", pem(folder, key_id), "-pubout", "-outform", "DER")
    if len(der) < 200:
        return {"kid": key_id, "kty": "EC", "crv": "P-256", "use": "sig",
                "x": b64(der[-2 * P256_BYTES:-P256_BYTES]), "y": b64(der[-P256_BYTES:])}
    modulus = openssl("rsa", "-in", pem(folder, key_id), "-noout", "-modulus")
    number = bytes.fromhex(modulus.decode().strip().split("=")[1])
    return {"kid": key_id, "kty": "RSA", "use": "sig", "n": b64(number), "e": "AQAB"}


def write(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "w") as f:
        json.dump(value, f)
    os.rename(path + ".new", path)


def publish(folder, url, *ids):
    write(os.path.join(folder, "www/.well-known/openid-configuration"),
          {"issuer": url, "jwks_uri": url + "/keys"})
    strange = {"kid": "strange", "kty": "OKP", "crv": "X25519", "x": "AAAA"}
    write(os.path.join(folder, "www/keys"),
          {"keys": [strange] + [web_key(folder, key_id) for key_id in ids]})


def number_of(der, at):
    """The integer of an ECDSA signature that begins here, and where it ends."""
    length = der[at + 1]
    number = int.from_bytes(der[at + 2:at + 2 + length], "big")
    return number.to_bytes(P256_BYTES, "big"), at + 2 + length


def sign(folder, key_id, alg, text):
    args = ["dgst", "-" + HASHES[alg[2:]], "-sign", pem(folder, key_id)]
    if alg.startswith("PS"):
        args += ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:-1"]
    signature = openssl(*args, stdin=text)
    if not alg.startswith("ES"):
        return signature
    first, end = number_of(signature, 2)
    return first + number_of(signature, end)[0]


def token(folder, key_id, alg, claims):
    claims = json.loads(claims)
    for name in ("exp", "nbf"):
        if isinstance(claims.get(name), int) and claims[name] < 10**9:
            claims[name] += int(time.time())
    text = ".".join(b64(json.dumps(part).encode()) for part in ({"alg": alg, "kid": key_id}, claims))
    print(text + "." + b64(sign(folder, key_id, alg, text.encode())))


{"serve": serve, "key": make_key, "publish": publish, "token": token}[sys.argv[1]](*sys.argv[2:])
