// An operator's test suite on controller-runtime's envtest, as kubebuilder makes them: it starts the programs that
// KUBEBUILDER_ASSETS names, installs a definition, runs a manager with a reconciler, and speaks as several users.
package envtest

import (
	"context"
	"io"
	"os"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

var pot = schema.GroupVersionKind{Group: "tea.example.com", Version: "v1", Kind: "Pot"}

func newPot(name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(pot)
	o.SetNamespace("default")
	o.SetName(name)
	return o
}

func definition() *apiextensions.CustomResourceDefinition {
	keep := true
	return &apiextensions.CustomResourceDefinition{
		ObjectMeta: meta.ObjectMeta{Name: "pots.tea.example.com"},
		Spec: apiextensions.CustomResourceDefinitionSpec{
			Group: pot.Group,
			Scope: apiextensions.NamespaceScoped,
			Names: apiextensions.CustomResourceDefinitionNames{Kind: "Pot", ListKind: "PotList", Plural: "pots", Singular: "pot"},
			Versions: []apiextensions.CustomResourceDefinitionVersion{{Name: pot.Version, Served: true, Storage: true,
				Subresources: &apiextensions.CustomResourceSubresources{Status: &apiextensions.CustomResourceSubresourceStatus{}},
				Schema: &apiextensions.CustomResourceValidation{OpenAPIV3Schema: &apiextensions.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &keep}}}},
		},
	}
}

// A pot has a ConfigMap of its name, which goes with it, and says when that is there.
type reconciler struct{ client.Client }

func (r reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	p := newPot(req.Name)
	if err := r.Get(ctx, req.NamespacedName, p); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	cm := &core.ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: req.Namespace, Name: req.Name}}
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, cm, func() error {
		cm.Data = map[string]string{"of": string(p.GetUID())}
		return controllerutil.SetControllerReference(p, cm, r.Scheme())
	}); err != nil {
		return reconcile.Result{}, err
	}
	before := client.MergeFrom(p.DeepCopy())
	if err := unstructured.SetNestedField(p.Object, "brewed", "status", "phase"); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, r.Status().Patch(ctx, p, before)
}

// Waits for a condition; the time only guards against hanging.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func start(t *testing.T) (*envtest.Environment, client.Client) {
	t.Helper()
	env := &envtest.Environment{CRDs: []*apiextensions.CustomResourceDefinition{definition()}}
	cfg, err := env.Start()
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	t.Cleanup(func() {
		if err := env.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{Scheme: scheme.Scheme, Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	again := true // this suite starts several managers in one process
	if err := ctrl.NewControllerManagedBy(mgr).For(newPot("")).Owns(&core.ConfigMap{}).
		WithOptions(controller.Options{SkipNameValidation: &again}).Complete(reconciler{mgr.GetClient()}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	c, err := client.New(cfg, client.Options{Scheme: scheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	return env, c
}

func TestReconciler(t *testing.T) {
	ctx := context.Background()
	_, c := start(t)
	p := newPot("assam")
	if err := c.Create(ctx, p); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a pot that is brewed", func() bool {
		phase := ""
		if c.Get(ctx, client.ObjectKeyFromObject(p), p) == nil {
			phase, _, _ = unstructured.NestedString(p.Object, "status", "phase")
		}
		return phase == "brewed"
	})
	cm := &core.ConfigMap{}
	if err := c.Get(ctx, client.ObjectKeyFromObject(p), cm); err != nil || cm.Data["of"] != string(p.GetUID()) {
		t.Fatalf("its ConfigMap: %v, %v", cm.Data, err)
	}
	if err := c.Delete(ctx, cm); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the ConfigMap again", func() bool { return c.Get(ctx, client.ObjectKeyFromObject(p), cm) == nil })
}

func TestUsers(t *testing.T) {
	ctx := context.Background()
	env, admin := start(t)
	user, err := env.AddUser(envtest.User{Name: "guest", Groups: []string{"drinkers"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	guest, err := client.New(user.Config(), client.Options{Scheme: scheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	list := &core.ConfigMapList{}
	if err := guest.List(ctx, list, client.InNamespace("default")); !apierrors.IsForbidden(err) {
		t.Fatalf("a guest lists: %v", err)
	}
	if err := admin.Create(ctx, &rbac.RoleBinding{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "drinkers"},
		RoleRef:  rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects: []rbac.Subject{{APIGroup: rbac.GroupName, Kind: "Group", Name: "drinkers"}}}); err != nil {
		t.Fatal(err)
	}
	if err := guest.List(ctx, list, client.InNamespace("default")); err != nil {
		t.Fatalf("with a role: %v", err)
	}
	kubectl, err := user.Kubectl()
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := kubectl.Run("auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")
	if err != nil {
		t.Fatalf("kubectl: %v", err)
	}
	if name, _ := io.ReadAll(out); string(name) != "guest" {
		t.Fatalf("kubectl is %q", name)
	}
}

// Without controllers nothing is collected, as with upstream's programs; with SAMPAN_CONTROLLERS=1 it is.
func TestControllers(t *testing.T) {
	ctx := context.Background()
	t.Setenv("SAMPAN_CONTROLLERS", "1")
	_, c := start(t)
	p := newPot("collected")
	if err := c.Create(ctx, p); err != nil {
		t.Fatal(err)
	}
	cm := &core.ConfigMap{}
	eventually(t, "its ConfigMap", func() bool { return c.Get(ctx, client.ObjectKeyFromObject(p), cm) == nil })
	if err := c.Delete(ctx, p); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the ConfigMap to go", func() bool {
		return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(p), cm))
	})
	ns := &core.Namespace{ObjectMeta: meta.ObjectMeta{Name: "gone"}}
	if err := c.Create(ctx, ns); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(ctx, ns); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the namespace to go", func() bool {
		return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(ns), ns))
	})
}

func TestMain(m *testing.M) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		panic("KUBEBUILDER_ASSETS names no folder")
	}
	os.Exit(m.Run())
}
