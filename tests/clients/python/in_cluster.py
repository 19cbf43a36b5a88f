"""A program as it runs in a pod: it finds the server and its token as the kubelet would have put them
there. The test plays the kubelet with the rights of KUBECONFIG: it exchanges the token while the
program runs, and at last deletes the pod."""

import datetime
import os
import sys
import tempfile
import urllib.parse

from kubernetes import client, config
from kubernetes.config.incluster_config import InClusterConfigLoader

import main as checks
from main import expect, refusal


class Kubelet:
    """Keeps the folder that a pod finds at /var/run/secrets/kubernetes.io/serviceaccount."""

    def __init__(self, admin, ns, folder):
        self.core = client.CoreV1Api(admin)
        self.rbac = client.RbacAuthorizationV1Api(admin)
        self.ns = ns
        self.folder = folder
        with open(os.path.join(folder, "ca.crt"), "w", encoding="utf-8") as out:
            with open(admin.configuration.ssl_ca_cert, encoding="utf-8") as ca:
                out.write(ca.read())

    def account(self):
        meta = client.V1ObjectMeta(name="robot")
        self.core.create_namespaced_service_account(self.ns, client.V1ServiceAccount(metadata=meta))
        rule = client.V1PolicyRule(api_groups=[""], resources=["configmaps"], verbs=["list"])
        self.rbac.create_namespaced_role(self.ns, client.V1Role(metadata=meta, rules=[rule]))
        role = client.V1RoleRef(api_group="rbac.authorization.k8s.io", kind="Role", name="robot")
        robot = client.RbacV1Subject(kind="ServiceAccount", name="robot", namespace=self.ns)
        self.rbac.create_namespaced_role_binding(
            self.ns, client.V1RoleBinding(metadata=meta, role_ref=role, subjects=[robot]))

    def pod(self):
        spec = client.V1PodSpec(service_account_name="robot",
                                containers=[client.V1Container(name="c", image="i")])
        meta = client.V1ObjectMeta(name="robot-1")
        self.uid = self.core.create_namespaced_pod(
            self.ns, client.V1Pod(metadata=meta, spec=spec)).metadata.uid

    def project(self):
        """Writes a new token that is bound to the pod."""
        bound = client.V1BoundObjectReference(kind="Pod", api_version="v1", name="robot-1", uid=self.uid)
        spec = client.V1TokenRequestSpec(audiences=[], expiration_seconds=600, bound_object_ref=bound)
        made = self.core.create_namespaced_service_account_token(
            "robot", self.ns, client.AuthenticationV1TokenRequest(spec=spec))
        with open(os.path.join(self.folder, "token"), "w", encoding="utf-8") as out:
            out.write(made.status.token)


def in_cluster(admin, folder):
    """The client of the pod, and a function that lets its token seem a minute old."""
    server = urllib.parse.urlparse(admin.configuration.host)
    loader = InClusterConfigLoader(
        token_filename=os.path.join(folder, "token"), cert_filename=os.path.join(folder, "ca.crt"),
        environ={"KUBERNETES_SERVICE_HOST": server.hostname,
                 "KUBERNETES_SERVICE_PORT": str(server.port)})
    configuration = client.Configuration()
    loader.load_and_set(configuration)

    def age():
        loader.token_expires_at = datetime.datetime.now()
    return client.ApiClient(configuration), age


def who(api):
    review = client.AuthenticationV1Api(api).create_self_subject_review(client.V1SelfSubjectReview())
    return review.status.user_info


def credential(user):
    return user.extra["authentication.kubernetes.io/credential-id"]


def life(admin, ns, folder):
    kubelet = Kubelet(admin, ns, folder)
    kubelet.account()
    kubelet.pod()
    kubelet.project()
    api, age = in_cluster(admin, folder)
    core = client.CoreV1Api(api)

    first = who(api)
    expect("it is its account", first.username == f"system:serviceaccount:{ns}:robot", first)
    expect("it is known by its pod",
           first.extra["authentication.kubernetes.io/pod-name"] == ["robot-1"], first)
    listed = core.list_namespaced_config_map(ns).items
    expect("it may what its role says", listed == [], listed)
    said = refusal(core.list_namespaced_secret, ns)
    expect("and nothing else", said == "403 Forbidden", said)

    kubelet.project()
    age()
    second = who(api)
    expect("the exchanged token is taken up", credential(second) != credential(first), second)

    kubelet.core.delete_namespaced_pod("robot-1", ns, grace_period_seconds=0)
    said = refusal(core.list_namespaced_config_map, ns)
    expect("the token ends with the pod", said == "401 Unauthorized", said)


def main():
    config.load_kube_config()
    admin = client.ApiClient()
    core = client.CoreV1Api(admin)
    meta = client.V1ObjectMeta(generate_name="pods-python-")
    ns = core.create_namespace(client.V1Namespace(metadata=meta)).metadata.name
    with tempfile.TemporaryDirectory() as folder:
        life(admin, ns, folder)
    core.delete_namespace(ns)


if __name__ == "__main__":
    main()
    print(f"in a pod: {checks.passed} checks passed, {checks.failed} failed")
    sys.exit(1 if checks.failed else 0)
