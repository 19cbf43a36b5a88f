#include "scheduler/owners.h"

#include <stdlib.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "base/banned.h"

struct owner {
    struct arena mem;
    struct str id, ns;
    enum owner_kind kind;
    struct labels_selector selector;
};

static const struct {
    struct str api_version, kind;
} kinds[] = {
    [OWNER_SERVICE] = { STR("v1"), STR("Service") },
    [OWNER_REPLICATION_CONTROLLER] = { STR("v1"), STR("ReplicationController") },
    [OWNER_REPLICA_SET] = { STR("apps/v1"), STR("ReplicaSet") },
    [OWNER_STATEFUL_SET] = { STR("apps/v1"), STR("StatefulSet") },
};

static struct str id_of(struct arena *a, enum owner_kind kind, struct str key)
{
    return arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(kinds[kind].kind), STR_ARG(key));
}

static void free_owner(struct owner *o)
{
    if (o)
        arena_done(&o->mem);
    free(o);
}

void owners_done(struct owners *o)
{
    struct str id;
    void *p;
    for (size_t pos = 0; map_next(&o->by_key, &pos, &id, &p);)
        free_owner(p);
    map_done(&o->by_key);
}

/* A plain map of labels is a selector, too. */
static struct labels_selector from_labels(struct arena *a, const struct value *labels)
{
    struct labels_selector s = { .nothing = !value_is(labels, VALUE_OBJECT) || !labels->n };
    if (s.nothing)
        return s;
    struct labels_req *reqs = arena_array(a, struct labels_req, labels->n);
    value_each_field (f, labels) {
        struct str *value = arena_new(a, struct str);
        *value = value_str(&f->val);
        reqs[s.n++] =
            (struct labels_req){ .key = f->key, .values = value, .n_values = 1, .op = LABELS_IN };
    }
    s.reqs = reqs;
    return s;
}

void owners_set(struct owners *all, enum owner_kind kind, const struct value *obj)
{
    struct owner *o = mem_new(struct owner);
    arena_init(&o->mem);
    const struct value *meta = value_get(obj, STR("metadata"));
    struct str name = value_text(meta, "name");
    o->ns = arena_str(&o->mem, value_text(meta, "namespace"));
    o->kind = kind;
    o->id = id_of(&o->mem, kind,
                  arena_printf(&o->mem, STR_FMT "/" STR_FMT, STR_ARG(o->ns), STR_ARG(name)));
    const struct value *selector = value_dig(obj, "spec", "selector");
    struct value *copy = arena_new(&o->mem, struct value);
    *copy = selector ? value_clone(&o->mem, selector) : value_null();
    struct err err = ERR_INIT(&o->mem);
    if (kind == OWNER_SERVICE || kind == OWNER_REPLICATION_CONTROLLER)
        o->selector = from_labels(&o->mem, copy);
    else if (labels_from_value(&o->mem, copy, &o->selector, &err) < 0)
        o->selector = (struct labels_selector){ .nothing = true };
    free_owner(map_set(&all->by_key, o->id, o));
}

void owners_remove(struct owners *o, enum owner_kind kind, struct str key)
{
    struct arena a;
    arena_init(&a);
    free_owner(map_remove(&o->by_key, id_of(&a, kind, key)));
    arena_done(&a);
}

static void add_reqs(struct arena *a, struct labels_selector *to, const struct labels_selector *s)
{
    if (s->nothing || !s->n)
        return;
    struct labels_req *reqs = arena_array(a, struct labels_req, to->n + s->n);
    if (to->n)
        memcpy(reqs, to->reqs, to->n * sizeof(*reqs));
    memcpy(reqs + to->n, s->reqs, s->n * sizeof(*reqs));
    to->reqs = reqs;
    to->n += s->n;
}

static const struct owner *owner_of(const struct owners *all, struct arena *a,
                                    const struct pod_facts *f)
{
    for (size_t i = OWNER_REPLICATION_CONTROLLER; i < ARRAY_LEN(kinds); i++)
        if (str_eq(f->owner_kind, kinds[i].kind) && str_eq(f->owner_version, kinds[i].api_version))
            return map_get(&all->by_key, id_of(a, (enum owner_kind)i,
                                               arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(f->ns),
                                                            STR_ARG(f->owner_name))));
    return NULL;
}

bool owners_selector(const struct owners *all, struct arena *a, const struct pod_facts *f,
                     struct labels_selector *ret)
{
    *ret = (struct labels_selector){ 0 };
    struct str id;
    void *p;
    for (size_t pos = 0; map_next(&all->by_key, &pos, &id, &p);) {
        const struct owner *o = p;
        if (o->kind == OWNER_SERVICE && str_eq(o->ns, f->ns) &&
            labels_match(&o->selector, f->labels.items, f->labels.n))
            add_reqs(a, ret, &o->selector);
    }
    const struct owner *by = f->owner_kind.n ? owner_of(all, a, f) : NULL;
    if (by)
        add_reqs(a, ret, &by->selector);
    return ret->n > 0;
}
