package main

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// untyped does the same through the dynamic client, which knows no types.
func untyped(ctx context.Context, client dynamic.Interface, ns string) {
	secrets := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(ns)
	list, err := secrets.List(ctx, ours)
	must("dynamic: list", err)
	expect("dynamic: a list", list.GetKind() == "SecretList" && len(list.Items) == 0, list)

	events := &seen{}
	w, err := secrets.Watch(ctx, meta.ListOptions{LabelSelector: ours.LabelSelector, ResourceVersion: list.GetResourceVersion()})
	must("dynamic: watch", err)
	defer w.Stop()
	go func() {
		for e := range w.ResultChan() {
			events.add(string(e.Type), nameOf(e.Object))
		}
	}()

	made, err := secrets.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
		"metadata": map[string]any{"name": "s", "labels": map[string]any{"app": "clients"}},
		"data":     map[string]any{"key": "dmFsdWU="},
	}}, meta.CreateOptions{})
	must("dynamic: create", err)
	events.want("dynamic: ADDED", "ADDED s")

	changed := made.DeepCopy()
	must("dynamic: set", unstructured.SetNestedField(changed.Object, "bmV3", "data", "key"))
	_, err = secrets.Update(ctx, changed, meta.UpdateOptions{})
	must("dynamic: update", err)
	_, err = secrets.Update(ctx, made, meta.UpdateOptions{})
	expect("dynamic: a stale update is a conflict", apierrors.IsConflict(err), err)
	got, err := secrets.Get(ctx, "s", meta.GetOptions{})
	must("dynamic: get", err)
	value, _, _ := unstructured.NestedString(got.Object, "data", "key")
	expect("dynamic: the new value", value == "bmV3", got.Object)

	must("dynamic: delete", secrets.Delete(ctx, "s", meta.DeleteOptions{}))
	events.want("dynamic: MODIFIED and DELETED", "ADDED s", "MODIFIED s", "DELETED s")
}
