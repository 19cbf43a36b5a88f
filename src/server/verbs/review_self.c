/* POST of SelfSubjectReview (who am I?) and SelfSubjectRulesReview (what may I do in a namespace?).
 */
#include "base/buf.h"
#include "base/clock.h"
#include "server/guard/guard.h"
#include "server/verbs/review.h"
#include "server/verbs/verbs.h"
#include "base/banned.h"

/* ---- Who ---- */

static struct value list_of(struct arena *a, const struct str *texts, size_t n)
{
    struct value list = value_array();
    for (size_t i = 0; i < n; i++)
        value_put_item(a, &list, value_string(texts[i]));
    return list;
}

struct value review_user(struct arena *a, const struct user *user)
{
    struct value info = value_object(), extra = value_object();
    if (user->name.n)
        value_put(a, &info, STR("username"), value_string(user->name));
    if (user->uid.n)
        value_put(a, &info, STR("uid"), value_string(user->uid));
    if (user->n_groups)
        value_put(a, &info, STR("groups"), list_of(a, user->groups, user->n_groups));
    for (size_t i = 0; i < user->n_extra; i++)
        value_put(a, &extra, user->extra[i].key,
                  list_of(a, user->extra[i].values, user->extra[i].n_values));
    if (user->n_extra)
        value_put(a, &info, STR("extra"), extra);
    return info;
}

void verb_self_review(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    struct value obj, meta = value_object(), status = value_object();
    if (review_decode(c, false, &obj, &err) < 0 || review_check(c, &obj, &err) < 0) {
        call_fail(c, &err);
        return;
    }
    char *now = arena_alloc(c->arena, CLOCK_TEXT_BYTES, 1);
    value_put(c->arena, &meta, STR("creationTimestamp"),
              value_string(clock_format(clock_wall_ns(c->api->clock), false, now)));
    value_put(c->arena, &status, STR("userInfo"), review_user(c->arena, c->user));
    value_put(c->arena, &obj, STR("metadata"), meta);
    value_put(c->arena, &obj, STR("status"), status);
    call_object(c, 201, c->req.resource->type, &obj);
}

/* ---- What ---- */

/* Of authorizers; see guard_gaps(). */
struct gaps {
    struct str at[GUARD_CHAIN_MAX];
    size_t n;
};

static bool gaps_are_open(const struct gaps *gaps)
{
    for (size_t i = 0; i < gaps->n; i++)
        if (gaps->at[i].n)
            return true;
    return false;
}

/* Whether roles decide at all. */
static bool gaps_have_roles(const struct gaps *gaps)
{
    for (size_t i = 0; i < gaps->n; i++)
        if (!gaps->at[i].n)
            return true;
    return false;
}

struct rules_review {
    struct call *call;
    struct gaps gaps;
    struct str ns;
    struct value status;
};

static void put_words(struct arena *a, struct value *obj, const char *field,
                      struct rbac_words words)
{
    struct value list = value_array();
    for (size_t i = 0; i < words.n; i++)
        value_put_item(a, &list, value_string(arena_str(a, words.items[i])));
    if (words.n)
        value_put(a, obj, str_of(field), list);
}

static struct value resource_rule(struct arena *a, const struct rbac_rule *rule)
{
    struct value obj = value_object();
    put_words(a, &obj, "verbs", rule->verbs);
    put_words(a, &obj, "apiGroups", rule->groups);
    put_words(a, &obj, "resources", rule->resources);
    put_words(a, &obj, "resourceNames", rule->names);
    return obj;
}

static struct value url_rule(struct arena *a, const struct rbac_rule *rule)
{
    struct value obj = value_object();
    put_words(a, &obj, "verbs", rule->verbs);
    put_words(a, &obj, "nonResourceURLs", rule->urls);
    return obj;
}

/* What keeps the list from being complete, each once, as upstream joins it. */
struct faults {
    struct buf text;
    size_t n;
};

static void add_fault(struct faults *f, struct str text)
{
    if (f->n && memmem(f->text.p, f->text.n, text.p, text.n))
        return;
    buf_printf(&f->text, "%s" STR_FMT, f->n++ ? ", " : "", STR_ARG(text));
}

/* Empty: nothing. */
static struct str faults_of(struct arena *a, const struct rbac_holding *held,
                            const struct gaps *gaps)
{
    struct faults f = { 0 };
    for (size_t i = 0; i < gaps->n; i++) {
        if (gaps->at[i].n)
            add_fault(&f, gaps->at[i]);
        for (size_t k = 0; !gaps->at[i].n && k < held->n_missing; k++)
            add_fault(&f, held->missing[k]);
    }
    struct str text = buf_str(&f.text);
    struct str ret = f.n > 1 ? arena_printf(a, "[" STR_FMT "]", STR_ARG(text)) : arena_str(a, text);
    buf_done(&f.text);
    return ret;
}

/* Where nobody is asked. */
static const struct str star[] = { STR("*") };
static const struct rbac_rule everything = {
    .verbs = { star, 1 }, .groups = { star, 1 }, .resources = { star, 1 }, .urls = { star, 1 }
};

static void put_rule(struct arena *a, const struct rbac_rule *rule, struct value *resources,
                     struct value *urls)
{
    if (rule->resources.n)
        value_put_item(a, resources, resource_rule(a, rule));
    if (rule->urls.n)
        value_put_item(a, urls, url_rule(a, rule));
}

static int collect_rules(const struct rbac *rbac, void *arg)
{
    struct rules_review *review = arg;
    struct arena *a = review->call->arena;
    const struct user *user = review->call->user;
    struct value resources = value_array(), urls = value_array();
    struct rbac_holding held = { 0 };
    if (!rbac)
        put_rule(a, &everything, &resources, &urls);
    else if (gaps_have_roles(&review->gaps))
        rbac_holding_of(rbac, a, user, review->ns, &held);
    for (size_t i = 0; i < held.n_rules; i++)
        put_rule(a, held.rules[i], &resources, &urls);
    value_put(a, &review->status, STR("resourceRules"), resources);
    value_put(a, &review->status, STR("nonResourceRules"), urls);
    struct str faults = faults_of(a, &held, &review->gaps);
    value_put(a, &review->status, STR("incomplete"), value_bool(gaps_are_open(&review->gaps)));
    if (faults.n)
        value_put(a, &review->status, STR("evaluationError"), value_string(faults));
    return 0;
}

void verb_rules_review(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    struct value obj;
    if (review_decode(c, false, &obj, &err) < 0) {
        call_fail(c, &err);
        return;
    }
    struct rules_review review = { .call = c,
                                   .ns = value_str(value_dig(&obj, "spec", "namespace")),
                                   .status = value_object() };
    if ((review.ns.n ? review_check(c, &obj, &err)
                     : err_set(&err, ERR_BAD_REQUEST, "no namespace on request")) < 0) {
        call_fail(c, &err);
        return;
    }
    review.gaps.n = guard_gaps(c->api->guard, c->user, review.gaps.at);
    (void)guard_with_rbac(c->api->guard, collect_rules, &review);
    value_put(c->arena, &obj, STR("metadata"), value_object());
    value_put(c->arena, &obj, STR("spec"), value_object());
    value_put(c->arena, &obj, STR("status"), review.status);
    call_object(c, 201, c->req.resource->type, &obj);
}
