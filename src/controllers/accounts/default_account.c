/* serviceaccount-controller: every namespace that is in use has the account "default". */
#include <sampan/meta.h>

#include "controllers/common/refusal.h"
#include "controllers/rows.h"
#include "base/banned.h"

static const struct spn_target namespaces = SPN_AT("", "v1", "namespaces", "", "");
static const struct spn_target accounts = SPN_AT("", "v1", "serviceaccounts", "", "");

static bool is_active(const struct spn_value *ns)
{
    return spn_text_eq(spn_value_text(spn_value_dig(ns, "status", "phase")), SPN_TEXT("Active"));
}

static int create_default(struct spn_work *w, const struct spn_target *at, struct spn_err *err)
{
    struct spn_value *account = spn_value_new(w->arena, SPN_OBJECT);
    spn_value_set_text(w->arena, account, "apiVersion", SPN_TEXT("v1"));
    spn_value_set_text(w->arena, account, "kind", SPN_TEXT("ServiceAccount"));
    struct spn_value *meta = spn_value_ensure(w->arena, account, "metadata");
    spn_value_set_text(w->arena, meta, "name", at->name);
    spn_value_set_text(w->arena, meta, "namespace", at->ns);
    int r = spn_client_create(w->client, at, account, &w->how, w->arena, NULL, err);
    if (r == -SPN_EXISTS || r == -SPN_NOT_FOUND || (r < 0 && refusal_is_terminating(err)))
        return spn_done();
    return r;
}

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    (void)arg;
    struct spn_target at = accounts;
    at.ns = w->name;
    at.name = SPN_TEXT("default");
    if (!is_active(spn_work_object(w)) || spn_work_cached(w, &at))
        return spn_done();
    return create_default(w, &at, err);
}

/* Only one that goes is missed. */
static bool has_gone(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)arg;
    (void)old_o;
    return !new_o;
}

static void map_account(void *arg, const struct spn_object *o, struct spn_arena *a,
                        struct spn_keys *out)
{
    (void)arg;
    (void)a;
    if (spn_text_eq(spn_object_name(o), SPN_TEXT("default")))
        spn_keys_put(out, SPN_TEXT(""), spn_object_namespace(o));
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)ret;
    (void)err;
    struct spn_controller *c = spn_manager_add(
        env->manager, &(struct spn_controller_options){ .name = "serviceaccount-controller",
                                                        .what = namespaces,
                                                        .kind = "Namespace",
                                                        .has_no_namespace = true,
                                                        .when = spn_when_version_changes,
                                                        .reconcile = reconcile });
    spn_controller_source(
        c, &(struct spn_source){ .of.what = accounts, .map = map_account, .when = has_gone });
    return 0;
}

const struct controllers_row controllers_serviceaccount = { "serviceaccount-controller", add,
                                                            NULL };
