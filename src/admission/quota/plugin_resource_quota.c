/* ResourceQuota: what all objects of a namespace use together stays within its quotas.
 *
 * A quota's status says what is used. Whoever writes an object is charged: the request says which
 * quotas have to be written with it (struct admission_charging), on condition that they are still
 * as they were when this looked at them. So two that fit one by one but not together are never both
 * let in. What goes is given back by whoever counts anew (upstream's controller, or the server). */
#include <stdlib.h>

#include "admission/config.h"
#include "admission/plugins.h"
#include "admission/quota/quota_config.h"
#include "admission/quota/quota_usage.h"
#include "api/quantity.h"
#include "api/text_set.h"
#include "api/validate/initializers.h"
#include "api/words.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/banned.h"

static int configure(struct arena *a, const struct value *tree, void **ret, struct err *err)
{
    struct quota_config *c = arena_new(a, struct quota_config);
    *ret = c;
    return tree ? quota_config_read(a, tree, c, err) : 0;
}

/* ---- One request ---- */

struct check {
    struct admission_request *req;
    struct quota_item item, old_item; /* the last has no object if there was none */
    const struct quota_config *config;
    struct value quotas; /* of the namespace, by name */
    struct err *err;
};

/* Maps are sorted by their keys in messages. */
static struct str joined(struct arena *a, struct str *parts, size_t n)
{
    autobuf text = { 0 };
    if (n)
        qsort(parts, n, sizeof(*parts), words_compare);
    for (size_t i = 0; i < n; i++)
        buf_printf(&text, "%s" STR_FMT, i ? "," : "", STR_ARG(parts[i]));
    return arena_str(a, buf_str(&text));
}

/* "a=1,b=2": what a map has of the names. */
static struct str amounts(struct arena *a, const struct value *map, const struct str *names,
                          size_t n)
{
    struct str *parts = arena_array(a, struct str, n), *keys = arena_array(a, struct str, n);
    autobuf text = { 0 };
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        if (value_get(map, names[i]))
            keys[found++] = names[i];
    if (found)
        qsort(keys, found, sizeof(*keys), words_compare);
    for (size_t i = 0; i < found; i++)
        parts[i] = value_str(value_get(map, keys[i]));
    for (size_t i = 0; i < found; i++)
        buf_printf(&text, "%s" STR_FMT "=" STR_FMT, i ? "," : "", STR_ARG(keys[i]),
                   STR_ARG(parts[i]));
    return arena_str(a, buf_str(&text));
}

static struct str name_of(const struct value *quota)
{
    return value_str(value_dig(quota, "metadata", "name"));
}

/* ---- Which quotas are about it ---- */

static bool counts(const struct check *c, struct str name)
{
    return quota_counts(c->item.group, c->item.plural, name);
}

static bool is_about(const struct quota_item *item, const struct value *quota)
{
    bool any = false;
    value_each_field (f, value_dig(quota, "status", "hard"))
        any |= quota_counts(item->group, item->plural, f->key);
    return any && quota_is_in_scopes(item, value_get(quota, STR("spec")));
}

/* Whether the quota says all that is needed, and the object too. */
static int check_complete(const struct check *c, const struct value *quota)
{
    const struct value *hard = value_dig(quota, "status", "hard"),
                       *used = value_dig(quota, "status", "used");
    struct arena *a = c->req->arena;
    struct str missing = quota_missing(&c->item, hard);
    bool is_known = true;
    size_t n = 0;
    if (missing.n)
        return admission_forbid_as(c->req, c->item.obj, c->err,
                                   "failed quota: " STR_FMT ": " STR_FMT, STR_ARG(name_of(quota)),
                                   STR_ARG(missing));
    struct str *names = arena_array(a, struct str, value_is(hard, VALUE_OBJECT) ? hard->n : 0);
    value_each_field (f, hard)
        if (counts(c, f->key)) {
            names[n++] = f->key;
            is_known &= value_get(used, f->key) != NULL;
        }
    if (is_known)
        return 0;
    return admission_forbid_as(c->req, c->item.obj, c->err,
                               "status unknown for quota: " STR_FMT ", resources: " STR_FMT,
                               STR_ARG(name_of(quota)), STR_ARG(joined(a, names, n)));
}

/* ---- What it would use ---- */

/* What the object uses more than before of one thing; empty: nothing more. */
static struct str increase(const struct check *c, const struct value *quota, struct str name)
{
    struct str now = quota_usage(&c->item, name), was = STR("");
    if (!now.n || quantity_sign(now) <= 0)
        return STR("");
    if (c->old_item.obj && (!quota || is_about(&c->old_item, quota)))
        was = quota_usage(&c->old_item, name);
    if (!was.n)
        return now;
    struct str more = quantity_subtract(c->req->arena, now, was);
    return quantity_sign(more) > 0 ? more : STR("");
}

/* Whether it uses more of anything than before. */
static bool is_more_of_something(const struct check *c)
{
    struct str names[QUOTA_NAMES_MAX];
    size_t n = quota_usage_names(&c->item, names);
    for (size_t i = 0; i < n; i++)
        if (increase(c, NULL, names[i]).n)
            return true;
    return false;
}

static int refuse_excess(const struct check *c, const struct value *quota,
                         const struct value *requested, const struct str *names, size_t n)
{
    struct arena *a = c->req->arena;
    const struct value *hard = value_dig(quota, "status", "hard"),
                       *used = value_dig(quota, "status", "used");
    return admission_forbid_as(
        c->req, c->item.obj, c->err,
        "exceeded quota: " STR_FMT ", requested: " STR_FMT ", used: " STR_FMT ", limited: " STR_FMT,
        STR_ARG(name_of(quota)), STR_ARG(amounts(a, requested, names, n)),
        STR_ARG(amounts(a, used, names, n)), STR_ARG(amounts(a, hard, names, n)));
}

static void charge(const struct check *c, const struct value *quota, struct value used)
{
    struct admission_charging *to = c->req->charging;
    struct admission_charge *one = arena_new(c->req->arena, struct admission_charge);
    if (!to)
        return;
    *one = (struct admission_charge){ value_borrow(quota), used, to->first };
    to->first = one;
}

/* Charges the quota, or refuses. A write of the status alone tells of what is so already. */
static int check_quota(const struct check *c, const struct value *quota)
{
    struct arena *a = c->req->arena;
    const struct value *hard = value_dig(quota, "status", "hard"),
                       *old_used = value_dig(quota, "status", "used");
    struct value requested = value_object(),
                 used = old_used ? value_borrow(old_used) : value_object();
    struct str *exceeded = arena_array(a, struct str, value_is(hard, VALUE_OBJECT) ? hard->n : 0);
    size_t n = 0;
    value_each_field (f, hard) {
        struct str more = counts(c, f->key) ? increase(c, quota, f->key) : STR("");
        struct str was = value_str(value_get(old_used, f->key));
        if (!more.n)
            continue;
        struct str sum = was.n ? quantity_add(a, was, more) : more;
        value_put(a, &requested, f->key, value_string(more));
        value_put(a, &used, f->key, value_string(sum));
        if (quantity_cmp(sum, value_str(&f->val)) > 0)
            exceeded[n++] = f->key;
    }
    if (n && !str_eq(c->req->sub, STR("status")))
        return refuse_excess(c, quota, &requested, exceeded, n);
    if (requested.n)
        charge(c, quota, used);
    return 0;
}

/* ---- What needs a quota ---- */

static bool covers(const struct check *c, struct str name)
{
    value_each_item (quota, &c->quotas)
        if (value_get(value_dig(quota, "status", "hard"), name) && is_about(&c->item, quota))
            return true;
    return false;
}

static bool has_part_of(const struct value *parts, struct str name)
{
    value_each_item (it, parts) {
        struct str part = value_str(it);
        if (!part.n || memmem(name.p, name.n, part.p, part.n))
            return true;
    }
    return false;
}

static int check_limited_names(const struct check *c, const struct quota_limited *limited)
{
    struct arena *a = c->req->arena;
    struct str names[QUOTA_NAMES_MAX], bare[QUOTA_NAMES_MAX];
    size_t n = quota_usage_names(&c->item, names), n_bare = 0;
    for (size_t i = 0; i < n; i++) {
        struct str amount = quota_usage(&c->item, names[i]);
        if (amount.n && quantity_sign(amount) > 0 && has_part_of(&limited->contains, names[i]) &&
            !covers(c, names[i]))
            bare[n_bare++] = names[i];
    }
    if (!n_bare)
        return 0;
    return admission_forbid_as(c->req, c->item.obj, c->err,
                               "insufficient quota to consume: " STR_FMT,
                               STR_ARG(joined(a, bare, n_bare)));
}

/* Whether a quota has a scope of that name which the object is in. */
static bool covers_scope(const struct check *c, struct str scope)
{
    value_each_item (quota, &c->quotas) {
        struct value scopes = quota_scopes(c->req->arena, value_get(quota, STR("spec")));
        value_each_item (it, &scopes)
            if (str_eq(value_text(it, "scopeName"), scope) && quota_is_in_scope(&c->item, it))
                return true;
    }
    return false;
}

static void add_scope(struct buf *text, const struct value *requirement)
{
    bool first = true;
    buf_printf(text, "%s{" STR_FMT " " STR_FMT " [", text->n ? " " : "",
               STR_ARG(value_text(requirement, "scopeName")),
               STR_ARG(value_text(requirement, "operator")));
    value_each_item (it, value_get(requirement, STR("values"))) {
        buf_printf(text, "%s" STR_FMT, first ? "" : " ", STR_ARG(value_str(it)));
        first = false;
    }
    buf_str_add(text, STR("]}"));
}

static int check_limited_scopes(const struct check *c)
{
    autobuf bare = { 0 };
    for (size_t i = 0; i < c->config->n; i++)
        value_each_item (it, &c->config->limited[i].scopes)
            if (quota_is_in_scope(&c->item, it) && !covers_scope(c, value_text(it, "scopeName")))
                add_scope(&bare, it);
    if (!bare.n)
        return 0;
    return err_set(c->err, ERR_UNKNOWN, "insufficient quota to match these scopes: [" STR_FMT "]",
                   STR_ARG(buf_str(&bare)));
}

static int check_limited(const struct check *c)
{
    for (size_t i = 0; i < c->config->n; i++) {
        const struct quota_limited *limited = &c->config->limited[i];
        bool is_it =
            str_eq(limited->group, c->item.group) && str_eq(limited->plural, c->item.plural);
        int r = is_it ? check_limited_names(c, limited) : 0;
        if (r < 0)
            return r;
    }
    return check_limited_scopes(c);
}

/* ---- All of it ---- */

static int check_all(const struct check *c)
{
    bool any = false, is_more = false;
    value_each_item (quota, &c->quotas) {
        int r = is_about(&c->item, quota) ? check_complete(c, quota) : 0;
        if (r < 0)
            return r;
    }
    value_each_item (quota, &c->quotas) {
        if (!is_about(&c->item, quota))
            continue;
        any = true;
        value_each_field (f, value_dig(quota, "status", "hard"))
            is_more = is_more || (counts(c, f->key) && increase(c, quota, f->key).n);
    }
    if (c->config && c->config->n && (any ? is_more : is_more_of_something(c))) {
        int r = check_limited(c);
        if (r < 0)
            return r;
    }
    value_each_item (quota, &c->quotas) {
        int r = is_more && is_about(&c->item, quota) ? check_quota(c, quota) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

/* Initializers may have added containers. */
static bool is_initialized_now(const struct admission_request *req, const struct value *obj)
{
    return initializers_of(req->old_obj) && !initializers_of(obj);
}

static bool is_for_pod(const struct admission_request *req, const struct value *pod)
{
    if (req->sub.n)
        return str_eq(req->sub, STR("resize"));
    return quota_pod_is_terminating(pod) != quota_pod_is_terminating(req->old_obj) ||
           is_initialized_now(req, pod);
}

/* Objects of most kinds count when they are made. What others use may change. */
static bool is_for(const struct admission_request *req, const struct value *obj)
{
    static const struct str changing[] = { STR("services"), STR("persistentvolumeclaims") };
    bool is_core = !req->stored->group.n;
    struct str plural = req->stored->plural;
    bool is_kept = req->stored->etcd_prefix.n; /* a review or a binding is not */
    if (!req->stored->namespaced || !req->ns.n || !is_kept ||
        quota_ignores(req->stored->group, plural))
        return false;
    if (req->operation == ADMISSION_CREATE)
        return !req->sub.n;
    if (req->operation != ADMISSION_UPDATE)
        return false;
    if (is_core && str_eq(plural, STR("pods")))
        return is_for_pod(req, obj);
    if (is_core && str_eq(plural, STR("persistentvolumeclaims")) && str_eq(req->sub, STR("status")))
        return true;
    bool is_claim =
        str_eq(req->stored->group, STR("resource.k8s.io")) && str_eq(plural, STR("resourceclaims"));
    return !req->sub.n && ((is_core && words_have(plural, WORDS(changing))) || is_claim);
}

static int take_quota(void *to, const struct value *quota)
{
    struct check *c = to;
    value_put_item(c->req->arena, &c->quotas, value_clone(c->req->arena, quota));
    return 0;
}

static int validate(struct admission_request *req, const struct value *obj, struct err *err)
{
    const struct clock *clock = req->clock ? req->clock : &clock_system;
    struct check c = { .req = req,
                       .item = { .arena = req->arena,
                                 .group = req->stored->group,
                                 .plural = req->stored->plural,
                                 .obj = obj,
                                 .now_sec = clock_wall_ns(clock) / NS_PER_SEC },
                       .config = admission_configured(req),
                       .quotas = value_array(),
                       .err = err };
    if (!is_for(req, obj))
        return 0;
    c.old_item = c.item;
    c.old_item.obj = req->old_obj;
    int r = admission_each_quota(req, take_quota, &c, err);
    if (r < 0 || (!c.quotas.n && !(c.config && c.config->n)))
        return r;
    return check_all(&c);
}

const struct admission_plugin plugin_resource_quota = {
    .name = "ResourceQuota",
    .configure = configure,
    .charges = true,
    .validate = validate,
};
