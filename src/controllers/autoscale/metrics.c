#include "controllers/autoscale/metrics.h"

#include "api/go/goduration.h"
#include "api/quantity.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/percent.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/common/times.h"
#include "select/labels.h"
#include "base/banned.h"

enum { WINDOW_SEC = 60 };
#define CUSTOM   "custom.metrics.k8s.io"
#define EXTERNAL "external.metrics.k8s.io"

/* ---- Words ---- */

static const char *words_of_status(int status)
{
    switch (status) {
    case 401:
        return "the server has asked for the client to provide credentials";
    case 403:
        return "the server does not allow access to the requested resource";
    case 404:
        return "the server could not find the requested resource";
    case 429:
        return "the server has received too many requests and has asked us to try again later";
    case 503:
        return "the server is currently unable to handle the request";
    case 504:
        return "the server was unable to return a response in the time allotted, but may still be "
               "processing the request";
    default:
        return "the server rejected our request for an unknown reason";
    }
}

struct spn_text hpa_words(struct spn_arena *a, const struct spn_err *err, struct spn_text resource,
                          struct spn_text name)
{
    if (err->status || !err->http_status)
        return spn_arena_text(a, spn_text_of(err->message));
    return spn_arena_printf(a, "%s (get " SPN_FMT "%s" SPN_FMT ")",
                            words_of_status(err->http_status), SPN_ARG(resource), name.n ? " " : "",
                            SPN_ARG(name));
}

/* ---- What answers say ---- */

static int64_t milli_of(const struct spn_value *quantity)
{
    const struct spn_text t = spn_value_text(quantity);
    int64_t milli = 0;
    return t.n && quantity_units(str_in(t), true, &milli) ? milli : 0;
}

static int64_t window_of(struct spn_arena *a, const struct spn_value *v)
{
    int64_t ns = 0;
    struct err unsaid = ERR_INIT(arena_in(a));
    const struct spn_text t = spn_value_text(v);
    return t.n && goduration_parse(str_in(t), &ns, &unsaid) == 0 ? ns : 0;
}

/* False: something of the pod is missing. */
static bool sum_containers(const struct spn_value *item, struct spn_text resource,
                           struct spn_text container, int64_t *ret)
{
    const struct spn_value *all = spn_value_get(item, "containers");
    bool is_known = !container.n && spn_value_count(all);
    int64_t sum = 0;
    for (size_t i = 0; i < spn_value_count(all); i++) {
        const struct spn_value *c = spn_value_at(all, i);
        const struct spn_value *used = spn_value_get_text(spn_value_get(c, "usage"), resource);
        if (container.n && !spn_text_eq(spn_value_text(spn_value_get(c, "name")), container))
            continue;
        if (!used)
            return false;
        is_known = true;
        sum += milli_of(used);
    }
    *ret = sum;
    return is_known;
}

static struct hpa_samples samples_for(struct spn_arena *a, const struct spn_value *items)
{
    return (struct hpa_samples){
        spn_arena_alloc(a, (spn_value_count(items) + 1) * sizeof(struct hpa_sample)), 0
    };
}

struct hpa_samples hpa_read_resource(struct spn_arena *a, const struct spn_value *list,
                                     struct spn_text resource, struct spn_text container)
{
    const struct spn_value *items = spn_value_get(list, "items");
    struct hpa_samples all = samples_for(a, items);
    for (size_t i = 0; i < spn_value_count(items); i++) {
        const struct spn_value *item = spn_value_at(items, i);
        struct hpa_sample s = { .pod = meta_name(item),
                                .window_ns = window_of(a, spn_value_get(item, "window")) };
        (void)time_read(spn_value_get(item, "timestamp"), &s.at_ns);
        if (sum_containers(item, resource, container, &s.milli))
            all.items[all.n++] = s;
    }
    return all;
}

struct hpa_samples hpa_read_custom(struct spn_arena *a, const struct spn_value *list)
{
    const struct spn_value *items = spn_value_get(list, "items");
    struct hpa_samples all = samples_for(a, items);
    for (size_t i = 0; i < spn_value_count(items); i++) {
        const struct spn_value *item = spn_value_at(items, i);
        /* v1beta1 has another word for it */
        const int64_t window = field_int(spn_value_get(item, "windowSeconds"),
                                         field_int(spn_value_get(item, "window"), WINDOW_SEC));
        struct hpa_sample s = {
            .pod = spn_value_text(spn_value_dig(item, "describedObject", "name")),
            .milli = milli_of(spn_value_get(item, "value")),
            .window_ns = window * NS_PER_SEC,
        };
        (void)time_read(spn_value_get(item, "timestamp"), &s.at_ns);
        all.items[all.n++] = s;
    }
    return all;
}

int64_t hpa_read_external(const struct spn_value *list)
{
    const struct spn_value *items = spn_value_get(list, "items");
    int64_t sum = 0;
    for (size_t i = 0; i < spn_value_count(items); i++)
        if (__builtin_add_overflow(sum, milli_of(spn_value_get(spn_value_at(items, i), "value")),
                                   &sum))
            return INT64_MAX;
    return sum;
}

/* ---- Asking ---- */

static void add_param(struct buf *query, const char *key, struct spn_text value)
{
    if (!value.n)
        return;
    buf_printf(query, "%s%s=", query->n ? "&" : "?", key);
    percent_encode(query, str_in(value));
}

int hpa_metric_read(struct spn_arena *a, const struct spn_value *metric, struct hpa_metric *ret,
                    struct spn_err *err)
{
    const struct spn_value *v = spn_value_get(metric, "selector");
    struct labels_selector s;
    struct err why = ERR_INIT(arena_in(a));
    autobuf text = { 0 };
    *ret = (struct hpa_metric){ .name = spn_value_text(spn_value_get(metric, "name")) };
    if (!v)
        return 0;
    if (labels_from_value(arena_in(a), value_in(v), &s, &why) < 0)
        return spn_err_set(err, SPN_INVALID, STR_FMT, STR_ARG(why.msg));
    labels_write(&text, &s);
    ret->selector = spn_arena_text(a, text_out(buf_str(&text)));
    return 0;
}

/* A list at the target, with a query; `resource` names it in errors. */
static int ask(const struct hpa_source *s, const struct spn_target *at, const struct buf *query,
               struct spn_text resource, struct spn_value **ret, struct spn_err *err)
{
    struct spn_arena *a = s->work->arena;
    struct spn_text path, body;
    int r = spn_target_path(at, a, &path, err);
    if (r < 0)
        return r;
    path = spn_arena_printf(a, SPN_FMT STR_FMT, SPN_ARG(path), STR_ARG(buf_str(query)));
    r = spn_client_raw(s->work->client, "GET", path, SPN_TEXT(""), SPN_TEXT(""), &s->work->how, a,
                       &body, err);
    if (r < 0)
        return spn_err_set(err, SPN_UNAVAILABLE, SPN_FMT,
                           SPN_ARG(hpa_words(a, err, resource, at->name)));
    return spn_value_read_json(a, body, ret, err);
}

static int check_any(const struct spn_value *list, const char *api, struct spn_err *err)
{
    if (spn_value_count(spn_value_get(list, "items")))
        return 0;
    return spn_err_set(err, SPN_NOT_FOUND, "no metrics returned from %s metrics API", api);
}

int hpa_fetch_resource(const struct hpa_source *s, struct spn_text resource,
                       struct spn_text container, struct spn_text selector, struct hpa_samples *ret,
                       struct spn_err *err)
{
    struct spn_target at = SPN_AT("metrics.k8s.io", "v1beta1", "pods", "", "");
    autobuf query = { 0 };
    struct spn_value *list;
    at.ns = s->work->ns;
    add_param(&query, "labelSelector", selector);
    int r = ask(s, &at, &query, SPN_TEXT("pods.metrics.k8s.io"), &list, err);
    if (r < 0)
        return spn_err_wrap(err, "unable to fetch metrics from resource metrics API");
    r = check_any(list, "resource", err);
    if (r < 0)
        return r;
    *ret = hpa_read_resource(s->work->arena, list, resource, container);
    return 0;
}

/* ---- Custom metrics ---- */

/* Which version of them the server has. */
static int custom_version(const struct hpa_source *s, struct spn_text *ret, struct spn_err *err)
{
    struct spn_arena *a = s->work->arena;
    struct spn_text body;
    struct spn_value *group;
    int r = spn_client_raw(s->work->client, "GET", SPN_TEXT("/apis/" CUSTOM), SPN_TEXT(""),
                           SPN_TEXT(""), &s->work->how, a, &body, err);
    if (r == -SPN_NOT_FOUND)
        return spn_err_set(err, SPN_NOT_FOUND, "no custom metrics API (" CUSTOM ") registered");
    if (r < 0)
        return r;
    r = spn_value_read_json(a, body, &group, err);
    if (r < 0)
        return r;
    *ret = spn_value_text(spn_value_dig(group, "preferredVersion", "version"));
    if (spn_text_eq(*ret, SPN_TEXT("v1beta2")) || spn_text_eq(*ret, SPN_TEXT("v1beta1")))
        return 0;
    return spn_err_set(err, SPN_NOT_FOUND, "no known available metric versions found");
}

/* `at` has the version already. */
static int ask_custom(const struct hpa_source *s, struct spn_target *at,
                      const struct hpa_metric *metric, struct spn_text selector,
                      struct spn_value **ret, struct spn_err *err)
{
    autobuf query = { 0 };
    at->group = SPN_TEXT(CUSTOM);
    at->ns = s->work->ns;
    add_param(&query, "labelSelector", selector);
    add_param(&query, "metricLabelSelector", metric->selector);
    return ask(s, at, &query,
               spn_arena_printf(s->work->arena, SPN_FMT "." CUSTOM, SPN_ARG(at->plural)), ret, err);
}

static int fetch_pods(const struct hpa_source *s, const struct hpa_metric *metric,
                      struct spn_text selector, struct spn_value **ret, struct spn_err *err)
{
    struct spn_target at = { .plural = SPN_TEXT("pods"),
                             .name = SPN_TEXT("*"),
                             .sub = metric->name };
    int r = custom_version(s, &at.version, err);
    return r < 0 ? r : ask_custom(s, &at, metric, selector, ret, err);
}

int hpa_fetch_pods(const struct hpa_source *s, const struct hpa_metric *metric,
                   struct spn_text selector, struct hpa_samples *ret, struct spn_err *err)
{
    struct spn_value *list;
    int r = fetch_pods(s, metric, selector, &list, err);
    if (r < 0)
        return spn_err_wrap(err, "unable to fetch metrics from custom metrics API");
    r = check_any(list, "custom", err);
    if (r < 0)
        return r;
    *ret = hpa_read_custom(s->work->arena, list);
    return 0;
}

/* "ingresses.networking.k8s.io/main/requests", or "metrics/requests" of the namespace itself. */
static int object_target(const struct hpa_source *s, const struct spn_value *ref,
                         struct spn_text metric, struct spn_target *ret, struct spn_err *err)
{
    const struct spn_text kind = spn_value_text(spn_value_get(ref, "kind"));
    const struct spn_text group = hpa_group(spn_value_text(spn_value_get(ref, "apiVersion")));
    struct spn_resource found;
    if (!group.n && spn_text_eq(kind, SPN_TEXT("Namespace"))) {
        *ret = (struct spn_target){ .plural = SPN_TEXT("metrics"), .name = metric };
        return 0;
    }
    int r = hpa_find_kind(s, group, kind, &found, err);
    if (r < 0)
        return spn_err_wrap(err, "unable to map kind " SPN_FMT "%s" SPN_FMT " to resource",
                            SPN_ARG(kind), group.n ? "." : "", SPN_ARG(group));
    *ret = (struct spn_target){ .plural = spn_arena_printf(s->work->arena, SPN_FMT "%s" SPN_FMT,
                                                           SPN_ARG(found.plural),
                                                           group.n ? "." : "", SPN_ARG(group)),
                                .name = spn_value_text(spn_value_get(ref, "name")),
                                .sub = metric };
    return 0;
}

static int fetch_object(const struct hpa_source *s, const struct hpa_metric *metric,
                        const struct spn_value *ref, int64_t *ret_milli, struct spn_err *err)
{
    struct spn_target at;
    struct spn_text version;
    struct spn_value *list;
    int r = custom_version(s, &version, err);
    if (r < 0)
        return r;
    r = object_target(s, ref, metric->name, &at, err);
    if (r < 0)
        return r;
    at.version = version;
    r = ask_custom(s, &at, metric, SPN_TEXT(""), &list, err);
    if (r < 0)
        return r;
    const struct spn_value *items = spn_value_get(list, "items");
    if (spn_value_count(items) != 1)
        return spn_err_set(err, SPN_INVALID,
                           "the custom metrics API server returned %zu results when we asked for "
                           "exactly one",
                           spn_value_count(items));
    *ret_milli = milli_of(spn_value_get(spn_value_at(items, 0), "value"));
    return 0;
}

int hpa_fetch_object(const struct hpa_source *s, const struct hpa_metric *metric,
                     const struct spn_value *ref, int64_t *ret_milli, struct spn_err *err)
{
    int r = fetch_object(s, metric, ref, ret_milli, err);
    return r < 0 ? spn_err_wrap(err, "unable to fetch metrics from custom metrics API") : 0;
}

/* ---- External metrics ---- */

int hpa_fetch_external(const struct hpa_source *s, const struct hpa_metric *metric,
                       int64_t *ret_milli, struct spn_err *err)
{
    struct spn_target at = { .group = SPN_TEXT(EXTERNAL),
                             .version = SPN_TEXT("v1beta1"),
                             .ns = s->work->ns,
                             .plural = metric->name };
    autobuf query = { 0 };
    struct spn_value *list;
    add_param(&query, "labelSelector", metric->selector);
    int r =
        ask(s, &at, &query,
            spn_arena_printf(s->work->arena, SPN_FMT "." EXTERNAL, SPN_ARG(at.plural)), &list, err);
    if (r < 0)
        return spn_err_wrap(err, "unable to fetch metrics from external metrics API");
    r = check_any(list, "external", err);
    if (r < 0)
        return r;
    *ret_milli = hpa_read_external(list);
    return 0;
}

/* ---- Kinds ---- */

struct spn_text hpa_group(struct spn_text api_version)
{
    struct str rest = str_in(api_version), first = str_cut(&rest, '/');
    return rest.p ? text_out(first) : SPN_TEXT("");
}

int hpa_find_kind(const struct hpa_source *s, struct spn_text group, struct spn_text kind,
                  struct spn_resource *ret, struct spn_err *err)
{
    struct spn_arena *a = s->work->arena;
    const struct spn_text words = spn_arena_printf(a, SPN_FMT "%s" SPN_FMT, SPN_ARG(kind),
                                                   group.n ? "." : "", SPN_ARG(group));
    int r = spn_mapper_find(s->mapper, words, &s->work->how, a, ret, err);
    if (r < 0 && r != -SPN_NOT_FOUND)
        return r;
    if (r == 0 && spn_text_eq(ret->group, group) && spn_text_eq(ret->kind, kind))
        return 0;
    return spn_err_set(err, SPN_NOT_FOUND,
                       "no matches for kind \"" SPN_FMT "\" in group \"" SPN_FMT "\"",
                       SPN_ARG(kind), SPN_ARG(group));
}
