"""A program on the kubernetes package against the server that KUBECONFIG names. It ends with 0 only
if every expectation holds."""

import json
import sys
import threading
import time

from kubernetes import client, config, dynamic, watch

OURS = "app=clients"
passed = 0
failed = 0


def expect(what, ok, got=None):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
        print("FAILED", what, f"\n  got: {got}")


def refusal(call, *args, **kwargs):
    """The answer's code and reason, for calls that should be refused."""
    try:
        call(*args, **kwargs)
    except client.ApiException as e:
        return f"{e.status} {json.loads(e.body)['reason']}"
    return "no error"


class Seen:
    """Collects "EVENT name" of a watch in a thread of its own."""

    def __init__(self, call, *args, **kwargs):
        self.events = []
        threading.Thread(target=self.run, args=(call, args, kwargs), daemon=True).start()

    def run(self, call, args, kwargs):
        for event in watch.Watch().stream(call, *args, **kwargs):
            meta = event["raw_object"]["metadata"]
            self.events.append(f"{event['type']} {meta['name']}")

    def want(self, what, *events):
        """Waits until the events are the given ones; the time only guards against hanging."""
        end = time.monotonic() + 20
        while self.events != list(events) and time.monotonic() < end:
            time.sleep(0.01)
        expect(what, self.events == list(events), self.events)


def config_map(name, tier):
    meta = client.V1ObjectMeta(name=name, labels={"app": "clients", "tier": tier})
    return client.V1ConfigMap(metadata=meta, data={"n": "1"})


def life(core, ns):
    before = core.list_namespaced_config_map(ns, label_selector=OURS)
    expect("the list is empty", before.items == [], before.items)
    seen = Seen(core.list_namespaced_config_map, ns, label_selector=OURS,
                resource_version=before.metadata.resource_version, timeout_seconds=60)

    made = core.create_namespaced_config_map(ns, config_map("one", "none"))
    expect("uid, revision and time are set", made.metadata.uid and made.metadata.resource_version
           and made.metadata.creation_timestamp.year > 2000, made)
    seen.want("ADDED", "ADDED one")
    said = refusal(core.create_namespaced_config_map, ns, config_map("one", "none"))
    expect("a second one is refused", said == "409 AlreadyExists", said)
    said = refusal(core.create_namespaced_config_map, ns, config_map("Not A Name", "none"))
    expect("a bad name is refused", said == "422 Invalid", said)

    got = core.read_namespaced_config_map("one", ns)
    expect("get gives what was created",
           got.metadata.uid == made.metadata.uid and got.data == {"n": "1"}, got)
    got.data["n"] = "2"
    updated = core.replace_namespaced_config_map("one", ns, got)
    expect("the revision changed",
           updated.metadata.resource_version != made.metadata.resource_version)
    seen.want("MODIFIED", "ADDED one", "MODIFIED one")

    made.data["n"] = "3"
    said = refusal(core.replace_namespaced_config_map, "one", ns, made)
    expect("a stale update is a conflict", said == "409 Conflict", said)
    made.metadata.resource_version = updated.metadata.resource_version
    retried = core.replace_namespaced_config_map("one", ns, made)
    expect("the retry with the new revision succeeds", retried.data["n"] == "3", retried)

    dry = core.replace_namespaced_config_map("one", ns, config_map("one", "dry"), dry_run="All")
    expect("a dry run answers", dry.metadata.labels["tier"] == "dry", dry)
    kept = core.read_namespaced_config_map("one", ns)
    expect("and changes nothing", kept.metadata.labels["tier"] == "none", kept)

    gone = core.delete_namespaced_config_map("one", ns)
    expect("delete says so", gone["status"] == "Success", gone)
    seen.want("DELETED", "ADDED one", "MODIFIED one", "MODIFIED one", "DELETED one")
    said = refusal(core.read_namespaced_config_map, "one", ns)
    expect("it is gone", said == "404 NotFound", said)


def pages(core, ns):
    for i in range(25):
        core.create_namespaced_config_map(ns, config_map(f"page-{i:02}", ("even", "odd")[i % 2]))
    sizes, names, token = [], [], None
    while True:
        page = core.list_namespaced_config_map(ns, label_selector=OURS, limit=10, _continue=token)
        sizes.append(len(page.items))
        names += [item.metadata.name for item in page.items]
        token = page.metadata._continue
        if not token:
            break
    expect("three pages", sizes == [10, 10, 5], sizes)
    expect("every name once and in order", names == [f"page-{i:02}" for i in range(25)], names)
    page = core.list_namespaced_config_map(ns, limit=10)
    expect("how many remain", page.metadata.remaining_item_count == 15, page.metadata)

    odd = core.list_namespaced_config_map(ns, label_selector="app=clients,tier in (odd)")
    expect("the odd ones", len(odd.items) == 12, len(odd.items))
    by_name = core.list_namespaced_config_map(ns, field_selector="metadata.name=page-07")
    expect("one by its name", [i.metadata.name for i in by_name.items] == ["page-07"], by_name.items)

    core.delete_collection_namespaced_config_map(ns, label_selector="tier=odd")
    rest = core.list_namespaced_config_map(ns, label_selector=OURS)
    expect("the even ones stay", len(rest.items) == 13, len(rest.items))
    core.delete_collection_namespaced_config_map(ns, label_selector=OURS)


def workloads(api, ns):
    apps = client.AppsV1Api(api)
    labels = {"app": "web"}
    container = client.V1Container(name="web", image="nginx:1.27")
    spec = client.V1DeploymentSpec(
        replicas=2, selector=client.V1LabelSelector(match_labels=labels),
        template=client.V1PodTemplateSpec(metadata=client.V1ObjectMeta(labels=labels),
                                          spec=client.V1PodSpec(containers=[container])))
    made = apps.create_namespaced_deployment(
        ns, client.V1Deployment(metadata=client.V1ObjectMeta(name="web"), spec=spec))
    expect("a deployment of generation 1", made.metadata.generation == 1, made.metadata)
    scale = apps.read_namespaced_deployment_scale("web", ns)
    expect("two replicas", scale.spec.replicas == 2, scale.spec)
    scale.spec.replicas = 5
    apps.replace_namespaced_deployment_scale("web", ns, scale)
    scaled = apps.read_namespaced_deployment("web", ns)
    expect("five replicas, generation 2",
           (scaled.spec.replicas, scaled.metadata.generation) == (5, 2), scaled)
    apps.delete_namespaced_deployment("web", ns)


def untyped(api, ns):
    """The dynamic client, which finds its resources by discovery."""
    secrets = dynamic.DynamicClient(api).resources.get(api_version="v1", kind="Secret")
    body = {"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": {"key": "dmFsdWU="},
            "metadata": {"name": "s", "labels": {"app": "clients"}}}
    secrets.create(body=body, namespace=ns)
    listed = secrets.get(namespace=ns, label_selector=OURS)
    expect("dynamic: list", [i.data.key for i in listed.items] == ["dmFsdWU="], listed)
    events = [e["type"] for e in secrets.watch(namespace=ns, timeout=1)]
    expect("dynamic: watch until its timeout", events == ["ADDED"], events)
    secrets.delete(name="s", namespace=ns)
    expect("dynamic: delete", secrets.get(namespace=ns, label_selector=OURS).items == [])


def main():
    config.load_kube_config()
    api = client.ApiClient()
    core = client.CoreV1Api(api)
    expect("the version", client.VersionApi(api).get_code().major == "1")
    spaces = {item.metadata.name for item in core.list_namespace().items}
    expect("the namespaces of every cluster",
           {"default", "kube-node-lease", "kube-public", "kube-system"} <= spaces, spaces)
    meta = client.V1ObjectMeta(generate_name="clients-python-")
    ns = core.create_namespace(client.V1Namespace(metadata=meta)).metadata.name
    expect("a generated name", len(ns) == len("clients-python-") + 5, ns)
    life(core, ns)
    pages(core, ns)
    workloads(api, ns)
    untyped(api, ns)
    ending = core.delete_namespace(ns)
    expect("the namespace ends", ending["status"] != "Failure", ending)


if __name__ == "__main__":
    main()
    print(f"{passed} checks passed, {failed} failed" if failed else f"{passed} checks passed")
    sys.exit(1 if failed else 0)
