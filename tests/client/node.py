"""node.py FOLDER - a node that runs commands, forwards ports and has logs, as far as a kubelet's port 10250 shows them.

Commands are processes of this machine, ports are those of its loopback, and the log of every container has three lines.
Streams are WebSockets (v5.channel.k8s.io, or v4 for port-forward). The port is written to FOLDER/node.port. Certificates
are in FOLDER: node.crt and node.key, and ca.crt for whoever asks."""
import base64
import hashlib
import json
import os
import socket
import ssl
import struct
import subprocess
import sys
import threading
from urllib.parse import parse_qs, urlsplit

folder = sys.argv[1]


class Socket:
    """A WebSocket whose handshake is done: messages with a channel in front."""

    def __init__(self, conn):
        self.conn, self.lock = conn, threading.Lock()

    def exactly(self, n):
        data = b""
        while len(data) < n:
            piece = self.conn.recv(n - len(data))
            if not piece:
                raise OSError("the other end hung up")
            data += piece
        return data

    def frame(self):
        first, length = self.exactly(2)
        length &= 0x7F
        if length == 126:
            (length,) = struct.unpack(">H", self.exactly(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", self.exactly(8))
        mask = self.exactly(4)
        data = bytes(b ^ mask[i % 4] for i, b in enumerate(self.exactly(length)))
        return first & 0x0F, data

    def messages(self):
        """Until the other end closes it. Nobody here sends a message in pieces."""
        try:
            while True:
                opcode, data = self.frame()
                if opcode == 8:
                    return
                if opcode in (1, 2) and data:
                    yield data[0], data[1:]
        except OSError:
            return

    def send(self, opcode, data):
        head = bytes([0x80 | opcode])
        if len(data) < 126:
            head += bytes([len(data)])
        else:
            head += bytes([126]) + struct.pack(">H", len(data))
        with self.lock:
            self.conn.sendall(head + data)

    def say(self, channel, data):
        self.send(2, bytes([channel]) + data)

    def close(self):
        self.send(8, struct.pack(">H", 1000))


def pump(source, ws, channel):
    while piece := source(4096):
        ws.say(channel, piece)


def run(ws, query):
    pipe = subprocess.PIPE
    process = subprocess.Popen(query["command"], stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0)

    def feed():
        for channel, data in ws.messages():
            if channel == 0:
                process.stdin.write(data)
            elif channel == 255 and data == b"\0":
                process.stdin.close()

    threading.Thread(target=feed, daemon=True).start()
    outputs = [
        threading.Thread(target=pump, args=(process.stdout.read, ws, 1)),
        threading.Thread(target=pump, args=(process.stderr.read, ws, 2)),
    ]
    for thread in outputs:
        thread.start()
    for thread in outputs:
        thread.join()
    code = process.wait()
    status = {"metadata": {}, "status": "Success"}
    if code:
        status = {"metadata": {}, "status": "Failure", "reason": "NonZeroExitCode",
                  "message": f"command terminated with non-zero exit code: {code}",
                  "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]}}
    ws.say(3, json.dumps(status).encode())
    ws.close()


def forward(ws, query):
    ends = {}
    for i, port in enumerate(",".join(query["port"]).split(",")):
        for channel in (2 * i, 2 * i + 1):
            ws.say(channel, struct.pack("<H", int(port)))
        try:
            ends[2 * i] = socket.create_connection(("127.0.0.1", int(port)))
        except OSError as why:
            ws.say(2 * i + 1, str(why).encode())
            continue
        threading.Thread(target=pump, args=(ends[2 * i].recv, ws, 2 * i), daemon=True).start()
    for channel, data in ws.messages():
        ends[channel].sendall(data)
    for end in ends.values():
        end.close()


def log(conn):
    conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n")
    for i in range(3):
        conn.sendall(b"7\r\nline %d\n\r\n" % i)
    conn.sendall(b"0\r\n\r\n")


def upgrade(conn, headers):
    accept = hashlib.sha1(headers["sec-websocket-key"].encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
    protocol = headers["sec-websocket-protocol"].split(",")[0].strip()
    conn.sendall(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                 b"Sec-WebSocket-Accept: %s\r\nSec-WebSocket-Protocol: %s\r\n\r\n"
                 % (base64.b64encode(accept), protocol.encode()))
    return Socket(conn)


def serve(conn):
    head = b""
    while b"\r\n\r\n" not in head:
        piece = conn.recv(1)
        if not piece:
            return
        head += piece
    lines = head.decode().split("\r\n")
    headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:] if line)}
    url = urlsplit(lines[0].split(" ")[1])
    query = parse_qs(url.query)
    if url.path.startswith("/exec/"):
        run(upgrade(conn, headers), query)
    elif url.path.startswith("/portForward/"):
        forward(upgrade(conn, headers), query)
    else:
        log(conn)


def guarded(conn):
    try:
        serve(tls.wrap_socket(conn, server_side=True))
    except OSError as why:
        print("a connection ended:", why, file=sys.stderr)


tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(f"{folder}/node.crt", f"{folder}/node.key")
tls.load_verify_locations(f"{folder}/ca.crt")
tls.verify_mode = ssl.CERT_REQUIRED
listener = socket.create_server(("127.0.0.1", 0))
with open(f"{folder}/node.port.new", "w") as f:
    f.write(str(listener.getsockname()[1]))
os.rename(f"{folder}/node.port.new", f"{folder}/node.port")
while True:
    threading.Thread(target=guarded, args=(listener.accept()[0],), daemon=True).start()
