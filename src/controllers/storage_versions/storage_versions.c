/* storageversion-garbage-collector-controller: a server that is gone, with its Lease, does not say
 * any more in which versions it writes. Few servers have StorageVersions at all, so nobody follows
 * them: they are looked at when such a Lease goes, and now and then. */
#include "controllers/common/fields.h"
#include "controllers/common/times.h"
#include "controllers/rows.h"
#include "controllers/storage_versions/plan.h"
#include "base/banned.h"

enum { PASS_MS = 600000 };
#define PASS_KEY "storage-versions"
#define IDENTITY "apiserver.kubernetes.io/identity"

static const struct spn_target leases =
    SPN_AT("coordination.k8s.io", "v1", "leases", "kube-system", "");
static const struct spn_target versions =
    SPN_AT("internal.apiserver.k8s.io", "v1alpha1", "storageversions", "", "");

struct pass {
    struct spn_work *work;
    int failed; /* 0, or the first error */
    struct spn_err *err;
};

/* The server is asked: a cache may be old. What it does not know for sure lives on. */
static bool is_live(void *arg, struct spn_text server)
{
    struct pass *p = arg;
    struct spn_target at = leases;
    struct spn_value *lease;
    struct spn_err why = { 0 };
    at.name = server;
    int r = spn_client_get(p->work->client, &at, &p->work->how, p->work->arena, &lease, &why);
    if (r == 0)
        return spn_text_eq(spn_value_text(spn_value_dig(lease, "metadata", "labels", IDENTITY)),
                           SPN_TEXT("kube-apiserver"));
    if (r == -SPN_NOT_FOUND)
        return false;
    if (!p->failed) {
        p->failed = r;
        *p->err = why;
    }
    return true;
}

static int trim(struct pass *p, struct spn_value *version, struct spn_err *err)
{
    struct spn_work *w = p->work;
    struct spn_target at = versions;
    int r = 0;
    at.name = meta_name(version);
    spn_value_set_text(w->arena, version, "apiVersion",
                       SPN_TEXT("internal.apiserver.k8s.io/v1alpha1"));
    spn_value_set_text(w->arena, version, "kind", SPN_TEXT("StorageVersion"));
    switch (storage_versions_trim(w->arena, version, is_live, p, time_now())) {
    case STORAGE_VERSIONS_FEWER:
        at.sub = SPN_TEXT("status");
        r = spn_client_update(w->client, &at, version, &w->how, w->arena, NULL, err);
        break;
    case STORAGE_VERSIONS_NONE:
        r = spn_client_delete(w->client, &at, &(struct spn_delete){ .uid = meta_uid(version) },
                              &w->how, w->arena, NULL, err);
        break;
    case STORAGE_VERSIONS_SAME:
        break;
    }
    return r == -SPN_NOT_FOUND ? 0 : r;
}

/* What fails now does not keep others from being looked at. */
static int trim_all(struct spn_work *w, struct spn_err *err)
{
    struct pass p = { .work = w, .err = err };
    struct spn_value *list;
    int r = spn_client_list(w->client, &versions, NULL, &w->how, w->arena, &list, err);
    if (r < 0)
        return r == -SPN_NOT_FOUND ? 0 : r;
    struct spn_value *items = spn_value_edit(w->arena, list, "items");
    for (size_t i = 0; i < spn_value_count(items); i++) {
        struct spn_err why = { 0 };
        r = trim(&p, spn_value_edit_at(w->arena, items, i), &why);
        if (r < 0 && !p.failed) {
            p.failed = r;
            *err = why;
        }
    }
    return p.failed;
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    const bool is_pass = spn_text_eq(w->name, SPN_TEXT(PASS_KEY));
    (void)arg;
    if (!is_pass && spn_work_object(w))
        return spn_done();
    int r = trim_all(w, err);
    if (r < 0)
        return r;
    return is_pass ? spn_again_after(PASS_MS) : spn_done();
}

static bool when_gone(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)arg;
    return old_o && !new_o;
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)ret;
    (void)err;
    struct spn_controller *c = spn_manager_add(
        env->manager,
        &(struct spn_controller_options){ .name = "storageversion-garbage-collector-controller",
                                          .what = leases,
                                          .kind = "Lease",
                                          .labels = IDENTITY "=kube-apiserver",
                                          .when = when_gone,
                                          .reconcile = reconcile });
    spn_controller_enqueue(c, leases.ns, SPN_TEXT(PASS_KEY));
    return 0;
}

const struct controllers_row controllers_storage_versions = {
    "storageversion-garbage-collector-controller", add, NULL
};
