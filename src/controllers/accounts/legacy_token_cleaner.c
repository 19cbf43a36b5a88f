/* legacy-serviceaccount-token-cleaner-controller: tokens in Secrets that were made by the way, when
 * accounts still got some, and that nobody has used for a year. It looks at all of them now and
 * then. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "controllers/accounts/legacy_plan.h"
#include "controllers/common/caches.h"
#include "controllers/common/fields.h"
#include "controllers/common/times.h"
#include "controllers/common/when.h"
#include "controllers/rows.h"
#include "base/banned.h"

#define DAY_MS       INT64_C(86400000)
#define USUAL_MS     (365 * DAY_MS)
#define TOKEN_TYPE   "type=kubernetes.io/service-account-token"
#define ACCOUNT_NOTE "kubernetes.io/service-account.name"
#define PASS_KEY     "tokens"

static const struct spn_target secrets = SPN_AT("", "v1", "secrets", "", "");
static const struct spn_target accounts = SPN_AT("", "v1", "serviceaccounts", "", "");
static const struct spn_target pods = SPN_AT("", "v1", "pods", "", "");
static const struct spn_target tracking = SPN_AT(
    "", "v1", "configmaps", "kube-system", "kube-apiserver-legacy-service-account-token-tracking");

struct cleaner {
    int64_t period_ms;
    struct spn_cache *secrets, *accounts, *pods;
};

/* ---- One Secret ---- */

static bool is_generated(struct cleaner *c, const struct spn_value *secret, struct spn_arena *a)
{
    struct spn_text name = meta_annotation(secret, ACCOUNT_NOTE);
    struct spn_text key = spn_arena_printf(a, SPN_FMT "/" SPN_FMT,
                                           SPN_ARG(meta_text(secret, "namespace")), SPN_ARG(name));
    struct spn_object *account = name.n ? spn_cache_get(c->accounts, key) : NULL;
    bool is = account && legacy_is_generated(secret, spn_object_value(account, a));
    spn_object_unref(account);
    return is;
}

static bool is_in_pods(struct cleaner *c, const struct spn_value *secret, struct spn_arena *a)
{
    struct spn_objects all;
    bool is = false;
    spn_cache_list(c->pods, meta_text(secret, "namespace"), false, &all);
    for (size_t i = 0; i < all.n && !is; i++)
        is = spn_object_has_text(all.items[i], meta_name(secret)) &&
             legacy_is_in_pod(spn_object_value(all.items[i], a), meta_name(secret));
    spn_objects_done(&all);
    return is;
}

static void make_invalid(struct spn_work *w, const struct spn_target *at,
                         const struct spn_value *secret, struct spn_arena *a)
{
    struct spn_err unsaid = { 0 };
    struct spn_value *patch = spn_value_new(a, SPN_OBJECT);
    struct spn_value *meta = spn_value_ensure(a, patch, "metadata");
    spn_value_set_text(a, meta, "uid", meta_uid(secret));
    spn_value_set_text(a, spn_value_ensure(a, meta, "labels"), LEGACY_INVALID_SINCE,
                       legacy_day(a, time_now()));
    (void)spn_client_patch(w->client, at, SPN_MERGE_PATCH, spn_value_json(a, patch), &w->how, a,
                           NULL, &unsaid);
}

/* What fails now is tried again by the next pass. */
static void look_at(struct cleaner *c, struct spn_work *w, const struct spn_value *secret,
                    int64_t limit_ns, struct spn_arena *a)
{
    struct spn_err unsaid = { 0 };
    struct spn_target at = secrets;
    at.ns = meta_text(secret, "namespace");
    at.name = meta_name(secret);
    if (!legacy_is_unused(secret, limit_ns) || !is_generated(c, secret, a) ||
        is_in_pods(c, secret, a))
        return;
    enum legacy_step step = legacy_step(secret, limit_ns);
    if (step == LEGACY_BECOMES_INVALID)
        make_invalid(w, &at, secret, a);
    if (step == LEGACY_GOES)
        (void)spn_client_delete(
            w->client, &at,
            &(struct spn_delete){ .resource_version = meta_text(secret, "resourceVersion") },
            &w->how, a, NULL, &unsaid);
}

/* ---- A pass ---- */

static void look_at_all(struct cleaner *c, struct spn_work *w, int64_t limit_ns)
{
    struct spn_objects all;
    spn_cache_list(c->secrets, SPN_TEXT(""), true, &all);
    struct spn_arena *a = spn_arena_new();
    for (size_t i = 0; i < all.n && !spn_stop_is_set(w->how.stop); i++) {
        look_at(c, w, spn_object_value(all.items[i], a), limit_ns, a);
        spn_arena_reset(a);
    }
    spn_arena_free(a);
    spn_objects_done(&all);
}

static int pass(void *arg, struct spn_work *w, struct spn_err *err)
{
    struct cleaner *c = arg;
    struct spn_value *map;
    int64_t now_ns = time_now(), period_ns = c->period_ms * NS_PER_MS;
    int r = spn_client_get(w->client, &tracking, &w->how, w->arena, &map, err);
    if (r < 0 && r != -SPN_NOT_FOUND)
        return r;
    if (r == 0 && legacy_is_tracked(map, now_ns, period_ns))
        look_at_all(c, w, now_ns - period_ns);
    return spn_again_after(c->period_ms < DAY_MS ? c->period_ms : DAY_MS);
}

static int add(const struct controllers_env *env, void **ret, struct spn_err *err)
{
    (void)err;
    struct cleaner *cleaner = mem_new(struct cleaner);
    cleaner->period_ms = env->opt->legacy_token_ms ? env->opt->legacy_token_ms : USUAL_MS;
    struct spn_controller *c = spn_manager_add(
        env->manager,
        &(struct spn_controller_options){ .name = "legacy-serviceaccount-token-cleaner-controller",
                                          .what = secrets,
                                          .kind = "Secret",
                                          .fields = TOKEN_TYPE,
                                          .when = when_never,
                                          .reconcile = pass,
                                          .arg = cleaner });
    cleaner->secrets = caches_select(env->manager, secrets, TOKEN_TYPE);
    cleaner->accounts = caches_get(env->manager, accounts);
    cleaner->pods = caches_get(env->manager, pods);
    spn_controller_enqueue(c, SPN_TEXT("kube-system"), SPN_TEXT(PASS_KEY));
    *ret = cleaner;
    return 0;
}

const struct controllers_row controllers_legacy_token_cleaner = {
    "legacy-serviceaccount-token-cleaner-controller", add, free
};
