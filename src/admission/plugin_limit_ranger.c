/* LimitRanger: what containers ask for where they do not say, and the bounds of what they, pods and
 * claims may ask for, by the LimitRanges of the namespace.
 *
 * Containers of a pod never change, but for a resize; so other updates are not looked at. */
#include <stdlib.h>

#include "admission/plugins.h"
#include "api/pod_resources.h"
#include "api/quantity.h"
#include "api/resource_name.h"
#include "api/text_set.h"
#include "api/words.h"
#include "base/banned.h"

#define REQUESTS STR("requests")
#define LIMITS   STR("limits")

static const struct str container_lists[] = { STR("containers"), STR("initContainers") };

/* ---- Defaults ---- */

/* What was filled in, for the annotation: "cpu, memory request for container c; ...". */
struct filled {
    struct arena *arena;
    struct buf text;
};

static bool is_type(const struct value *limit, struct str type)
{
    return str_eq(value_text(limit, "type"), type);
}

/* The last default of each resource counts. */
static struct value defaults_of(struct arena *a, const struct value *range, struct str field)
{
    struct value all = value_object();
    value_each_item (limit, value_dig(range, "spec", "limits"))
        value_each_field (f, is_type(limit, STR("Container")) ? value_get(limit, field) : NULL)
            value_put(a, &all, f->key, value_borrow(&f->val));
    return all;
}

static void note_filled(struct filled *filled, struct str *names, size_t n, const char *what,
                        const char *kind, struct str container)
{
    if (!n)
        return;
    qsort(names, n, sizeof(*names), words_compare);
    if (filled->text.n)
        buf_str_add(&filled->text, STR("; "));
    for (size_t i = 0; i < n; i++)
        buf_printf(&filled->text, "%s" STR_FMT, i ? ", " : "", STR_ARG(names[i]));
    buf_printf(&filled->text, " %s for %s " STR_FMT, what, kind, STR_ARG(container));
}

static void fill(struct filled *filled, struct value *container, struct str list,
                 const struct value *defaults, const char *kind)
{
    struct arena *a = filled->arena;
    struct str *names = arena_array(a, struct str, defaults->n);
    size_t n = 0;
    value_each_field (f, defaults) {
        struct value *resources = value_ensure(a, container, STR("resources"));
        if (value_get(value_get(resources, list), f->key))
            continue;
        value_put(a, value_ensure(a, resources, list), f->key, value_borrow(&f->val));
        names[n++] = f->key;
    }
    note_filled(filled, names, n, str_eq(list, LIMITS) ? "limit" : "request", kind,
                value_text(container, "name"));
}

static void fill_containers(struct filled *filled, struct value *spec, struct str list,
                            const struct value *requests, const struct value *limits)
{
    const char *kind = str_eq(list, container_lists[0]) ? "container" : "init container";
    struct value *containers = value_edit(filled->arena, spec, list);
    for (size_t i = 0; value_is(containers, VALUE_ARRAY) && i < containers->n; i++) {
        struct value *container = value_edit_at(filled->arena, containers, i);
        fill(filled, container, REQUESTS, requests, kind);
        fill(filled, container, LIMITS, limits, kind);
    }
}

static void fill_pod(struct admission_request *req, const struct value *range, struct value *pod)
{
    struct arena *a = req->arena;
    struct value requests = defaults_of(a, range, STR("defaultRequest")),
                 limits = defaults_of(a, range, STR("default"));
    struct filled filled = { .arena = a };
    if (!requests.n && !limits.n)
        return;
    struct value *spec = value_ensure(a, pod, STR("spec"));
    for (size_t i = 0; i < ARRAY_LEN(container_lists); i++)
        fill_containers(&filled, spec, container_lists[i], &requests, &limits);
    if (filled.text.n) {
        struct value *meta = value_ensure(a, pod, STR("metadata"));
        value_put(a, value_ensure(a, meta, STR("annotations")), STR("kubernetes.io/limit-ranger"),
                  value_string(arena_printf(a, "LimitRanger plugin set: " STR_FMT,
                                            STR_ARG(buf_str(&filled.text)))));
    }
    buf_done(&filled.text);
}

/* ---- Bounds ---- */

/* What is held against the bounds of one item of a LimitRange. */
struct asked {
    struct arena *arena;
    struct str type;               /* of the item */
    const struct value *resources; /* of a container or claim; NULL: those of `spec` together */
    const struct value *spec;
};

static bool is_claim(const struct asked *of)
{
    return of->resources && !of->spec;
}

/* Why an object is refused: each reason once. */
struct reasons {
    struct arena *arena;
    struct text_set seen;
    struct buf text;
};

static void add_reason(struct reasons *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void add_reason(struct reasons *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str why = arena_vprintf(r->arena, fmt, ap);
    va_end(ap);
    if (!text_set_add(&r->seen, why, r))
        return;
    if (r->text.n)
        buf_str_add(&r->text, STR(", "));
    buf_str_add(&r->text, why);
}

/* A pod can say it as a whole for cpu and memory. */
static struct str amount(const struct asked *of, struct str list, struct str name)
{
    if (of->resources)
        return value_str(value_get(value_get(of->resources, list), name));
    const struct value *whole = value_get(value_get(of->spec, STR("resources")), list);
    struct str own = resource_is_cpu_or_memory(name) ? value_str(value_get(whole, name)) : STR("");
    return own.n ? own : pod_resources_sum(of->arena, of->spec, list, name);
}

static int64_t units(struct str text, bool milli)
{
    int64_t n = 0;
    if (text.n && !quantity_units(text, milli, &n))
        n = quantity_sign(text) < 0 ? INT64_MIN : INT64_MAX;
    return n;
}

/* Amounts to compare: in thousandths, unless one of them is too large for that. */
struct amounts {
    struct str request, limit, bound; /* the first two may be empty */
    int64_t request_n, limit_n, bound_n;
};

static struct amounts amounts_of(const struct asked *of, struct str name, struct str bound)
{
    enum { MILLIS = 1000 };
    struct amounts m = { .request = amount(of, REQUESTS, name),
                         .limit = amount(of, LIMITS, name),
                         .bound = bound };
    const int64_t max = INT64_MAX / MILLIS;
    bool milli = units(m.request, false) <= max && units(m.limit, false) <= max &&
                 units(m.bound, false) <= max;
    m.request_n = units(m.request, milli);
    m.limit_n = units(m.limit, milli);
    m.bound_n = units(m.bound, milli);
    return m;
}

static void check_min(struct reasons *r, const struct asked *of, struct str name,
                      const struct amounts *m)
{
    struct str too_low = m->request_n < m->bound_n ? m->request : m->limit;
    if (!m->request.n)
        add_reason(
            r, "minimum " STR_FMT " usage per " STR_FMT " is " STR_FMT ".  No request is specified",
            STR_ARG(name), STR_ARG(of->type), STR_ARG(m->bound));
    else if (m->request_n < m->bound_n || (!is_claim(of) && m->limit.n && m->limit_n < m->bound_n))
        add_reason(r,
                   "minimum " STR_FMT " usage per " STR_FMT " is " STR_FMT ", but %s is " STR_FMT,
                   STR_ARG(name), STR_ARG(of->type), STR_ARG(m->bound),
                   m->request_n < m->bound_n ? "request" : "limit", STR_ARG(too_low));
}

/* Of a claim only the request counts. */
static void check_max(struct reasons *r, const struct asked *of, struct str name,
                      const struct amounts *m)
{
    bool limit_counts = !is_claim(of) && m->limit_n > m->bound_n;
    if (is_claim(of) ? !m->request.n : !m->limit.n)
        add_reason(r,
                   "maximum " STR_FMT " usage per " STR_FMT " is " STR_FMT ".  No %s is specified",
                   STR_ARG(name), STR_ARG(of->type), STR_ARG(m->bound),
                   is_claim(of) ? "request" : "limit");
    else if (limit_counts || (m->request.n && m->request_n > m->bound_n))
        add_reason(
            r, "maximum " STR_FMT " usage per " STR_FMT " is " STR_FMT ", but %s is " STR_FMT,
            STR_ARG(name), STR_ARG(of->type), STR_ARG(m->bound), limit_counts ? "limit" : "request",
            STR_ARG(limit_counts ? m->limit : m->request));
}

static void check_ratio(struct reasons *r, const struct asked *of, struct str name,
                        const struct amounts *m)
{
    const char *missing = !m->request_n ? "request" : !m->limit_n ? "limit" : NULL;
    if (missing) {
        add_reason(r,
                   STR_FMT " max limit to request ratio per " STR_FMT " is " STR_FMT
                           ", but no %s is specified or %s is 0",
                   STR_ARG(name), STR_ARG(of->type), STR_ARG(m->bound), missing, missing);
        return;
    }
    double ratio = (double)m->limit_n / (double)m->request_n;
    bool milli = units(m->bound, false) <= INT64_MAX / 1000;
    if (milli ? ratio * 1000 > (double)units(m->bound, true)
              : ratio > (double)units(m->bound, false))
        add_reason(r,
                   STR_FMT " max limit to request ratio per " STR_FMT " is " STR_FMT
                           ", but provided ratio is %f",
                   STR_ARG(name), STR_ARG(of->type), STR_ARG(m->bound), ratio);
}

static void check_item(struct reasons *r, const struct value *limit, const struct asked *of)
{
    static const struct {
        struct str field;
        void (*check)(struct reasons *r, const struct asked *of, struct str name,
                      const struct amounts *m);
    } bounds[] = {
        { STR("min"), check_min },
        { STR("max"), check_max },
        { STR("maxLimitRequestRatio"), check_ratio },
    };
    for (size_t i = 0; i < (is_claim(of) ? 2 : ARRAY_LEN(bounds)); i++)
        value_each_field (f, value_get(limit, bounds[i].field)) {
            struct amounts m = amounts_of(of, f->key, value_str(&f->val));
            bounds[i].check(r, of, f->key, &m);
        }
}

static void check_pod(struct reasons *r, const struct value *limit, const struct value *pod)
{
    const struct value *spec = value_get(pod, STR("spec"));
    static const struct value nothing = { .type = VALUE_OBJECT };
    struct asked of = { .arena = r->arena, .type = value_text(limit, "type"), .spec = spec };
    if (is_type(limit, STR("Pod")))
        check_item(r, limit, &of);
    if (!is_type(limit, STR("Container")))
        return;
    for (size_t i = 0; i < ARRAY_LEN(container_lists); i++)
        value_each_item (it, value_get(spec, container_lists[i])) {
            const struct value *resources = value_get(it, STR("resources"));
            of.resources = resources ? resources : &nothing;
            check_item(r, limit, &of);
        }
}

static void check_claim(struct reasons *r, const struct value *limit, const struct value *claim)
{
    static const struct value nothing = { .type = VALUE_OBJECT };
    const struct value *resources = value_dig(claim, "spec", "resources");
    const struct asked of = { .arena = r->arena,
                              .type = value_text(limit, "type"),
                              .resources = resources ? resources : &nothing };
    if (is_type(limit, STR("PersistentVolumeClaim")))
        check_item(r, limit, &of);
}

static int check(struct admission_request *req, const struct value *range, const struct value *obj,
                 struct err *err)
{
    bool is_pod = str_eq(req->target->plural, STR("pods"));
    struct reasons r = { .arena = req->arena };
    text_set_init(&r.seen);
    value_each_item (limit, value_dig(range, "spec", "limits"))
        (is_pod ? check_pod : check_claim)(&r, limit, obj);
    int result = 0;
    if (r.seen.n)
        result = admission_forbid_as(req, obj, err, r.seen.n > 1 ? "[" STR_FMT "]" : STR_FMT,
                                     STR_ARG(buf_str(&r.text)));
    text_set_done(&r.seen);
    buf_done(&r.text);
    return result;
}

/* ---- All LimitRanges of the namespace ---- */

struct ranges {
    struct arena *arena;
    struct value all;
};

static int take_range(void *to, const struct value *range)
{
    struct ranges *ranges = to;
    value_put_item(ranges->arena, &ranges->all, value_clone(ranges->arena, range));
    return 0;
}

static int find_ranges(struct admission_request *req, struct value *ret, struct err *err)
{
    struct ranges ranges = { .arena = req->arena, .all = value_array() };
    bool is_going = value_dig(req->old_obj, "metadata", "deletionTimestamp");
    int r = is_going ? 0
                     : admission_each_in(req, STR(""), STR("limitranges"), req->ns, take_range,
                                         &ranges, err);
    *ret = ranges.all;
    return r;
}

static int mutate(struct admission_request *req, struct value *obj, struct err *err)
{
    struct value ranges;
    if (!str_eq(req->target->plural, STR("pods")))
        return 0;
    int r = find_ranges(req, &ranges, err);
    if (r < 0)
        return r;
    value_each_item (it, &ranges)
        fill_pod(req, it, obj);
    return 0;
}

static int validate(struct admission_request *req, const struct value *obj, struct err *err)
{
    struct value ranges;
    int r = find_ranges(req, &ranges, err);
    if (r < 0)
        return r;
    value_each_item (it, &ranges) {
        r = check(req, it, obj, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static const struct admission_target targets[] = {
    { STR(""), STR("pods"), ADMISSION_CREATE, STR("") },
    { STR(""), STR("pods"), ADMISSION_UPDATE, STR("resize") },
    { STR(""), STR("persistentvolumeclaims"), ADMISSION_CREATE | ADMISSION_UPDATE, STR("") },
    { .operations = 0 },
};

const struct admission_plugin plugin_limit_ranger = {
    .name = "LimitRanger",
    .targets = targets,
    .mutate = mutate,
    .validate = validate,
};
