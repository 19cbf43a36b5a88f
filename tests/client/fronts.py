"""fronts.py MODE TARGET FOLDER - something that stands between a client and the server at TARGET (host:port).

Modes: tcp passes bytes; http1 speaks TLS without HTTP/2 to clients and shows its own certificate to the server;
connect is an HTTP proxy that leads every CONNECT to TARGET, and connects is the same inside of TLS, with the server's
certificate; socks5 is a SOCKS proxy that does so, for joe with the password pw. The port is written to FOLDER/MODE.port, and a line for
each connection to FOLDER/MODE.log. Certificates are in FOLDER: front.crt and front.key for clients of http1, proxy.crt
and proxy.key for those of connects, ca.crt, admin.crt and admin.key for the server."""
import os
import socket
import ssl
import sys
import threading

mode, target, folder = sys.argv[1:]
target = (target.rsplit(":", 1)[0], int(target.rsplit(":", 1)[1]))
log = open(f"{folder}/{mode}.log", "a", buffering=1)


def pump(source, sink):
    try:
        while piece := source.recv(65536):
            sink.sendall(piece)
    except OSError:
        pass
    for s in (source, sink):
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def join(client, server, first=b""):
    server.sendall(first)
    threading.Thread(target=pump, args=(server, client), daemon=True).start()
    pump(client, server)


def tcp(client):
    print("connection", file=log)
    join(client, socket.create_connection(target))


def connect(client):
    head = b""
    while b"\r\n\r\n" not in head:
        piece = client.recv(1)
        if not piece:
            return
        head += piece
    print(head.split(b"\r\n")[0].decode(), file=log)
    server = socket.create_connection(target)
    client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
    join(client, server)


def connects(client):
    to_client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    to_client.load_cert_chain(f"{folder}/proxy.crt", f"{folder}/proxy.key")
    connect(to_client.wrap_socket(client, server_side=True))


def exactly(client, n):
    data = b""
    while len(data) < n:
        piece = client.recv(n - len(data))
        if not piece:
            raise OSError("the client hung up")
        data += piece
    return data


def socks5(client):
    methods = exactly(client, exactly(client, 2)[1])
    if 2 not in methods:
        client.sendall(b"\5\xff")
        return
    client.sendall(b"\5\2")
    user = exactly(client, exactly(client, 2)[1])
    password = exactly(client, exactly(client, 1)[0])
    client.sendall(b"\1" + (b"\0" if (user, password) == (b"joe", b"pw") else b"\1"))
    kind = exactly(client, 4)[3]
    length = {1: 4, 4: 16}.get(kind) or exactly(client, 1)[0]
    host = exactly(client, length)
    port = int.from_bytes(exactly(client, 2), "big")
    name = host.decode() if kind == 3 else socket.inet_ntop(socket.AF_INET if kind == 1 else socket.AF_INET6, host)
    print(f"SOCKS {name}:{port}", file=log)
    server = socket.create_connection(target)
    client.sendall(b"\5\0\0\1\0\0\0\0\0\0")
    join(client, server)


def http1(client):
    to_client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    to_client.load_cert_chain(f"{folder}/front.crt", f"{folder}/front.key")
    to_client.set_alpn_protocols(["http/1.1"])
    to_server = ssl.create_default_context(cafile=f"{folder}/ca.crt")
    to_server.load_cert_chain(f"{folder}/admin.crt", f"{folder}/admin.key")
    to_server.set_alpn_protocols(["http/1.1"])
    client = to_client.wrap_socket(client, server_side=True)
    first = client.recv(65536)
    if not first:  # somebody who wanted HTTP/2
        return
    print(first.split(b"\r\n")[0].decode(errors="replace"), file=log)
    join(client, to_server.wrap_socket(socket.create_connection(target), server_hostname=target[0]), first)


def guarded(client):
    try:
        {"tcp": tcp, "connect": connect, "connects": connects, "http1": http1, "socks5": socks5}[mode](client)
    except OSError as why:
        print("failed:", why, file=log)


listener = socket.create_server(("127.0.0.1", 0))
with open(f"{folder}/{mode}.port.new", "w") as f:
    f.write(str(listener.getsockname()[1]))
os.rename(f"{folder}/{mode}.port.new", f"{folder}/{mode}.port")
while True:
    threading.Thread(target=guarded, args=(listener.accept()[0],), daemon=True).start()
