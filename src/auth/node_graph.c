#include "auth/node_graph.h"

#include <assert.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/banned.h"

struct thing;

/* A step from one thing to another. */
struct step {
    struct thing *from, *to;
};

/* All steps that one object has made. */
struct record {
    size_t n, cap;
    struct step *steps;
};

struct thing {
    uint32_t n_refs; /* steps that it is part of */
    enum node_thing type;
    struct thing **next; /* where it leads to beside nodes; once for each step */
    size_t n_next, cap_next;
    struct record record; /* of an object that was set */
    size_t n_key;
    char key[];
};

/* Steps from a thing to a node, counted. */
struct link {
    struct step step; /* its bytes are the key */
    size_t n;
};

struct node_graph {
    struct map things; /* by key */
    struct map links;  /* by step */
};

/* ---- Things ---- */

/* Names and namespaces have no slash. */
static void write_key(struct buf *out, enum node_thing type, struct str ns, struct str name)
{
    buf_byte(out, (char)('a' + type));
    buf_str_add(out, ns);
    buf_byte(out, '/');
    buf_str_add(out, name);
}

static struct thing *find(const struct node_graph *g, enum node_thing type, struct str ns,
                          struct str name)
{
    autobuf key = { 0 };
    write_key(&key, type, ns, name);
    return map_get(&g->things, buf_str(&key));
}

static struct thing *ensure(struct node_graph *g, enum node_thing type, struct str ns,
                            struct str name)
{
    autobuf key = { 0 };
    write_key(&key, type, ns, name);
    struct thing *t = map_get(&g->things, buf_str(&key));
    if (t)
        return t;
    t = mem_zalloc(sizeof(*t) + key.n);
    t->type = type;
    t->n_key = key.n;
    memcpy(t->key, key.p, key.n);
    (void)map_set(&g->things, (struct str){ t->key, t->n_key }, t);
    return t;
}

static void free_thing(struct thing *t)
{
    free(t->next);
    free(t->record.steps);
    free(t);
}

static void unref(struct node_graph *g, struct thing *t)
{
    if (--t->n_refs)
        return;
    assert(!t->n_next && !t->record.n);
    (void)map_remove(&g->things, (struct str){ t->key, t->n_key });
    free_thing(t);
}

/* ---- Steps ---- */

static struct str step_key(const struct step *s)
{
    return (struct str){ (const char *)s, sizeof(*s) };
}

static void add_link(struct node_graph *g, struct step s)
{
    struct link *l = map_get(&g->links, step_key(&s));
    if (!l) {
        l = mem_new(struct link);
        l->step = s;
        (void)map_set(&g->links, step_key(&l->step), l);
    }
    l->n++;
}

static void drop_link(struct node_graph *g, struct step s)
{
    struct link *l = map_get(&g->links, step_key(&s));
    assert(l);
    if (--l->n)
        return;
    (void)map_remove(&g->links, step_key(&s));
    free(l);
}

static void add_next(struct thing *from, struct thing *to)
{
    if (from->n_next == from->cap_next) {
        from->cap_next = from->cap_next ? 2 * from->cap_next : 1;
        from->next = mem_resize(from->next, from->cap_next, sizeof(struct thing *));
    }
    from->next[from->n_next++] = to;
}

static void drop_next(struct thing *from, const struct thing *to)
{
    size_t i = 0;
    while (from->next[i] != to)
        i++;
    from->next[i] = from->next[--from->n_next];
}

static void add_step(struct node_graph *g, struct record *r, struct thing *from, struct thing *to)
{
    struct step s = { from, to };
    if (to->type == NODE_THING_NODE)
        add_link(g, s);
    else
        add_next(from, to);
    from->n_refs++;
    to->n_refs++;
    if (r->n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 4;
        r->steps = mem_resize(r->steps, r->cap, sizeof(struct step));
    }
    r->steps[r->n++] = s;
}

static void drop_record(struct node_graph *g, struct record *r)
{
    for (size_t i = 0; i < r->n; i++) {
        struct step s = r->steps[i];
        if (s.to->type == NODE_THING_NODE)
            drop_link(g, s);
        else
            drop_next(s.from, s.to);
        unref(g, s.from);
        unref(g, s.to);
    }
    free(r->steps);
}

/* ---- What objects say ---- */

/* One object on its way into the graph. */
struct entry {
    struct node_graph *graph;
    struct record record;
    struct thing *self;
    struct thing *node;
};

/* What a pod refers to leads to its node. */
static void take_of_pod(void *to, enum node_thing type, struct str ns, struct str name)
{
    struct entry *e = to;
    add_step(e->graph, &e->record, ensure(e->graph, type, ns, name), e->node);
}

static void take_of_volume(void *to, enum node_thing type, struct str ns, struct str name)
{
    struct entry *e = to;
    add_step(e->graph, &e->record, ensure(e->graph, type, ns, name), e->self);
}

/* A node must not get at other objects by pods that it makes itself. */
static void enter_pod(struct entry *e, const struct value *pod)
{
    if (node_refs_is_mirror(pod))
        return;
    struct arena a;
    arena_init(&a);
    node_refs_of_pod(&a, pod, take_of_pod, e);
    arena_done(&a);
}

static void enter_volume(struct entry *e, const struct value *volume)
{
    const struct value *claim = value_dig(volume, "spec", "claimRef");
    if (!claim)
        return;
    add_step(e->graph, &e->record, e->self,
             ensure(e->graph, NODE_THING_CLAIM, value_text(claim, "namespace"),
                    value_text(claim, "name")));
    node_refs_of_volume(volume, take_of_volume, e);
}

static void enter(struct entry *e, const struct value *obj)
{
    struct str node = value_str(value_dig(obj, "spec", "nodeName"));
    if (e->self->type == NODE_THING_VOLUME) {
        enter_volume(e, obj);
        return;
    }
    if (!node.n)
        return;
    e->node = ensure(e->graph, NODE_THING_NODE, STR(""), node);
    add_step(e->graph, &e->record, e->self, e->node);
    if (e->self->type == NODE_THING_POD)
        enter_pod(e, obj);
}

void node_graph_set(struct node_graph *g, enum node_thing thing, struct str ns, struct str name,
                    const struct value *obj)
{
    struct thing *self = obj ? ensure(g, thing, ns, name) : find(g, thing, ns, name);
    if (!self)
        return;
    struct entry e = { .graph = g, .self = self };
    struct record old = self->record;
    self->n_refs++; /* stays until the end */
    if (obj)
        enter(&e, obj);
    self->record = e.record;
    drop_record(g, &old);
    unref(g, self);
}

/* ---- Questions ---- */

/* Ways have three steps at most: from a secret to a volume, its claim, and the node. */
static bool leads(const struct node_graph *g, struct thing *from, struct thing *node)
{
    const struct step s = { from, node };
    if (map_get(&g->links, step_key(&s)))
        return true;
    for (size_t i = 0; i < from->n_next; i++)
        if (leads(g, from->next[i], node))
            return true;
    return false;
}

bool node_graph_leads(const struct node_graph *g, enum node_thing thing, struct str ns,
                      struct str name, struct str node)
{
    struct thing *to = find(g, NODE_THING_NODE, STR(""), node);
    struct thing *from = to ? find(g, thing, ns, name) : NULL;
    return from && leads(g, from, to);
}

struct node_graph_size node_graph_size(const struct node_graph *g)
{
    return (struct node_graph_size){ g->links.n, g->things.n };
}

/* ---- Beginning and end ---- */

struct node_graph *node_graph_new(void)
{
    return mem_new(struct node_graph);
}

struct node_graph *node_graph_free(struct node_graph *g)
{
    struct str key;
    void *p;
    if (!g)
        return NULL;
    for (size_t pos = 0; map_next(&g->links, &pos, &key, &p);)
        free(p);
    for (size_t pos = 0; map_next(&g->things, &pos, &key, &p);)
        free_thing(p);
    map_done(&g->links);
    map_done(&g->things);
    free(g);
    return NULL;
}
