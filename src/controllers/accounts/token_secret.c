/* serviceaccount-token-controller: Secrets of the type kubernetes.io/service-account-token get a
 * token of their account, and go with it. */
#include <stdlib.h>

#include "base/base64.h"
#include "base/mem.h"
#include "client/bridge.h"
#include "controllers/common/caches.h"
#include "controllers/common/fields.h"
#include "controllers/rows.h"
#include "base/banned.h"

#define NAME_NOTE "kubernetes.io/service-account.name"
#define UID_NOTE  "kubernetes.io/service-account.uid"

static const struct spn_target secrets = SPN_AT("", "v1", "secrets", "", "");
static const struct spn_target accounts = SPN_AT("", "v1", "serviceaccounts", "", "");

struct tokens {
    const struct controllers_options *opt;
    struct spn_cache *secrets, *accounts;
};

/* ---- The account of a Secret ---- */

static bool is_meant(const struct spn_value *account, struct spn_text uid)
{
    return account && (!uid.n || spn_text_eq(meta_uid(account), uid));
}

/* `*ret` is NULL if there is none. The cache may be old, so the server is asked before that is
 * said. */
static int find_account(struct tokens *t, struct spn_work *w, const struct spn_value *secret,
                        struct spn_value **ret, struct spn_err *err)
{
    struct spn_target at = accounts;
    struct spn_text uid = meta_annotation(secret, UID_NOTE);
    at.ns = w->ns;
    at.name = meta_annotation(secret, NAME_NOTE);
    struct spn_object *cached =
        spn_cache_get(t->accounts, spn_arena_printf(w->arena, SPN_FMT "/" SPN_FMT, SPN_ARG(at.ns),
                                                    SPN_ARG(at.name)));
    *ret = cached ? spn_value_copy(w->arena, spn_object_value(cached, w->arena)) : NULL;
    spn_object_unref(cached);
    if (is_meant(*ret, uid))
        return 0;
    int r = spn_client_get(w->client, &at, &w->how, w->arena, ret, err);
    if (r < 0 || !is_meant(*ret, uid))
        *ret = NULL;
    return r == -SPN_NOT_FOUND ? 0 : r;
}

static int remove_secret(struct spn_work *w, const struct spn_value *secret, struct spn_err *err)
{
    int r = spn_client_delete(w->client, &w->at, &(struct spn_delete){ .uid = meta_uid(secret) },
                              &w->how, w->arena, NULL, err);
    return r == -SPN_NOT_FOUND || r == -SPN_CONFLICT ? 0 : r;
}

/* ---- The token ---- */

static struct spn_text encoded(struct spn_arena *a, struct spn_text t)
{
    autobuf out = { 0 };
    base64_encode(&out, str_in(t));
    return spn_arena_text(a, text_out(buf_str(&out)));
}

static bool has(const struct spn_value *secret, const char *key)
{
    return spn_value_text(spn_value_dig(secret, "data", key)).n;
}

static bool needs_ca(const struct tokens *t, struct spn_arena *a, const struct spn_value *secret)
{
    return t->opt->root_ca.n &&
           !spn_text_eq(spn_value_text(spn_value_dig(secret, "data", "ca.crt")),
                        encoded(a, t->opt->root_ca));
}

static bool is_complete(const struct tokens *t, struct spn_arena *a, const struct spn_value *secret)
{
    return !needs_ca(t, a, secret) && has(secret, "namespace") && has(secret, "token");
}

static struct spn_value *claims_of(struct spn_arena *a, const struct spn_value *account,
                                   const struct spn_value *secret)
{
    struct spn_value *c = spn_value_new(a, SPN_OBJECT);
    struct spn_text ns = meta_text(secret, "namespace");
    spn_value_set_text(a, c, "iss", SPN_TEXT("kubernetes/serviceaccount"));
    spn_value_set_text(a, c, "kubernetes.io/serviceaccount/namespace", ns);
    spn_value_set_text(a, c, "kubernetes.io/serviceaccount/secret.name", meta_name(secret));
    spn_value_set_text(a, c, "kubernetes.io/serviceaccount/service-account.name",
                       meta_name(account));
    spn_value_set_text(a, c, "kubernetes.io/serviceaccount/service-account.uid", meta_uid(account));
    spn_value_set_text(a, c, "sub",
                       spn_arena_printf(a, "system:serviceaccount:" SPN_FMT ":" SPN_FMT,
                                        SPN_ARG(ns), SPN_ARG(meta_name(account))));
    return c;
}

static int fill(struct tokens *t, struct spn_arena *a, struct spn_value *secret,
                const struct spn_value *account, struct spn_err *err)
{
    struct spn_value *content = spn_value_ensure(a, secret, "data");
    struct spn_text token;
    if (needs_ca(t, a, secret))
        spn_value_set_text(a, content, "ca.crt", encoded(a, t->opt->root_ca));
    if (!has(secret, "namespace"))
        spn_value_set_text(a, content, "namespace", encoded(a, meta_text(secret, "namespace")));
    if (!has(secret, "token")) {
        int r = t->opt->sign(t->opt->sign_arg, a, claims_of(a, account, secret), &token, err);
        if (r < 0)
            return r;
        spn_value_set_text(a, content, "token", encoded(a, token));
    }
    meta_annotate(a, secret, NAME_NOTE, meta_name(account));
    meta_annotate(a, secret, UID_NOTE, meta_uid(account));
    return 0;
}

static int complete(struct tokens *t, struct spn_work *w, const struct spn_value *cached,
                    const struct spn_value *account, struct spn_err *err)
{
    struct spn_value *secret;
    if (is_complete(t, w->arena, cached))
        return spn_done();
    int r = spn_client_get(w->client, &w->at, &w->how, w->arena, &secret, err);
    if (r < 0)
        return r == -SPN_NOT_FOUND ? spn_done() : r;
    if (!spn_text_eq(meta_text(secret, "resourceVersion"), meta_text(cached, "resourceVersion")))
        return spn_done(); /* the newer one is on its way here */
    r = fill(t, w->arena, secret, account, err);
    if (r < 0)
        return r;
    r = spn_client_update(w->client, &w->at, secret, &w->how, w->arena, NULL, err);
    return r == -SPN_NOT_FOUND || r == -SPN_CONFLICT ? spn_done() : r;
}

/* ---- Accounts that name a Secret which is gone ---- */

static bool drop_name(struct spn_arena *a, struct spn_value *account, struct spn_text name)
{
    struct spn_value *all = spn_value_edit(a, account, "secrets");
    bool has_changed = false;
    for (size_t i = spn_value_count(all); i-- > 0;) {
        if (!spn_text_eq(spn_value_text(spn_value_get(spn_value_at(all, i), "name")), name))
            continue;
        spn_value_remove_at(a, all, i);
        has_changed = true;
    }
    return has_changed;
}

static int drop_references(struct tokens *t, struct spn_work *w, struct spn_err *err)
{
    struct spn_objects all;
    int first = 0;
    spn_cache_list(t->accounts, w->ns, false, &all);
    for (size_t i = 0; i < all.n && first == 0; i++) {
        struct spn_value *account = spn_object_value(all.items[i], w->arena);
        struct spn_target at = accounts;
        at.ns = w->ns;
        at.name = spn_object_name(all.items[i]);
        if (drop_name(w->arena, account, w->name))
            first = spn_client_update(w->client, &at, account, &w->how, w->arena, NULL, err);
    }
    spn_objects_done(&all);
    return first == -SPN_CONFLICT ? spn_again() : first == -SPN_NOT_FOUND ? 0 : first;
}

/* ---- One Secret ---- */

static int reconcile(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct tokens *t = arg;
    struct spn_value *secret = spn_work_object(w), *account;
    if (!secret)
        return drop_references(t, w, err);
    if (meta_is_deleting(secret) || !meta_annotation(secret, NAME_NOTE).n)
        return spn_done();
    int r = find_account(t, w, secret, &account, err);
    if (r < 0)
        return r;
    return account ? complete(t, w, secret, account, err) : remove_secret(w, secret, err);
}

/* Only an account that goes takes something with it. */
static bool has_gone(void *arg, const struct spn_object *old_o, const struct spn_object *new_o)
{
    (void)arg;
    return !new_o || (old_o && !spn_text_eq(spn_object_uid(old_o), spn_object_uid(new_o)));
}

static void map_account(void *arg, const struct spn_object *o, struct spn_arena *a,
                        struct spn_keys *out)
{
    struct tokens *t = arg;
    struct spn_objects all;
    spn_cache_list(t->secrets, spn_object_namespace(o), false, &all);
    for (size_t i = 0; i < all.n; i++) {
        const struct spn_value *notes =
            spn_value_get(spn_object_meta(all.items[i], a), "annotations");
        if (spn_text_eq(spn_value_text(spn_value_get(notes, NAME_NOTE)), spn_object_name(o)))
            spn_keys_put(out, spn_object_namespace(o), spn_object_name(all.items[i]));
    }
    spn_objects_done(&all);
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    static const char token_type[] = "type=kubernetes.io/service-account-token";
    (void)err;
    if (!env->opt->sign)
        return 0; /* there is no key */
    struct tokens *t = mem_new(struct tokens);
    t->opt = env->opt;
    struct spn_controller *c = spn_manager_add(
        env->manager, &(struct spn_controller_options){ .name = "serviceaccount-token-controller",
                                                        .what = secrets,
                                                        .kind = "Secret",
                                                        .fields = token_type,
                                                        .when = spn_when_version_changes,
                                                        .reconcile = reconcile,
                                                        .arg = t });
    t->secrets = caches_select(env->manager, secrets, token_type);
    t->accounts = caches_get(env->manager, accounts);
    spn_controller_source(
        c, &(struct spn_source){
               .of.what = accounts, .map = map_account, .map_arg = t, .when = has_gone });
    *ret = t;
    return 0;
}

const struct controllers_row controllers_serviceaccount_token = { "serviceaccount-token-controller",
                                                                  add, free };
