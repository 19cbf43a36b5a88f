#!/usr/bin/env python3
"""canary - moves traffic from one version to the other by `kubectl apply`, while load runs through a real Envoy.

usage: canary KUBECTL PORT REQUESTS SVG     KUBECONFIG says which server

For each step it applies the weights, waits until the gateway follows them, and counts who answers. Load never stops:
a request that fails at any time is a failure of the example. Prints one line per step; draws the split over time.
"""
import asyncio
import http.client
import multiprocessing
import subprocess
import sys
import threading
import time

STEPS = [(100, 0), (90, 10), (80, 20), (50, 50), (0, 100)]
ROUTE = """apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: shop, namespace: default}
spec:
  hosts: [shop.test]
  gateways: [shop]
  http:
    - route:
        - {destination: {host: shop, subset: v1}, weight: %d}
        - {destination: {host: shop, subset: v2}, weight: %d}
"""


class Answer(asyncio.Protocol):
    """One connection to a version of the shop: whatever is asked, it says which one it is."""

    def __init__(self, name):
        self.reply = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(name), name.encode())

    def connection_made(self, transport):
        self.transport, self.rest = transport, b""

    def data_received(self, data):
        *requests, self.rest = (self.rest + data).split(b"\r\n\r\n")
        self.transport.write(self.reply * len(requests))


def serve():
    async def run():
        loop = asyncio.get_running_loop()
        for address, port, name in (("127.0.1.1", 7001, "v1"), ("127.0.1.2", 7002, "v2")):
            await loop.create_server(lambda name=name: Answer(name), address, port)
        await asyncio.Event().wait()

    asyncio.run(run())


class Load:
    """Asks all the time, and remembers who answered when."""

    def __init__(self, port, connections=16):
        self.port, self.seen, self.failed, self.on = port, [], 0, True
        self.thread = threading.Thread(target=lambda: asyncio.run(self.all(connections)), daemon=True)
        self.thread.start()

    async def all(self, connections):
        await asyncio.gather(*[self.work() for _ in range(connections)])

    async def work(self):
        conn = None
        while self.on:
            try:
                conn = conn or await asyncio.open_connection("127.0.0.1", self.port)
                conn[1].write(b"GET / HTTP/1.1\r\nhost: shop.test\r\n\r\n")
                head = await asyncio.wait_for(conn[0].readuntil(b"\r\n\r\n"), 10)
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                body = await conn[0].readexactly(length)
                if not head.startswith(b"HTTP/1.1 200"):
                    raise OSError(head.split(b"\r\n")[0].decode())
                self.seen.append((time.monotonic(), body.decode()))
            except (OSError, EOFError, IndexError, asyncio.TimeoutError) as why:
                self.failed += 1
                print("failed:", repr(why))
                conn = None


def apply(kubectl, weights):
    subprocess.run([kubectl, "apply", "-f", "-"], input=(ROUTE % weights).encode(), check=True, stdout=subprocess.DEVNULL)


def wait_for_gateway(port):
    for _ in range(200):
        try:
            conn = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
            conn.request("GET", "/", headers={"host": "shop.test"})
            if conn.getresponse().status == 200:
                return
        except OSError:
            pass
        time.sleep(0.1)
    sys.exit("the gateway does not serve shop.test")


def draw(seen, marks, path, begin):
    end = max(t for t, _ in seen)
    slots, width, height = 120, 900, 300
    share = []
    for i in range(slots):
        lo, hi = begin + (end - begin) * i / slots, begin + (end - begin) * (i + 1) / slots
        part = [v for t, v in seen if lo <= t < hi]
        share.append(100 * part.count("v2") / len(part) if part else (share[-1] if share else 0))
    points = " ".join(f"{50 + i * width / slots:.1f},{20 + height * (1 - s / 100):.1f}" for i, s in enumerate(share))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + 80}" height="{height + 60}" font-family="sans-serif" font-size="12">',
           f'<rect x="50" y="20" width="{width}" height="{height}" fill="none" stroke="#999"/>']
    for p in (0, 10, 20, 50, 100):
        y = 20 + height * (1 - p / 100)
        out.append(f'<line x1="50" x2="{50 + width}" y1="{y}" y2="{y}" stroke="#eee"/><text x="10" y="{y + 4}">{p} %</text>')
    for t, label in marks:
        x = 50 + width * (t - begin) / (end - begin)
        out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="20" y2="{20 + height}" stroke="#c60" stroke-dasharray="4"/>'
                   f'<text x="{x + 3:.1f}" y="{height + 36}">{label}</text>')
    out.append(f'<polyline points="{points}" fill="none" stroke="#06c" stroke-width="2"/>')
    out.append(f'<text x="50" y="{height + 54}">answers of v2, over {end - begin:.1f} s and {len(seen)} requests</text></svg>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


def main():
    kubectl, port, count, svg = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    multiprocessing.Process(target=serve, daemon=True).start()
    apply(kubectl, STEPS[0])
    wait_for_gateway(port)
    load = Load(port)
    begin, marks, good = time.monotonic(), [], True
    for weights in STEPS[1:]:
        apply(kubectl, weights)
        marks.append((time.monotonic(), "%d/%d" % weights))
        time.sleep(1)  # requests under way, and the push
        first = len(load.seen)
        while len(load.seen) < first + count:
            time.sleep(0.02)
        part = [v for _, v in load.seen[first:first + count]]
        got = 100 * part.count("v2") / count
        fine = abs(got - weights[1]) <= 2
        good = good and fine
        print(f"{weights[0]}/{weights[1]}: v2 answered {got:.2f} % of {count}{'' if fine else ': not within 2 %'}", flush=True)
    load.on = False
    load.thread.join()
    draw(load.seen, marks, svg, begin)
    print(f"{len(load.seen)} requests, {load.failed} failed; the picture is {svg}")
    sys.exit(0 if good and not load.failed else 1)


if __name__ == "__main__":
    main()
