#!/usr/bin/env python3
"""converge_test.py SAMPAN - hundreds of objects under a rain of changes, while the parts of the control plane are
killed at random, the server among them. In the end everything must be as the objects say, and on the way no
Deployment may have lost more pods, or had more, than it allows.

CONVERGE_SECONDS: how long it rains (30); CONVERGE_SEED: which rain; CONVERGE_KILLS=0: nobody is killed;
CONVERGE_PARTS: 1 or 0, whether the parts are processes of their own or all in that of the server (else by chance).

Who watched is asked later: every change of pods, ReplicaSets, Deployments and Jobs is recorded and gone through in
the order of its resourceVersion at the end, so a slow machine makes nothing fail."""

import base64
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

SECONDS = int(os.environ.get("CONVERGE_SECONDS", "30"))
SEED = int(os.environ.get("CONVERGE_SEED", str(random.SystemRandom().randrange(1 << 32))))
KILLS = os.environ.get("CONVERGE_KILLS", "1") != "0"
PARTS = os.environ.get("CONVERGE_PARTS", str(SEED % 3 and 1)) != "0"
HANGS_AFTER = int(os.environ.get("CONVERGE_HANGS", "240"))  # seconds for all to settle; only to notice that something hangs
NODES = 8
MOST = {"deployments": 30, "statefulsets": 12, "daemonsets": 4, "jobs": 20}
GROUP = {"deployments": "/apis/apps/v1", "replicasets": "/apis/apps/v1", "statefulsets": "/apis/apps/v1",
         "daemonsets": "/apis/apps/v1", "jobs": "/apis/batch/v1", "pods": "/api/v1", "services": "/api/v1",
         "endpointslices": "/apis/discovery.k8s.io/v1", "nodes": "/api/v1", "controllerrevisions": "/apis/apps/v1"}
KIND = {"deployments": "Deployment", "statefulsets": "StatefulSet", "daemonsets": "DaemonSet", "jobs": "Job"}
STALE = 10  # seconds that a decision may be old: caches are behind, and processes are stopped in the middle


# ---- The parts of the control plane ----

class Cluster:
    def __init__(self, sampan):
        self.sampan = sampan
        self.dir = tempfile.mkdtemp(prefix="sampan-converge.")
        self.kubeconfig = self.dir + "/a/admin.kubeconfig"
        with open(self.dir + "/tokens", "w") as f:
            f.write('admin-token,admin,admin,"system:masters"\n')
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.commands = {
            "server": ["up", "--data-dir", self.dir + "/a", "--listen", "127.0.0.1:%d" % self.port,
                       "--token-auth-file", self.dir + "/tokens"],
            "controllers": ["controllers", "--leader-elect=false", "--kubeconfig", self.kubeconfig],
            "scheduler": ["scheduler", "--leader-elect=false", "--kubeconfig", self.kubeconfig],
            "nodes": ["nodes", "simulate", "--count", str(NODES), "--kubeconfig", self.kubeconfig],
        }
        self.commands["server"] += ["--api-only"] if PARTS else ["--simulate-nodes", str(NODES)]
        self.parts = ["controllers", "scheduler", "nodes"] if PARTS else []
        self.running = {}
        self.kills = []  # (when, part)

    def start(self, part):
        with open("%s/%s.log" % (self.dir, part), "ab") as log:
            self.running[part] = subprocess.Popen([self.sampan] + self.commands[part], stdout=log, stderr=log)
        if part == "server":
            self.wait_for_server()

    def wait_for_server(self):
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise SystemExit("the server does not start: " + self.log("server"))

    def start_all(self):
        self.start("server")
        while not os.path.exists(self.kubeconfig):
            time.sleep(0.05)
        with open(self.kubeconfig) as f:
            ca = re.search(r"certificate-authority-data: (\S+)", f.read()).group(1)
        self.tls = ssl.create_default_context(cadata=base64.b64decode(ca).decode())
        for part in self.parts:
            self.start(part)

    def kill(self, part):
        self.kills.append((time.monotonic(), part))
        self.running[part].kill()
        self.running[part].wait()

    def freeze(self, part, seconds):
        """It goes on later, with caches that are old by then."""
        self.kills.append((time.monotonic(), part))
        self.running[part].send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.running[part].send_signal(signal.SIGCONT)
        self.kills.append((time.monotonic(), part))

    def log(self, part):
        with open("%s/%s.log" % (self.dir, part), errors="replace") as f:
            return f.read()[-3000:]

    def end(self):
        """True: all parts ended in good order."""
        is_good = True
        for part in ("nodes", "scheduler", "controllers", "server"):
            p = self.running.get(part)
            if p and p.poll() is None:
                p.send_signal(signal.SIGTERM)
                try:
                    p.wait(30)
                except subprocess.TimeoutExpired:
                    p.kill()
            if p and p.returncode != 0:
                print("FAILED: %s ended with %d\n%s" % (part, p.returncode, self.log(part)))
                is_good = False
        return is_good


class Api:
    """A connection to the server, for one thread. It is made again after every error."""

    def __init__(self, cluster):
        self.cluster, self.conn = cluster, None

    def once(self, method, path, body=None, kind="application/json", timeout=60):
        if not self.conn:
            self.conn = http.client.HTTPSConnection("127.0.0.1", self.cluster.port, context=self.cluster.tls,
                                                    timeout=timeout)
        headers = {"Authorization": "Bearer admin-token"}
        if body is not None:
            headers["Content-Type"] = kind
        try:
            self.conn.request(method, path, None if body is None else json.dumps(body), headers)
            return self.conn.getresponse()
        except (OSError, http.client.HTTPException):
            self.conn.close()
            self.conn = None
            raise

    def ask(self, method, path, body=None, kind="application/json"):
        """Status and answer. Asked again until there is one: the server may be dead just now."""
        for _ in range(600):
            try:
                r = self.once(method, path, body, kind)
                answer = json.loads(r.read())
                if r.status not in (429, 503):
                    return r.status, answer
            except (OSError, http.client.HTTPException, ValueError):
                self.conn = None
            time.sleep(0.1)
        raise SystemExit("nobody answers %s %s" % (method, path))

    def list(self, plural):
        return self.ask("GET", "%s/%s" % (GROUP[plural], plural))[1].get("items", [])


def path_of(plural, name=""):
    return "%s/namespaces/default/%s%s" % (GROUP[plural], plural, "/" + name if name else "")


# ---- What is watched ----

def is_ready(pod):
    return any(c["type"] == "Ready" and c["status"] == "True" for c in pod.get("status", {}).get("conditions", []))


def controller_of(obj):
    for ref in obj["metadata"].get("ownerReferences", []):
        if ref.get("controller"):
            return ref
    return None


def is_live(pod):
    return "deletionTimestamp" not in pod["metadata"] and \
        pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")


class Watcher(threading.Thread):
    """Records all changes of a resource: (resourceVersion, when, plural, type, object)."""

    def __init__(self, cluster, plural, record):
        super().__init__(daemon=True)
        self.api, self.plural, self.record, self.version, self.gaps = Api(cluster), plural, record, None, 0

    def run(self):
        while True:
            try:
                self.watch()
            except (OSError, http.client.HTTPException, ValueError):
                self.api.conn = None
                time.sleep(0.1)

    def relist(self):
        status, answer = self.api.ask("GET", path_of(self.plural))
        if status != 200:
            raise OSError
        if self.version:
            self.gaps += 1
        self.version = answer["metadata"]["resourceVersion"]
        self.record.append((int(self.version), time.monotonic(), self.plural, "LIST", answer["items"]))

    def watch(self):
        if not self.version:
            self.relist()
        r = self.api.once("GET", path_of(self.plural) + "?watch=1&resourceVersion=" + self.version, timeout=600)
        if r.status != 200:
            r.read()
            raise OSError
        for line in r:
            event = json.loads(line)
            if event["type"] == "ERROR":
                self.version = None
                self.relist()
                return
            self.version = event["object"]["metadata"]["resourceVersion"]
            self.record.append((int(self.version), time.monotonic(), self.plural, event["type"], event["object"]))


# ---- The rain ----

def template(name, image, rng):
    return {"metadata": {"labels": {"app": name}, "annotations": {
                "simulate.sampan.io/start-after": "%dms" % rng.choice((50, 100, 300, 600))}},
            "spec": {"containers": [{"name": "c", "image": "image:%d" % image}], "terminationGracePeriodSeconds": 1}}


class Rain:
    """Changes at random; also says what the controllers cannot be blamed for."""

    def __init__(self, cluster, rng):
        self.cluster, self.rng, self.api = cluster, rng, Api(cluster)
        self.alive = {plural: {} for plural in MOST}  # name -> what it should be in the end
        self.orphaned = set()  # labels of what was left behind on purpose
        self.strays = set()  # pods that were taken away from their owners
        self.ours = {}  # uid of a pod -> when we deleted it
        self.tainted = {}  # node -> [when it began, when it ended], several of them
        self.serial = 0
        self.counts = {}

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def create(self, plural):
        self.serial += 1
        name = "%s-%d" % (plural[:3], self.serial)
        obj = {"metadata": {"name": name}, "spec": getattr(self, "spec_of_" + plural)(name)}
        status, _ = self.api.ask("POST", path_of(plural), obj)
        if status not in (201, 409):
            raise SystemExit("%s is not made: %s" % (name, _))
        self.alive[plural][name] = True
        if plural == "deployments":
            self.api.ask("POST", path_of("services"), {"metadata": {"name": name}, "spec": {
                "selector": {"app": name}, "ports": [{"port": 80}]}})

    def spec_of_deployments(self, name):
        spec = {"replicas": self.rng.randint(1, 6), "selector": {"matchLabels": {"app": name}},
                "template": template(name, 1, self.rng)}
        if self.rng.random() < 0.15:
            spec["strategy"] = {"type": "Recreate"}
            return spec
        surge, unavailable = self.rng.choice(((1, 0), (0, 1), ("25%", "25%"), (2, 1), ("50%", 0)))
        spec["strategy"] = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge,
                                                                       "maxUnavailable": unavailable}}
        return spec

    def spec_of_statefulsets(self, name):
        return {"replicas": self.rng.randint(1, 4), "selector": {"matchLabels": {"app": name}}, "serviceName": name,
                "podManagementPolicy": self.rng.choice(("OrderedReady", "Parallel")),
                "template": template(name, 1, self.rng)}

    def spec_of_daemonsets(self, name):
        surge, unavailable = self.rng.choice(((0, 1), (0, "40%"), (2, 0)))
        return {"selector": {"matchLabels": {"app": name}}, "template": template(name, 1, self.rng), "updateStrategy": {
            "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}}

    def spec_of_jobs(self, name):
        pods = template(name, 1, self.rng)
        pods["metadata"]["annotations"]["simulate.sampan.io/run-for"] = "%dms" % self.rng.choice((200, 800))
        pods["spec"]["restartPolicy"] = self.rng.choice(("Never", "OnFailure"))
        return {"completions": self.rng.randint(1, 5), "parallelism": self.rng.randint(1, 3), "backoffLimit": 50,
                "completionMode": self.rng.choice(("Indexed", "NonIndexed")), "template": pods}

    def some(self, plural):
        """Half of the time one of the first, so that some are never left alone."""
        names = sorted(self.alive[plural])
        return self.rng.choice(names[:3] if self.rng.random() < 0.5 else names) if names else None

    def patch(self, plural, name, body):
        return self.api.ask("PATCH", path_of(plural, name), body, "application/merge-patch+json")[0]

    def do_create(self):
        plural = self.rng.choice(sorted(MOST))
        if len(self.alive[plural]) < MOST[plural]:
            self.create(plural)

    def do_scale(self):
        plural = self.rng.choice(("deployments", "deployments", "statefulsets"))
        name = self.some(plural)
        if name:
            self.patch(plural, name, {"spec": {"replicas": self.rng.randint(0, 7)}})

    def do_image(self):
        plural = self.rng.choice(("deployments", "deployments", "statefulsets", "daemonsets"))
        name = self.some(plural)
        if name:
            self.patch(plural, name, {"spec": {"template": {"spec": {"containers": [
                {"name": "c", "image": "image:%d" % self.rng.randint(1, 4)}]}}}})

    def do_conflict(self):
        """Two write what they have read: one of them must be told."""
        plural = self.rng.choice(("deployments", "statefulsets"))
        name = self.some(plural)
        status, obj = self.api.ask("GET", path_of(plural, name)) if name else (404, None)
        if status != 200:
            return
        obj["spec"]["replicas"] = self.rng.randint(1, 5)
        first, answer = self.api.ask("PUT", path_of(plural, name), obj)
        obj["spec"]["replicas"] += 1
        second, _ = self.api.ask("PUT", path_of(plural, name), obj)
        has_changed = first == 200 and answer["metadata"]["resourceVersion"] != obj["metadata"]["resourceVersion"]
        if has_changed and second not in (404, 409):
            raise SystemExit("a stale write of %s was taken: %d" % (name, second))

    def do_delete(self):
        plural = self.rng.choice(sorted(MOST))
        name = self.some(plural)
        if not name:
            return
        how = self.rng.choice(("Background", "Foreground", "Orphan"))
        if how == "Orphan":
            self.orphaned.add(name)
        del self.alive[plural][name]
        self.api.ask("DELETE", path_of(plural, name), {"propagationPolicy": how})
        if plural == "deployments":
            self.api.ask("DELETE", path_of("services", name))
        self.count("delete " + how)

    def do_delete_pod(self):
        pods = self.api.list("pods")
        for pod in self.rng.sample(pods, min(len(pods), self.rng.randint(1, 3))):
            self.ours[pod["metadata"]["uid"]] = time.monotonic()
            if self.rng.random() < 0.3:
                self.api.ask("POST", path_of("pods", pod["metadata"]["name"]) + "/eviction",
                             {"apiVersion": "policy/v1", "kind": "Eviction",
                              "metadata": {"name": pod["metadata"]["name"]}})
            else:
                self.api.ask("DELETE", path_of("pods", pod["metadata"]["name"]),
                             {"preconditions": {"uid": pod["metadata"]["uid"]},
                              "gracePeriodSeconds": self.rng.choice((0, 1))})

    def do_relabel(self):
        """A pod that its owner does not know any more. It stays, and another one takes its place."""
        pods = [p for p in self.api.list("pods") if (controller_of(p) or {}).get("kind") == "ReplicaSet"]
        if pods:
            meta = self.rng.choice(pods)["metadata"]
            self.ours[meta["uid"]] = time.monotonic()
            self.strays.add(meta["name"])
            self.patch("pods", meta["name"], {"metadata": {"labels": {"app": "stray"}}})

    def do_delete_set(self):
        sets = self.api.list("replicasets")
        if sets:
            self.api.ask("DELETE", path_of("replicasets", self.rng.choice(sets)["metadata"]["name"]),
                         {"propagationPolicy": self.rng.choice(("Background", "Foreground"))})

    def do_job(self):
        name = self.some("jobs")
        if name:
            self.patch("jobs", name, {"spec": self.rng.choice((
                {"suspend": True}, {"suspend": False}, {"parallelism": self.rng.randint(1, 4)}))})

    def do_pause(self):
        name = self.some("deployments")
        if name:
            self.patch("deployments", name, {"spec": {"paused": self.rng.random() < 0.3}})

    def do_node(self):
        node = "simulated-%d" % self.rng.randrange(NODES // 2)  # the others are always there
        self.set_node(node, self.rng.random() < 0.3, self.rng.random() < 0.3)

    def set_node(self, node, is_cordoned, is_tainted):
        taints = [{"key": "gone", "effect": "NoExecute"}] if is_tainted else []
        if is_cordoned:
            taints.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
        spans = self.tainted.setdefault(node, [])
        if is_tainted and (not spans or spans[-1][1]):
            spans.append([time.monotonic(), None])
        self.api.ask(
            "PATCH", "/api/v1/nodes/" + node, {"spec": {"unschedulable": is_cordoned or None, "taints": taints}},
            "application/merge-patch+json")
        if not is_tainted and spans and not spans[-1][1]:
            spans[-1][1] = time.monotonic()

    def drives_away(self, node, when):
        """Pods may go because of that, also a while after it has ended."""
        return any(begin <= when and (not end or when - end < STALE) for begin, end in self.tainted.get(node, []))

    def fall(self, until):
        steps = ("create", "create", "scale", "image", "image", "conflict", "delete", "delete_pod", "delete_pod", "node",
                 "relabel", "delete_set", "job", "pause")
        for plural in MOST:
            for _ in range(MOST[plural] // 2):
                self.create(plural)
        while time.monotonic() < until:
            step = self.rng.choice(steps)
            getattr(self, "do_" + step)()
            self.count(step)
            time.sleep(self.rng.random() * 0.1)

    def clear_up(self):
        for i in range(NODES):
            self.set_node("simulated-%d" % i, False, False)
        for name in self.alive["jobs"]:
            self.patch("jobs", name, {"spec": {"suspend": False}})
        for name in self.alive["deployments"]:
            self.patch("deployments", name, {"spec": {"paused": False}})


def strike(cluster, rng, until):
    """Kills parts at random, or makes them sleep."""
    while time.monotonic() < until:
        time.sleep(rng.uniform(0.5, 3))
        if PARTS and rng.random() < 0.3:
            cluster.freeze(rng.choice(("controllers", "controllers", "scheduler", "nodes")), rng.uniform(0.5, 4))
            continue
        part = rng.choice(["controllers", "controllers"] + cluster.parts + ["server"]) if PARTS else "server"
        cluster.kill(part)
        time.sleep(rng.uniform(0, 1))
        cluster.start(part)


# ---- What must hold all the time ----

def share_of(v, total, is_up):
    if isinstance(v, int):
        return v
    n = int(v.rstrip("%")) * total
    return (n + 99) // 100 if is_up else n // 100


class Past:
    """The values that something had lately."""

    def __init__(self):
        self.values = []  # (when it began, value)

    def put(self, when, value):
        if not self.values or self.values[-1][1] != value:
            self.values.append((when, value))

    def since(self, when):
        """All values from then on, the one that was valid then included."""
        first = max([i for i, (t, _) in enumerate(self.values) if t <= when], default=0)
        return [v for _, v in self.values[first:]]


class Judge:
    """Goes through the record, and says what should not have happened."""

    def __init__(self, record, rain, cluster):
        self.record = sorted(record, key=lambda r: r[0])
        self.rain, self.kills, self.faults = rain, cluster.kills, []
        self.objects = {"pods": {}, "replicasets": {}, "deployments": {}, "jobs": {}}
        self.limits, self.sizes, self.harm = {}, {}, {}  # by uid of Deployment, ReplicaSet, Deployment
        self.owners = {}  # uid of a ReplicaSet -> that of its Deployment, also when it is gone

    def fault(self, rv, fmt, *args):
        self.faults.append("at %d: " % rv + fmt % args)

    def run(self):
        for rv, when, plural, kind, obj in self.record:
            if kind == "LIST":
                self.objects[plural] = {o["metadata"]["uid"]: o for o in obj}
                for o in obj:
                    self.note(when, plural, o)
                continue
            uid = obj["metadata"]["uid"]
            old = self.objects[plural].pop(uid, None)
            if kind != "DELETED":
                self.objects[plural][uid] = obj
                self.note(when, plural, obj)
            check = getattr(self, "check_" + plural, None)
            if check:
                check(rv, when, old, obj, kind == "DELETED")
        return self.faults

    def note(self, when, plural, obj):
        uid, spec = obj["metadata"]["uid"], obj["spec"]
        if plural == "deployments":
            if spec["strategy"]["type"] == "Recreate":
                self.limits.setdefault(uid, Past()).put(when, (spec["replicas"], 0))
                return
            rolling, n = spec["strategy"].get("rollingUpdate", {}), spec["replicas"]
            surge = share_of(rolling.get("maxSurge", 0), n, True)
            unavailable = share_of(rolling.get("maxUnavailable", 0), n, False)
            if surge == 0 and unavailable == 0:
                unavailable = 1
            self.limits.setdefault(uid, Past()).put(when, (n + surge, n - unavailable))
        if plural == "replicasets" and controller_of(obj):
            self.owners[uid] = controller_of(obj)["uid"]
        if plural in ("replicasets", "jobs"):
            self.sizes.setdefault(uid, Past()).put(when, spec["replicas" if plural == "replicasets" else "parallelism"])

    def owned(self, plural, uid):
        return [o for o in self.objects[plural].values() if (controller_of(o) or {}).get("uid") == uid]

    def was_killed(self, when):
        """A request of a dead process may come late."""
        return any(0 <= when - t < 2 for t, _ in self.kills)

    def check_replicasets(self, rv, when, old, obj, is_gone):
        ref = controller_of(obj)
        grows = not is_gone and obj["spec"]["replicas"] > (old["spec"]["replicas"] if old else 0)
        if not ref or not grows or ref["uid"] not in self.limits:
            return
        total = sum(rs["spec"]["replicas"] for rs in self.owned("replicasets", ref["uid"])
                    if "deletionTimestamp" not in rs["metadata"])
        most = max(v[0] for v in self.limits[ref["uid"]].since(when - STALE))
        if total > most:
            self.fault(rv, "Deployment %s asks for %d pods, and %d are its limit", ref["name"], total, most)

    def check_pods(self, rv, when, old, obj, is_gone):
        ref = controller_of(obj)
        if old is None and not is_gone and ref and ref["uid"] in self.sizes:
            self.check_new(rv, when, obj, ref)
            self.check_recreate(rv, when, obj, ref)
        was = old is not None and is_live(old)
        if was and (is_gone or not is_live(obj)) and "deletionTimestamp" in obj["metadata"] or (was and is_gone):
            self.check_lost(rv, when, old)
        elif was and is_ready(old) and not is_ready(obj):
            self.blame(when, old)

    def check_new(self, rv, when, pod, ref):
        pods = [p for p in self.owned("pods", ref["uid"]) if is_live(p)]
        most = max(self.sizes[ref["uid"]].since(when - STALE))
        if len(pods) > most and not self.was_killed(when):
            self.fault(rv, "%s %s has %d pods, and %d are enough", ref["kind"], ref["name"], len(pods), most)
        index = pod["metadata"].get("annotations", {}).get("batch.kubernetes.io/job-completion-index")
        if index is not None:
            twins = [p for p in pods if p["metadata"]["annotations"].get(
                "batch.kubernetes.io/job-completion-index") == index]
            if len(twins) > 1 and not self.was_killed(when):
                self.fault(rv, "index %s of Job %s runs twice", index, ref["name"])

    def check_recreate(self, rv, when, pod, ref):
        """Nothing of the newest kind before all older ones have ended."""
        d = self.deployment_of(pod)
        if not d or d["spec"]["strategy"]["type"] != "Recreate" or self.was_killed(when):
            return
        sets = sorted(self.owned("replicasets", d["metadata"]["uid"]), key=lambda rs: int(
            rs["metadata"].get("annotations", {}).get("deployment.kubernetes.io/revision", "0")))
        if sets and sets[-1]["metadata"]["uid"] == ref["uid"]:
            old = [p["metadata"]["name"] for rs in sets[:-1] for p in self.owned("pods", rs["metadata"]["uid"])
                   if p.get("status", {}).get("phase") not in ("Succeeded", "Failed")]
            if old:
                self.fault(rv, "Deployment %s starts %s beside %s", d["metadata"]["name"], pod["metadata"]["name"], old)

    def deployment_of(self, pod):
        d = self.objects["deployments"].get(self.owners.get((controller_of(pod) or {}).get("uid")))
        return d if d and "deletionTimestamp" not in d["metadata"] else None

    def blame(self, when, pod):
        d = self.deployment_of(pod)
        if d:
            self.harm.setdefault(d["metadata"]["uid"], []).append(when)

    def check_lost(self, rv, when, pod):
        """A pod goes. If that is the controller's doing there must be enough others."""
        d = self.deployment_of(pod)
        node = pod["spec"].get("nodeName")
        if not d:
            return
        rs = self.objects["replicasets"].get(controller_of(pod)["uid"])
        if not rs or "deletionTimestamp" in rs["metadata"] or pod["metadata"]["uid"] in self.rain.ours or \
                self.rain.drives_away(node, when):
            self.blame(when, pod)
            return
        if not is_ready(pod):
            return
        uid = d["metadata"]["uid"]
        ready = sum(1 for rs in self.owned("replicasets", uid) for p in self.owned("pods", rs["metadata"]["uid"])
                    if is_live(p) and is_ready(p))
        least = min(v[1] for v in self.limits[uid].since(when - STALE))
        excused = sum(1 for t in self.harm.get(uid, []) if when - t < STALE)
        if ready + excused < least:
            self.fault(rv, "Deployment %s is left with %d available pods, and %d are the least (%d lost otherwise)",
                       d["metadata"]["name"], ready, least, excused)


# ---- What must hold in the end ----

class End:
    """What is not yet, or not any more, as it should be: lines of text, none if all is well."""

    def __init__(self, api, rain):
        self.rain = rain
        self.all = {p: api.list(p) for p in ("deployments", "replicasets", "statefulsets", "daemonsets", "jobs", "pods",
                                             "nodes", "endpointslices", "services", "controllerrevisions")}
        self.all["endpointslices"] = [s for s in self.all["endpointslices"]
                                      if s["metadata"]["namespace"] == "default"]
        self.pods = [p for p in self.all["pods"] if p["metadata"]["namespace"] == "default"]
        self.uids = {o["metadata"]["uid"] for p in self.all for o in self.all[p]}

    def owned(self, plural, obj):
        return [o for o in self.all[plural] if (controller_of(o) or {}).get("uid") == obj["metadata"]["uid"]]

    def lines(self):
        for plural in MOST:
            there = {o["metadata"]["name"] for o in self.all[plural]}
            want = set(self.rain.alive[plural])
            if there != want:
                yield "%s: too many %s, missing %s" % (plural, sorted(there - want), sorted(want - there))
        for plural in ("replicasets", "pods", "controllerrevisions"):
            for o in self.all[plural]:
                yield from self.orphan_lines(plural, o)
        for plural in MOST:
            for o in self.all[plural]:
                yield from getattr(self, "lines_of_" + plural)(o)

    def orphan_lines(self, plural, o):
        meta = o["metadata"]
        if meta["namespace"] != "default":
            return
        if any(r["uid"] not in self.uids for r in meta.get("ownerReferences", [])):
            yield "%s %s has an owner that is gone" % (plural, meta["name"])
        if not controller_of(o) and meta["name"] not in self.rain.strays and not any(meta["name"].startswith(n + "-") for n in self.rain.orphaned):
            yield "%s %s has no owner" % (plural, meta["name"])
        if "deletionTimestamp" in meta:
            yield "%s %s is not gone yet" % (plural, meta["name"])

    def pods_lines(self, what, obj, want, pods):
        name, image = obj["metadata"]["name"], obj["spec"]["template"]["spec"]["containers"][0]["image"]
        if len(pods) != want:
            yield "%s %s has %d pods, not %d" % (what, name, len(pods), want)
        for p in pods:
            if not is_ready(p):
                yield "%s %s: %s is not ready" % (what, name, p["metadata"]["name"])
            if p["spec"]["containers"][0]["image"] != image:
                yield "%s %s: %s is of an old image" % (what, name, p["metadata"]["name"])
        if obj["status"].get("observedGeneration") != obj["metadata"]["generation"]:
            yield "%s %s: nobody has looked at it" % (what, name)

    def lines_of_deployments(self, d):
        want, name = d["spec"]["replicas"], d["metadata"]["name"]
        pods = [p for rs in self.owned("replicasets", d) for p in self.owned("pods", rs)]
        yield from self.pods_lines("Deployment", d, want, pods)
        for key in ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"):
            if d["status"].get(key, 0) != want:
                yield "Deployment %s: status.%s is %s, not %d" % (name, key, d["status"].get(key), want)
        addresses = sorted(a for s in self.all["endpointslices"]
                           if s["metadata"]["labels"].get("kubernetes.io/service-name") == name
                           for e in s["endpoints"] or [] for a in e["addresses"])
        ips = sorted(p["status"].get("podIP", "") for p in self.pods if p["metadata"]["labels"]["app"] == name)
        if addresses != ips:
            yield "Service %s: endpoints %s, pods %s" % (name, addresses, ips)

    def lines_of_statefulsets(self, s):
        want, name = s["spec"]["replicas"], s["metadata"]["name"]
        pods = self.owned("pods", s)
        yield from self.pods_lines("StatefulSet", s, want, pods)
        if sorted(p["metadata"]["name"] for p in pods) != sorted("%s-%d" % (name, i) for i in range(want)):
            yield "StatefulSet %s has %s" % (name, [p["metadata"]["name"] for p in pods])

    def lines_of_daemonsets(self, d):
        pods = self.owned("pods", d)
        yield from self.pods_lines("DaemonSet", d, NODES, pods)
        if len({p["spec"].get("nodeName") for p in pods}) != NODES:
            yield "DaemonSet %s is not on every node" % d["metadata"]["name"]

    def lines_of_jobs(self, j):
        name, want, status = j["metadata"]["name"], j["spec"]["completions"], j["status"]
        if status.get("succeeded", 0) != want:
            yield "Job %s: %s of %d have succeeded" % (name, status.get("succeeded"), want)
        if not any(c["type"] == "Complete" and c["status"] == "True" for c in status.get("conditions", [])):
            yield "Job %s is not complete" % name
        if status.get("active") or status.get("uncountedTerminatedPods", {}).get("succeeded"):
            yield "Job %s has something left: %s" % (name, status)
        if any("batch.kubernetes.io/job-tracking" in p["metadata"].get("finalizers", []) for p in self.owned("pods", j)):
            yield "Job %s: a pod has kept its finalizer" % name


def settle(cluster, rain):
    """Waits until nothing is wrong any more; what is then still wrong."""
    api, began = Api(cluster), time.monotonic()
    while True:
        lines = list(End(api, rain).lines())
        if not lines or time.monotonic() - began > HANGS_AFTER:
            return lines, time.monotonic() - began
        time.sleep(0.5)


def main():
    print("seed %d, %d seconds, %s" % (SEED, SECONDS, "parts" if PARTS else "one process"), flush=True)
    cluster = Cluster(os.path.abspath(sys.argv[1]))
    rng, record = random.Random(SEED), []
    try:
        cluster.start_all()
        watchers = [Watcher(cluster, p, record) for p in ("pods", "replicasets", "deployments", "jobs")]
        for w in watchers:
            w.start()
        rain = Rain(cluster, random.Random(rng.random()))
        until = time.monotonic() + SECONDS
        storm = threading.Thread(target=strike, args=(cluster, random.Random(rng.random()), until))
        if KILLS:
            storm.start()
        rain.fall(until)
        if KILLS:
            storm.join()
        rain.clear_up()
        lines, took = settle(cluster, rain)
        time.sleep(1)  # what it should not do now it would do soon
        lines = lines or list(End(Api(cluster), rain).lines())
        faults = Judge(list(record), rain, cluster).run()
    finally:
        is_good = cluster.end()
    print("%d changes recorded, %d kills, %d gaps, settled after %.1f s; %s" % (
        len(record), len(cluster.kills), sum(w.gaps for w in watchers), took,
        ", ".join("%s %d" % i for i in sorted(rain.counts.items()))))
    for line in lines[:20]:
        print("FAILED in the end: " + line)
    for line in faults[:20]:
        print("FAILED " + line)
    if len(lines) > 20 or len(faults) > 20:
        print("... %d lines in all" % (len(lines) + len(faults)))
    if lines or faults or not is_good:
        print("seed %d; logs in %s" % (SEED, cluster.dir))
        return 1
    shutil.rmtree(cluster.dir)
    return 0


if __name__ == "__main__":
    sys.exit(main())
