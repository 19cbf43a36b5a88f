/* plugin_initializers.c - Initializers: objects that others have to finish before they count.
 *
 * A new object gets the names of all initializers that are configured for its resource, in the
 * order of their configurations' names. Who changes an object that has some left needs the right to
 * `initialize` it. */
#include <stdlib.h>

#include "admission/memory.h"
#include "admission/plugins.h"
#include "api/field_errors.h"
#include "api/validate/initializers.h"
#include "api/words.h"
#include "base/idiom.h"
#include "base/banned.h"

#define MIRROR STR("kubernetes.io/config.mirror")

/* ---- What is configured ---- */

struct initializer {
    struct initializer *next;
    struct str name;
    const struct value *rules;
};

struct configuration {
    struct str name;
    const struct value *initializers;
};

struct configurations {
    struct arena *arena;
    struct configuration *rows;
    size_t n, cap;
};

static int take_configuration(void *to, const struct value *obj)
{
    struct configurations *all = to;
    if (initializers_of(obj)) /* it does not count yet */
        return 0;
    if (all->n == all->cap) {
        struct configuration *grown =
            arena_array(all->arena, struct configuration, 2 * all->cap + 4);
        if (all->n)
            memcpy(grown, all->rows, all->n * sizeof(*grown));
        all->rows = grown;
        all->cap = 2 * all->cap + 4;
    }
    struct value *copy = arena_new(all->arena, struct value);
    *copy = value_clone(all->arena, obj);
    all->rows[all->n++] = (struct configuration){
        .name = value_str(value_dig(copy, "metadata", "name")),
        .initializers = value_get(copy, STR("initializers")),
    };
    return 0;
}

static int by_name(const void *a, const void *b)
{
    const struct configuration *x = a, *y = b;
    return str_cmp(x->name, y->name);
}

/* All initializers in order, as one list. */
static const struct initializer *list_of(const struct configurations *all)
{
    struct initializer *first = NULL, **end = &first;
    for (size_t i = 0; i < all->n; i++)
        value_each_item (it, all->rows[i].initializers) {
            *end = arena_new(all->arena, struct initializer);
            (*end)->name = value_text(it, "name");
            (*end)->rules = value_get(it, STR("rules"));
            end = &(*end)->next;
        }
    return first;
}

static int make(struct admission_request *req, struct arena *a, const void **ret, struct err *err)
{
    struct configurations all = { .arena = a };
    int r =
        admission_each(req, STR("admissionregistration.k8s.io"), STR("initializerconfigurations"),
                       STR(""), take_configuration, &all, err);
    if (r < 0)
        return r;
    if (all.n)
        qsort(all.rows, all.n, sizeof(*all.rows), by_name);
    *ret = list_of(&all);
    return 0;
}

static const struct admission_source made_of[] = {
    { STR("admissionregistration.k8s.io"), STR("initializerconfigurations") },
    { STR(""), STR("") },
};

static uint64_t interest(const void *made)
{
    uint64_t bits = 0;
    for (const struct initializer *i = made; i; i = i->next)
        value_each_item (rule, i->rules)
            value_each_item (it, value_get(rule, STR("resources")))
                bits |= admission_interest(value_str(it));
    return bits;
}

static const struct admission_memo memo = { .made_of = made_of,
                                            .make = make,
                                            .interest = interest };

/* ---- Which of them an object gets ---- */

/* A star counts only where it stands first. */
static bool is_any(const struct value *list, bool is_resources)
{
    struct str first = value_str(value_at(list, 0));
    return str_eq(first, STR("*")) || (is_resources && str_eq(first, STR("*/*")));
}

static bool names(const struct value *list, struct str text, bool is_resources)
{
    if (is_any(list, is_resources))
        return true;
    value_each_item (it, list)
        if (str_eq(value_str(it), text))
            return true;
    return false;
}

/* Of several rules each has to match; none at all match nothing. */
static bool is_for(const struct initializer *i, const struct kind_resource *r)
{
    bool has_rule = false;
    value_each_item (rule, i->rules) {
        has_rule = true;
        if (!names(value_get(rule, STR("apiGroups")), r->group, false) ||
            !names(value_get(rule, STR("apiVersions")), r->version, false) ||
            !names(value_get(rule, STR("resources")), r->plural, true))
            return false;
    }
    return has_rule;
}

static void set_pending(struct admission_request *req, const struct initializer *first,
                        struct value *obj)
{
    struct arena *a = req->arena;
    struct value pending = value_array(), initializers = value_object();
    for (const struct initializer *i = first; i; i = i->next) {
        if (!is_for(i, req->resource))
            continue;
        struct value one = value_object();
        value_put(a, &one, STR("name"), value_string(arena_str(a, i->name)));
        value_put_item(a, &pending, one);
    }
    if (!pending.n)
        return;
    value_put(a, &initializers, STR("pending"), pending);
    value_put(a, value_ensure(a, obj, STR("metadata")), STR("initializers"), initializers);
}

/* ---- Who may ---- */

static int require_right(struct admission_request *req, const struct value *obj, const char *what,
                         struct err *err)
{
    const struct access q = { .user = req->user,
                              .is_resource = true,
                              .verb = STR("initialize"),
                              .group = req->resource->group,
                              .version = req->resource->version,
                              .resource = req->resource->plural,
                              .ns = req->ns,
                              .name = req->name };
    if (admission_allows(req, &q))
        return 0;
    return admission_forbid_as(req, obj, err, "%s: ", what);
}

static void clear(struct admission_request *req, struct value *obj)
{
    value_drop(req->arena, value_ensure(req->arena, obj, STR("metadata")), STR("initializers"));
}

static bool is_mirror(const struct admission_request *req, const struct value *obj)
{
    return str_eq(req->stored->plural, STR("pods")) && !req->stored->group.n &&
           value_get(value_dig(obj, "metadata", "annotations"), MIRROR);
}

static int begin(struct admission_request *req, struct value *obj, struct err *err)
{
    const struct value *given = initializers_of(obj);
    struct admission_recalled *known;
    if (given) {
        int r = require_right(req, obj, "create with initializers denied", err);
        if (r == 0 && initializers_are_done(given))
            clear(req, obj);
        return r;
    }
    if (is_mirror(req, obj))
        return 0;
    int r = admission_recall(req, &known, err);
    if (r < 0)
        return r;
    set_pending(req, admission_recalled(known), obj);
    admission_release(known);
    return 0;
}

/* Any change of an object that is not initialized needs the right, not only that of the list. */
static int go_on(struct admission_request *req, struct value *obj, struct err *err)
{
    struct field_errors e = FIELD_ERRORS_INIT(req->arena);
    const struct value *now = initializers_of(obj);
    if (now && initializers_are_done(now)) {
        clear(req, obj);
        now = NULL;
    }
    if (!now && !initializers_of(req->old_obj))
        return 0;
    initializers_validate_update(&e, obj, req->old_obj);
    int r = field_errors_report(&e, req->stored->group, req->stored->type->name, req->name, err);
    return r < 0 ? r : require_right(req, obj, "update to uninitialized resource denied", err);
}

static int mutate(struct admission_request *req, struct value *obj, struct err *err)
{
    bool is_kept = req->stored->etcd_prefix.n; /* a review is not: nobody could finish it */
    if (!is_kept || req->sub.n || !obj || !value_get(obj, STR("metadata")))
        return 0;
    return req->old_obj ? go_on(req, obj, err) : begin(req, obj, err);
}

const struct admission_plugin plugin_initializers = {
    .name = "Initializers",
    .is_off = true,
    .memo = &memo,
    .mutate = mutate,
};
