package main

import (
	"context"
	"strings"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
)

func typed(ctx context.Context, cs *kubernetes.Clientset, ns string) {
	maps := cs.CoreV1().ConfigMaps(ns)
	list, err := maps.List(ctx, ours)
	must("list", err)
	expect("the list is empty", len(list.Items) == 0, list.Items)
	expect("the list has a revision", list.ResourceVersion != "")

	events := &seen{}
	w, err := maps.Watch(ctx, meta.ListOptions{LabelSelector: ours.LabelSelector, ResourceVersion: list.ResourceVersion})
	must("watch", err)
	defer w.Stop()
	go func() {
		for e := range w.ResultChan() {
			events.add(string(e.Type), nameOf(e.Object))
		}
	}()

	made, err := maps.Create(ctx, configMap("one", "none"), meta.CreateOptions{})
	must("create", err)
	expect("uid, revision and time are set",
		made.UID != "" && made.ResourceVersion != "" && !made.CreationTimestamp.IsZero(), made)
	events.want("ADDED", "ADDED one")
	_, err = maps.Create(ctx, configMap("one", "none"), meta.CreateOptions{})
	expect("a second one is refused", apierrors.IsAlreadyExists(err), err)
	_, err = maps.Create(ctx, configMap("Not A Name", "none"), meta.CreateOptions{})
	expect("a bad name is refused", apierrors.IsInvalid(err), err)

	got, err := maps.Get(ctx, "one", meta.GetOptions{})
	must("get", err)
	expect("get gives what was created", got.UID == made.UID && got.Data["n"] == "1", got)

	got.Data["n"] = "2"
	updated, err := maps.Update(ctx, got, meta.UpdateOptions{})
	must("update", err)
	expect("the revision changed", updated.ResourceVersion != made.ResourceVersion)
	events.want("MODIFIED", "ADDED one", "MODIFIED one")

	made.Data["n"] = "stale"
	_, err = maps.Update(ctx, made, meta.UpdateOptions{})
	expect("a stale update is a conflict", apierrors.IsConflict(err), err)
	tries := 0
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		object := made
		if tries++; tries > 1 {
			if object, err = maps.Get(ctx, "one", meta.GetOptions{}); err != nil {
				return err
			}
		}
		object.Data["n"] = "3"
		_, err := maps.Update(ctx, object, meta.UpdateOptions{})
		return err
	})
	must("retry on conflict", err)
	expect("the second try succeeded", tries == 2, tries)
	events.want("MODIFIED again", "ADDED one", "MODIFIED one", "MODIFIED one")

	must("delete", maps.Delete(ctx, "one", meta.DeleteOptions{Preconditions: meta.NewUIDPreconditions(string(made.UID))}))
	events.want("DELETED", "ADDED one", "MODIFIED one", "MODIFIED one", "DELETED one")
	_, err = maps.Get(ctx, "one", meta.GetOptions{})
	expect("it is gone", apierrors.IsNotFound(err), err)
	pages(ctx, cs, ns)
}

func pages(ctx context.Context, cs *kubernetes.Clientset, ns string) {
	maps := cs.CoreV1().ConfigMaps(ns)
	for i := range 25 {
		_, err := maps.Create(ctx, configMap(pageName(i), parity(i)), meta.CreateOptions{})
		must("create "+pageName(i), err)
	}
	var sizes []int
	var names []string
	for token := ""; ; {
		page, err := maps.List(ctx, meta.ListOptions{LabelSelector: ours.LabelSelector, Limit: 10, Continue: token})
		must("a page", err)
		sizes = append(sizes, len(page.Items))
		for i := range page.Items {
			names = append(names, page.Items[i].Name)
		}
		if token = page.Continue; token == "" {
			break
		}
	}
	expect("three pages", len(sizes) == 3 && sizes[0] == 10 && sizes[1] == 10 && sizes[2] == 5, sizes)
	expect("every name once and in order",
		len(names) == 25 && names[0] == pageName(0) && names[24] == pageName(24), names)

	odd, err := maps.List(ctx, meta.ListOptions{LabelSelector: "app=clients,tier in (odd)"})
	must("list by label", err)
	expect("the odd ones", len(odd.Items) == 12, len(odd.Items))
	byName, err := maps.List(ctx, meta.ListOptions{FieldSelector: "metadata.name=" + pageName(7)})
	must("list by field", err)
	expect("one by its name", len(byName.Items) == 1 && byName.Items[0].Name == pageName(7), byName.Items)
	_, err = maps.List(ctx, meta.ListOptions{FieldSelector: "data.n=1"})
	expect("a field that cannot be selected by", apierrors.IsBadRequest(err), err)

	must("delete a collection", maps.DeleteCollection(ctx, meta.DeleteOptions{},
		meta.ListOptions{LabelSelector: "tier=odd"}))
	rest, err := maps.List(ctx, ours)
	must("list the rest", err)
	expect("the even ones stay", len(rest.Items) == 13, len(rest.Items))
	must("delete all", maps.DeleteCollection(ctx, meta.DeleteOptions{}, ours))
}

func informer(ctx context.Context, cs *kubernetes.Clientset, ns string) {
	maps := cs.CoreV1().ConfigMaps(ns)
	_, err := maps.Create(ctx, configMap("before", "none"), meta.CreateOptions{})
	must("create before the informer", err)

	factory := informers.NewSharedInformerFactoryWithOptions(cs, 0, informers.WithNamespace(ns),
		informers.WithTweakListOptions(func(o *meta.ListOptions) { o.LabelSelector = ours.LabelSelector }))
	shared := factory.Core().V1().ConfigMaps()
	events := &seen{}
	name := func(object any) string {
		key, _ := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
		return strings.TrimPrefix(key, ns+"/")
	}
	_, err = shared.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { events.add("add", name(object)) },
		UpdateFunc: func(_, object any) { events.add("update", name(object)) },
		DeleteFunc: func(object any) { events.add("delete", name(object)) },
	})
	must("informer", err)
	factory.Start(ctx.Done())
	expect("the informer's cache syncs", cache.WaitForCacheSync(ctx.Done(), shared.Informer().HasSynced))
	events.want("what was there before", "add before")

	made, err := maps.Create(ctx, configMap("after", "none"), meta.CreateOptions{})
	must("create", err)
	events.want("a new object", "add before", "add after")
	delete(made.Labels, "app")
	_, err = maps.Update(ctx, made, meta.UpdateOptions{})
	must("take the label away", err)
	events.want("it left the selection", "add before", "add after", "delete after")
	must("delete", maps.Delete(ctx, "before", meta.DeleteOptions{}))
	events.want("a deletion", "add before", "add after", "delete after", "delete before")
	left, err := shared.Lister().ConfigMaps(ns).Get("before")
	expect("the lister is empty", apierrors.IsNotFound(err), left)
}

// workloads sends kinds with more to encode: a Deployment with its status and scale, and a Pod.
func workloads(ctx context.Context, cs *kubernetes.Clientset, ns string) {
	labels := map[string]string{"app": "web"}
	pod := core.PodSpec{Containers: []core.Container{{Name: "web", Image: "nginx:1.27",
		Ports: []core.ContainerPort{{ContainerPort: 80}}}}}
	deployments := cs.AppsV1().Deployments(ns)
	made, err := deployments.Create(ctx, &apps.Deployment{
		ObjectMeta: meta.ObjectMeta{Name: "web"},
		Spec: apps.DeploymentSpec{Replicas: ptr.To[int32](2), Selector: &meta.LabelSelector{MatchLabels: labels},
			Template: core.PodTemplateSpec{ObjectMeta: meta.ObjectMeta{Labels: labels}, Spec: pod}},
	}, meta.CreateOptions{})
	must("create a deployment", err)
	expect("generation 1", made.Generation == 1, made.Generation)

	scale, err := deployments.GetScale(ctx, "web", meta.GetOptions{})
	must("get its scale", err)
	expect("two replicas", scale.Spec.Replicas == 2, scale.Spec.Replicas)
	scale.Spec.Replicas = 5
	_, err = deployments.UpdateScale(ctx, "web", scale, meta.UpdateOptions{})
	must("update its scale", err)
	scaled, err := deployments.Get(ctx, "web", meta.GetOptions{})
	must("get it", err)
	expect("five replicas, generation 2", *scaled.Spec.Replicas == 5 && scaled.Generation == 2, scaled)

	scaled.Status.Replicas = 5
	scaled.Spec.Replicas = ptr.To[int32](9)
	status, err := deployments.UpdateStatus(ctx, scaled, meta.UpdateOptions{})
	must("update its status", err)
	expect("only the status changed", status.Status.Replicas == 5 && *status.Spec.Replicas == 5 &&
		status.Generation == 2, status)

	_, err = cs.CoreV1().Pods(ns).Create(ctx, &core.Pod{ObjectMeta: meta.ObjectMeta{Name: "web", Labels: labels},
		Spec: pod}, meta.CreateOptions{})
	must("create a pod", err)
	pods, err := cs.CoreV1().Pods(ns).List(ctx, meta.ListOptions{FieldSelector: "status.phase=Pending,spec.nodeName="})
	must("list pods by fields", err)
	expect("the pod is pending on no node", len(pods.Items) == 1, len(pods.Items))
	must("delete the pod", cs.CoreV1().Pods(ns).Delete(ctx, "web", meta.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}))
	must("delete the deployment", deployments.Delete(ctx, "web", meta.DeleteOptions{}))
}
