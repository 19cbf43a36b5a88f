/* root-ca-certificate-publisher-controller: every namespace has the ConfigMap kube-root-ca.crt,
 * with the certificate by which pods know the API server. */
#include <sampan/meta.h>

#include "controllers/common/refusal.h"
#include "controllers/rows.h"
#include "base/banned.h"

#define MAP_NAME   "kube-root-ca.crt"
#define ANNOTATION "kubernetes.io/description"
static const char description[] =
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal "
    "endpoints such as the internal service IP or kubernetes.default.svc. No other usage is "
    "guaranteed across distributions of Kubernetes clusters.";

static const struct spn_target namespaces = SPN_AT("", "v1", "namespaces", "", "");
static const struct spn_target maps = SPN_AT("", "v1", "configmaps", "", "");

static bool is_right(const struct spn_value *map, struct spn_text root_ca)
{
    const struct spn_value *now = spn_value_get(map, "data");
    return spn_value_count(now) == 1 &&
           spn_text_eq(spn_value_text(spn_value_get(now, "ca.crt")), root_ca) &&
           spn_value_text(spn_value_dig(map, "metadata", "annotations", ANNOTATION)).n;
}

static void set_content(struct spn_arena *a, struct spn_value *map, struct spn_text root_ca)
{
    struct spn_value *meta = spn_value_ensure(a, map, "metadata");
    spn_value_set_text(a, spn_value_ensure(a, meta, "annotations"), ANNOTATION,
                       spn_text_of(description));
    spn_value_remove(a, map, "data");
    spn_value_set_text(a, spn_value_ensure(a, map, "data"), "ca.crt", root_ca);
}

static int create(struct spn_work *w, const struct spn_target *at, struct spn_text root_ca,
                  struct spn_err *err)
{
    struct spn_value *map = spn_value_new(w->arena, SPN_OBJECT);
    spn_value_set_text(w->arena, map, "apiVersion", SPN_TEXT("v1"));
    spn_value_set_text(w->arena, map, "kind", SPN_TEXT("ConfigMap"));
    struct spn_value *meta = spn_value_ensure(w->arena, map, "metadata");
    spn_value_set_text(w->arena, meta, "name", at->name);
    spn_value_set_text(w->arena, meta, "namespace", at->ns);
    set_content(w->arena, map, root_ca);
    int r = spn_client_create(w->client, at, map, &w->how, w->arena, NULL, err);
    if (r == -SPN_EXISTS || r == -SPN_NOT_FOUND || (r < 0 && refusal_is_terminating(err)))
        return spn_done();
    return r;
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    const struct controllers_options *opt = arg;
    struct spn_target at = maps;
    at.ns = w->name;
    at.name = SPN_TEXT(MAP_NAME);
    if (!spn_work_object(w))
        return spn_done();
    const struct spn_object *now = spn_work_cached(w, &at);
    if (!now)
        return create(w, &at, opt->root_ca, err);
    struct spn_value *map = spn_object_value(now, w->arena);
    if (is_right(map, opt->root_ca))
        return spn_done();
    set_content(w->arena, map, opt->root_ca);
    int r = spn_client_update(w->client, &at, map, &w->how, w->arena, NULL, err);
    return r == -SPN_NOT_FOUND ? spn_again() : r;
}

/* A namespace that goes needs nothing any more. */
static bool is_in_use(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)arg;
    (void)old_o;
    return new_o && !spn_object_is_deleting(new_o);
}

static void map_to_namespace(void *arg, const struct spn_object *o, struct spn_arena *a,
                             struct spn_keys *out)
{
    (void)arg;
    (void)a;
    spn_keys_put(out, SPN_TEXT(""), spn_object_namespace(o));
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)ret;
    (void)err;
    if (!env->opt->root_ca.n)
        return 0; /* there is nothing to publish */
    struct spn_controller *c = spn_manager_add(
        env->manager,
        &(struct spn_controller_options){ .name = "root-ca-certificate-publisher-controller",
                                          .what = namespaces,
                                          .kind = "Namespace",
                                          .has_no_namespace = true,
                                          .when = is_in_use,
                                          .reconcile = reconcile,
                                          .arg = (void *)(uintptr_t)env->opt });
    spn_controller_source(
        c, &(struct spn_source){ .of = { .what = maps, .fields = "metadata.name=" MAP_NAME },
                                 .map = map_to_namespace,
                                 .when = spn_when_version_changes });
    return 0;
}

const struct controllers_row controllers_root_ca = { "root-ca-certificate-publisher-controller",
                                                     add, NULL };
