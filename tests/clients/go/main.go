// A program as operators are written: client-go's typed clientset over protobuf, a shared informer
// and the dynamic client, against the server that KUBECONFIG names. It ends with 0 only if every
// expectation holds.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const protobuf = runtime.ContentTypeProtobuf

var ours = meta.ListOptions{LabelSelector: "app=clients"}

func config() *rest.Config {
	cfg, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must("kubeconfig", err)
	cfg.QPS, cfg.Burst = 1000, 1000
	return cfg
}

func makeNamespace(ctx context.Context, cs *kubernetes.Clientset) string {
	made, err := cs.CoreV1().Namespaces().Create(ctx, &core.Namespace{
		ObjectMeta: meta.ObjectMeta{GenerateName: "clients-go-"}}, meta.CreateOptions{})
	must("create a namespace", err)
	expect("a generated name", len(made.Name) > len("clients-go-"), made.Name)
	expect("the namespace is active", made.Status.Phase == core.NamespaceActive, made.Status.Phase)
	return made.Name
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if len(os.Args) > 1 && os.Args[1] == "in-cluster" {
		inCluster(ctx)
		return
	}

	wrap, exchanged := recorder()
	cfg := config()
	cfg.ContentType = protobuf
	cfg.AcceptContentTypes = protobuf + ",application/json"
	cfg.Wrap(wrap)
	cs := kubernetes.NewForConfigOrDie(cfg)

	version, err := cs.Discovery().ServerVersion()
	must("server version", err)
	expect("the version", version.Major == "1", version)
	_, lists, err := cs.Discovery().ServerGroupsAndResources()
	must("discovery", err)
	expect("discovery finds the groups", len(lists) > 10, len(lists))

	ns := makeNamespace(ctx, cs)
	typed(ctx, cs, ns)
	expect("protobuf was sent and answered",
		exchanged("POST", "sent "+protobuf, "got 201 "+protobuf) > 0)
	expect("watches came as protobuf", exchanged("watch=true", "got 200 "+protobuf+";stream=watch") > 0)
	informer(ctx, cs, ns)
	expect("the informer asked for initial events",
		exchanged("sendInitialEvents=true", "got 200") > 0)
	workloads(ctx, cs, ns)

	dyn := config()
	dyn.Wrap(wrap)
	untyped(ctx, dynamic.NewForConfigOrDie(dyn), ns)
	if os.Getenv("KUBE_FEATURE_ClientsPreferCBOR") == "true" {
		expect("CBOR was sent and answered",
			exchanged("POST", "sent application/cbor", "got 201 application/cbor") > 0)
	}

	must("delete the namespace", cs.CoreV1().Namespaces().Delete(ctx, ns, meta.DeleteOptions{}))
	_, err = cs.CoreV1().ConfigMaps(ns).Create(ctx, configMap("late", "even"), meta.CreateOptions{})
	expect("no more objects in it", apierrors.IsForbidden(err) || apierrors.IsNotFound(err), err)
	report()
}

func configMap(name, tier string) *core.ConfigMap {
	return &core.ConfigMap{
		ObjectMeta: meta.ObjectMeta{Name: name, Labels: map[string]string{"app": "clients", "tier": tier}},
		Data:       map[string]string{"n": "1"},
	}
}

func pageName(i int) string { return fmt.Sprintf("page-%02d", i) }

func parity(i int) string { return []string{"even", "odd"}[i%2] }
