package main

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"time"

	authentication "k8s.io/api/authentication/v1"
	core "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

// mounted is where rest.InClusterConfig looks.
const mounted = "/var/run/secrets/kubernetes.io/serviceaccount"

// kubelet keeps the folder of a pod, with the rights of KUBECONFIG.
type kubelet struct {
	cs *kubernetes.Clientset
	ns string
}

func (k kubelet) write(name string, content []byte) {
	must("write "+name, os.WriteFile(filepath.Join(mounted, name), content, 0o600))
}

func (k kubelet) account(ctx context.Context) {
	robot := meta.ObjectMeta{Name: "robot"}
	_, err := k.cs.CoreV1().ServiceAccounts(k.ns).Create(ctx, &core.ServiceAccount{ObjectMeta: robot}, meta.CreateOptions{})
	must("create the account", err)
	_, err = k.cs.RbacV1().Roles(k.ns).Create(ctx, &rbac.Role{ObjectMeta: robot,
		Rules: []rbac.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}}},
	}, meta.CreateOptions{})
	must("create the role", err)
	_, err = k.cs.RbacV1().RoleBindings(k.ns).Create(ctx, &rbac.RoleBinding{ObjectMeta: robot,
		RoleRef:  rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "Role", Name: "robot"},
		Subjects: []rbac.Subject{{Kind: "ServiceAccount", Name: "robot", Namespace: k.ns}},
	}, meta.CreateOptions{})
	must("bind the role", err)
}

// project makes a pod and writes a token that is bound to it.
func (k kubelet) project(ctx context.Context, name string) {
	pod, err := k.cs.CoreV1().Pods(k.ns).Create(ctx, &core.Pod{ObjectMeta: meta.ObjectMeta{Name: name},
		Spec: core.PodSpec{ServiceAccountName: "robot", Containers: []core.Container{{Name: "c", Image: "i"}}},
	}, meta.CreateOptions{})
	must("create a pod", err)
	made, err := k.cs.CoreV1().ServiceAccounts(k.ns).CreateToken(ctx, "robot", &authentication.TokenRequest{
		Spec: authentication.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](600),
			BoundObjectRef: &authentication.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: name, UID: pod.UID}},
	}, meta.CreateOptions{})
	must("create a token", err)
	k.write("token", []byte(made.Status.Token))
}

func (k kubelet) remove(ctx context.Context, name string) {
	now := meta.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}
	must("delete a pod", k.cs.CoreV1().Pods(k.ns).Delete(ctx, name, now))
}

func podOf(ctx context.Context, cs *kubernetes.Clientset) (string, string) {
	review, err := cs.AuthenticationV1().SelfSubjectReviews().Create(ctx,
		&authentication.SelfSubjectReview{}, meta.CreateOptions{})
	must("ask who it is", err)
	user := review.Status.UserInfo
	pods := user.Extra["authentication.kubernetes.io/pod-name"]
	if len(pods) != 1 {
		return user.Username, ""
	}
	return user.Username, pods[0]
}

func inClusterClient(admin *rest.Config) *kubernetes.Clientset {
	server, err := url.Parse(admin.Host)
	must("the server's address", err)
	os.Setenv("KUBERNETES_SERVICE_HOST", server.Hostname())
	os.Setenv("KUBERNETES_SERVICE_PORT", server.Port())
	cfg, err := rest.InClusterConfig()
	must("the config in a cluster", err)
	return kubernetes.NewForConfigOrDie(cfg)
}

// inCluster plays a pod, and the kubelet that exchanges its token while it runs. client-go reads the
// file again after 50 s.
func inCluster(ctx context.Context) {
	admin := config()
	cs := kubernetes.NewForConfigOrDie(admin)
	k := kubelet{cs: cs, ns: makeNamespace(ctx, cs)}
	k.write("ca.crt", admin.CAData)
	k.account(ctx)
	k.project(ctx, "first")
	pod := inClusterClient(admin)

	user, name := podOf(ctx, pod)
	expect("it is its account", user == "system:serviceaccount:"+k.ns+":robot", user)
	expect("it is known by its pod", name == "first", name)
	_, err := pod.CoreV1().ConfigMaps(k.ns).List(ctx, meta.ListOptions{})
	must("do what its role says", err)
	_, err = pod.CoreV1().Secrets(k.ns).List(ctx, meta.ListOptions{})
	expect("and nothing else", apierrors.IsForbidden(err), err)

	k.project(ctx, "second")
	for name == "first" {
		time.Sleep(time.Second)
		_, name = podOf(ctx, pod)
	}
	expect("the exchanged token is taken up", name == "second", name)
	k.remove(ctx, "first")
	_, err = pod.CoreV1().ConfigMaps(k.ns).List(ctx, meta.ListOptions{})
	must("outlive the pod of the old token", err)
	k.remove(ctx, "second")
	_, err = pod.CoreV1().ConfigMaps(k.ns).List(ctx, meta.ListOptions{})
	expect("the token ends with its pod", apierrors.IsUnauthorized(err), err)
	must("delete the namespace", cs.CoreV1().Namespaces().Delete(ctx, k.ns, meta.DeleteOptions{}))
	report()
}
