/* Patches: which there are, and what one does to a list or a message. */
#include <ctype.h>
#include <stdlib.h>

#include "base/buf.h"
#include "mesh/envoy_filter/envoy_filter_internal.h"
#include "mesh/model/tree.h"
#include "base/banned.h"

/* "inlineCode" is "inline_code"; keys with other signs are names of somebody. */
static struct str snake(struct arena *a, struct str key)
{
    autobuf out = { 0 };
    for (size_t i = 0; i < key.n; i++) {
        if (!isalnum((unsigned char)key.p[i]) && key.p[i] != '_')
            return key;
        if (isupper((unsigned char)key.p[i])) {
            if (i == 0)
                return key;
            buf_byte(&out, '_');
        }
        buf_byte(&out, (char)tolower((unsigned char)key.p[i]));
    }
    return arena_str(a, buf_str(&out));
}

enum { PATCH_DEPTH_MAX = 64 };

static struct value with_proto_names(struct arena *a, const struct value *v, int depth)
{
    struct value out;
    if (depth > PATCH_DEPTH_MAX)
        return value_null();
    if (value_is(v, VALUE_ARRAY)) {
        out = value_array();
        value_each_item (it, v)
            value_put_item(a, &out, with_proto_names(a, it, depth + 1));
        return out;
    }
    if (!value_is(v, VALUE_OBJECT))
        return v ? value_borrow(v) : value_null();
    out = value_object();
    value_each_field (f, v) {
        bool is_free =
            str_eq(f->key, STR("filter_metadata")) || str_eq(f->key, STR("filterMetadata"));
        value_put(a, &out, snake(a, f->key),
                  is_free ? value_borrow(&f->val) : with_proto_names(a, &f->val, depth + 1));
    }
    return out;
}

static bool is_for(const struct realm *w, const struct mesh_object *o, const struct mesh_proxy *p,
                   bool of_root)
{
    struct str ns = of_root ? w->settings.root_ns : p->ns;
    if (!str_eq(o->ns, ns) || (!of_root && str_eq(p->ns, w->settings.root_ns)))
        return false;
    return realm_selects(value_dig(o->spec, "workloadSelector", "labels"), p->labels);
}

struct ranked {
    int64_t priority;
    size_t order;
    const struct mesh_object *of;
};

static int by_priority(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    if (a->priority != b->priority)
        return a->priority < b->priority ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static size_t rank(const struct realm *w, const struct mesh_proxy *p, bool of_root,
                   struct ranked *out)
{
    size_t n = 0;
    for (size_t i = 0; i < w->of[MESH_ENVOY_FILTER].n; i++) {
        const struct mesh_object *o = w->of[MESH_ENVOY_FILTER].items[i];
        if (!is_for(w, o, p, of_root))
            continue;
        out[n] = (struct ranked){ 0, i, o };
        (void)value_to_int(value_get(o->spec, STR("priority")), &out[n].priority);
        n++;
    }
    if (n)
        qsort(out, n, sizeof(*out), by_priority);
    return n;
}

static bool is_here(const struct value *config, const char *place, const char *context)
{
    struct str given = value_str(value_dig(config, "match", "context"));
    return str_eq(value_text(config, "applyTo"), str_of(place)) &&
           (!given.n || str_eq(given, STR("ANY")) || str_eq(given, str_of(context)));
}

struct patches patch__list(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                           const char *place, const char *context)
{
    size_t n = w->of[MESH_ENVOY_FILTER].n, most = 0;
    struct ranked *all = arena_array(a, struct ranked, 2 * n + 1);
    size_t have = rank(w, p, true, all);
    have += rank(w, p, false, all + have);
    for (size_t i = 0; i < have; i++) {
        const struct value *configs = value_get(all[i].of->spec, STR("configPatches"));
        most += configs ? configs->n : 0;
    }
    struct patches out = { arena_array(a, struct patch, most + 1), 0 };
    for (size_t i = 0; i < have; i++) {
        value_each_item (c, value_get(all[i].of->spec, STR("configPatches"))) {
            if (!is_here(c, place, context))
                continue;
            out.items[out.n++] =
                (struct patch){ value_get(c, STR("match")),
                                value_str(value_dig(c, "patch", "operation")),
                                with_proto_names(a, value_dig(c, "patch", "value"), 0) };
        }
    }
    return out;
}

void patch__merge(struct arena *a, struct value *into, const struct value *from)
{
    value_each_field (f, from) {
        struct value *have = value_edit(a, into, f->key);
        if (have && have->type == VALUE_OBJECT && f->val.type == VALUE_OBJECT)
            patch__merge(a, have, &f->val);
        else if (have && have->type == VALUE_ARRAY && f->val.type == VALUE_ARRAY)
            tree_append(a, have, &f->val);
        else
            value_put(a, into, f->key, value_borrow(&f->val));
    }
}

static bool says(const struct patch *p, const char *operation)
{
    return str_eq(p->operation, str_of(operation));
}

static ptrdiff_t find(const struct value *list, struct str name)
{
    for (size_t i = 0; i < list->n; i++) {
        if (!name.n || str_eq(value_text(&list->items[i], "name"), name))
            return (ptrdiff_t)i;
    }
    return -1;
}

static void insert(struct arena *a, struct value *list, const struct patch *p, struct str name)
{
    ptrdiff_t at = find(list, name);
    if (says(p, "INSERT_FIRST") || (!name.n && says(p, "INSERT_BEFORE")))
        at = 0;
    else if (!name.n)
        at = (ptrdiff_t)list->n;
    else if (at >= 0 && says(p, "INSERT_AFTER"))
        at++;
    if (at >= 0)
        (void)value_insert(a, list, (size_t)at, value_borrow(&p->value));
}

void patch__list_apply(struct arena *a, struct value *list, const struct patch *p, struct str name)
{
    if (says(p, "ADD")) {
        value_put_item(a, list, value_borrow(&p->value));
    } else if (str_starts(p->operation, STR("INSERT_"))) {
        insert(a, list, p, name);
    } else if (says(p, "REPLACE")) {
        ptrdiff_t at = name.n ? find(list, name) : -1;
        if (at >= 0)
            *value_edit_at(a, list, (size_t)at) = value_borrow(&p->value);
    } else {
        for (size_t i = list->n; i-- > 0;) {
            if (name.n && !str_eq(value_text(&list->items[i], "name"), name))
                continue;
            if (says(p, "REMOVE"))
                value_remove_at(a, list, i);
            else if (says(p, "MERGE"))
                patch__merge(a, value_edit_at(a, list, i), &p->value);
        }
    }
}

const char *patch__context(const struct mesh_proxy *p, const struct value *listener)
{
    if (p->is_router)
        return "GATEWAY";
    return str_eq(value_text(listener, "traffic_direction"), STR("INBOUND")) ? "SIDECAR_INBOUND"
                                                                             : "SIDECAR_OUTBOUND";
}
