#include "scheduler/world.h"

#include <stdlib.h>

#include "api/quantity.h"
#include "base/mem.h"
#include "scheduler/world_tally.h"
#include "base/banned.h"

/* ---- Nodes ---- */

struct image_count {
    struct str name;
    unsigned nodes;
};

struct space {
    struct arena mem;
    struct str name;
    struct label_set labels;
};

static struct str own(struct str s)
{
    return (struct str){ mem_dup(s.p, s.n), s.n };
}

static void disown(struct str s)
{
    free((void *)(uintptr_t)s.p);
}

void world_init(struct world *w)
{
    *w = (struct world){ 0 };
    resource_table_init(&w->resources);
}

struct sched_node *world_any_node(struct world *w, struct str name)
{
    struct sched_node *n = map_get(&w->by_name, name);
    if (n)
        return n;
    n = mem_new(struct sched_node);
    arena_init(&n->mem);
    n->name = own(name);
    n->slot = SIZE_MAX;
    map_set(&w->by_name, n->name, n);
    return n;
}

struct sched_node *world_node(struct world *w, struct str name)
{
    struct sched_node *n = map_get(&w->by_name, name);
    return n && n->slot != SIZE_MAX ? n : NULL;
}

static void free_node(struct sched_node *n)
{
    arena_done(&n->mem);
    disown(n->name);
    free(n->pods);
    free(n);
}

static void count_image(struct world *w, struct str name, int delta)
{
    struct image_count *c = map_get(&w->images, name);
    if (!c && delta > 0) {
        c = mem_new(struct image_count);
        c->name = own(name);
        map_set(&w->images, c->name, c);
    }
    if (!c)
        return;
    c->nodes += (unsigned)delta;
    if (c->nodes == 0) {
        map_remove(&w->images, c->name);
        disown(c->name);
        free(c);
    }
}

unsigned world_image_nodes(struct world *w, struct str image)
{
    const struct image_count *c = map_get(&w->images, image);
    return c ? c->nodes : 0;
}

static void count_images(struct world *w, const struct sched_node *n, int delta)
{
    for (size_t i = 0; i < n->n_images; i++)
        count_image(w, n->images[i].name, delta);
}

static void read_images(struct sched_node *n, const struct value *list)
{
    size_t names = 0;
    value_each_item (it, list)
        value_each_item (name, value_get(it, STR("names")))
            names += value_is(name, VALUE_STRING);
    n->images = arena_array(&n->mem, struct node_image, names + 1);
    n->n_images = 0;
    value_each_item (it, list) {
        int64_t bytes = 0;
        (void)value_to_int(value_get(it, STR("sizeBytes")), &bytes);
        value_each_item (name, value_get(it, STR("names")))
            if (value_is(name, VALUE_STRING))
                n->images[n->n_images++] = (struct node_image){ value_str(name), bytes };
    }
}

static void read_taints(struct sched_node *n, const struct value *list)
{
    n->n_taints = 0;
    n->taints = arena_array(&n->mem, struct taint, (value_is(list, VALUE_ARRAY) ? list->n : 0) + 1);
    value_each_item (it, list)
        n->taints[n->n_taints++] = taint_read(it);
}

static void read_resources(struct world *w, struct sched_node *n, const struct value *list)
{
    memset(n->has, 0, sizeof(n->has));
    n->max_pods = 0;
    value_each_field (f, list) {
        struct str text = value_str(&f->val);
        int64_t units = 0;
        bool is_cpu = str_eq(f->key, STR("cpu"));
        if (!text.n || !quantity_units(text, is_cpu, &units))
            continue;
        if (str_eq(f->key, STR("pods"))) {
            n->max_pods = units;
            continue;
        }
        int id = resource_table_id(&w->resources, f->key);
        if (id >= 0)
            n->has[id] = units;
    }
}

static bool same_taints(const struct sched_node *a, const struct sched_node *b)
{
    bool same = a->n_taints == b->n_taints && a->is_unschedulable == b->is_unschedulable;
    for (size_t i = 0; same && i < a->n_taints; i++)
        same = str_eq(a->taints[i].key, b->taints[i].key) &&
               str_eq(a->taints[i].value, b->taints[i].value) &&
               str_eq(a->taints[i].effect, b->taints[i].effect);
    return same;
}

static unsigned compare_nodes(const struct sched_node *old, const struct sched_node *n)
{
    unsigned changed = 0;
    if (old->max_pods != n->max_pods || memcmp(old->has, n->has, sizeof(n->has)) != 0)
        changed |= NODE_HAS_CHANGED;
    if (!label_set_eq(old->labels, n->labels))
        changed |= NODE_LABELS_CHANGED;
    if (!same_taints(old, n))
        changed |= NODE_TAINTS_CHANGED;
    return changed;
}

static void make_known(struct world *w, struct sched_node *n)
{
    if (w->n_nodes == w->cap) {
        w->cap = w->cap ? w->cap * 2 : 64;
        w->nodes = mem_resize(w->nodes, w->cap, sizeof(struct sched_node *));
        world_tally_grow(w);
    }
    n->slot = w->n_nodes;
    w->nodes[w->n_nodes++] = n;
    world_tally_recount(w, n);
}

unsigned world_set_node(struct world *w, const struct value *node)
{
    const struct value *meta = value_get(node, STR("metadata"));
    const struct value *spec = value_get(node, STR("spec"));
    const struct value *status = value_get(node, STR("status"));
    struct sched_node *n = world_any_node(w, value_text(meta, "name"));
    struct sched_node old = *n;
    count_images(w, n, -1);
    arena_init(&n->mem);
    struct value *labels = arena_new(&n->mem, struct value);
    *labels = value_null();
    if (value_get(meta, STR("labels")))
        *labels = value_clone(&n->mem, value_get(meta, STR("labels")));
    struct value taints = value_null(), images = value_null();
    if (value_get(spec, STR("taints")))
        taints = value_clone(&n->mem, value_get(spec, STR("taints")));
    if (value_get(status, STR("images")))
        images = value_clone(&n->mem, value_get(status, STR("images")));
    n->labels = label_set_read(&n->mem, labels);
    n->is_unschedulable = value_is_true(value_get(spec, STR("unschedulable")));
    read_taints(n, &taints);
    read_images(n, &images);
    read_resources(w, n, value_get(status, STR("allocatable")));
    count_images(w, n, 1);
    unsigned changed = n->slot == SIZE_MAX ? NODE_ADDED : compare_nodes(&old, n);
    arena_done(&old.mem);
    if (n->slot == SIZE_MAX)
        make_known(w, n);
    return changed;
}

void world_remove_node(struct world *w, struct str name)
{
    struct sched_node *n = world_node(w, name);
    if (!n)
        return;
    count_images(w, n, -1);
    n->n_images = 0;
    struct sched_node *last = w->nodes[--w->n_nodes];
    w->nodes[n->slot] = last;
    world_tally_move(w, w->n_nodes, n->slot);
    last->slot = n->slot;
    n->slot = SIZE_MAX;
    if (n->n_pods == 0) {
        map_remove(&w->by_name, n->name);
        free_node(n);
    }
}

/* ---- Pods on nodes ---- */

static void count_pod(struct world *w, struct sched_node *n, const struct pod_facts *f, int delta)
{
    for (size_t i = 0; i < f->n_amounts; i++)
        if (f->amounts[i].id >= 0)
            n->used[f->amounts[i].id] += delta * f->amounts[i].n;
    n->scored_cpu += delta * f->scored_cpu;
    n->scored_memory += delta * f->scored_memory;
    unsigned terms = pod_facts_have_terms(f), anti = f->anti.n > 0;
    n->n_ports += (unsigned)delta * (f->n_ports > 0);
    n->n_terms += (unsigned)delta * terms;
    n->n_anti += (unsigned)delta * anti;
    w->n_terms += (unsigned)delta * terms;
    w->n_anti += (unsigned)delta * anti;
    w->n_volumes += (unsigned)delta * (f->n_volumes > 0);
    world_tally_count(w, n, f, delta);
}

void world_place(struct world *w, struct sched_pod *p, struct sched_node *n)
{
    if (n->n_pods == n->cap) {
        n->cap = n->cap ? n->cap * 2 : 8;
        n->pods = mem_resize(n->pods, n->cap, sizeof(struct sched_pod *));
    }
    p->on = n;
    p->place = n->n_pods;
    n->pods[n->n_pods++] = p;
    count_pod(w, n, p->f, 1);
}

void world_unplace(struct world *w, struct sched_pod *p)
{
    struct sched_node *n = p->on;
    if (!n)
        return;
    count_pod(w, n, p->f, -1);
    struct sched_pod *last = n->pods[--n->n_pods];
    n->pods[p->place] = last;
    last->place = p->place;
    p->on = NULL;
    if (n->n_pods == 0 && n->slot == SIZE_MAX) {
        map_remove(&w->by_name, n->name);
        free_node(n);
    }
}

struct sched_pod *world_pod(struct world *w, struct str key)
{
    return map_get(&w->pods, key);
}

/* A pod that has ended takes no room. An assumed one stays where we have put it until the server
 * says where it is. */
static void settle(struct world *w, struct sched_pod *p)
{
    if (p->f->is_final)
        p->is_assumed = false;
    else if (p->f->node_name.n)
        world_place(w, p, world_any_node(w, p->f->node_name));
    if (p->f->node_name.n)
        p->is_assumed = false;
}

struct sched_pod *world_set_pod(struct world *w, struct pod_facts *f)
{
    struct sched_pod *p = map_get(&w->pods, f->key);
    if (!p)
        p = mem_new(struct sched_pod);
    /* The node may be freed with its last pod, so its name is looked for anew. */
    struct str assumed = { 0 };
    if (p->is_assumed && p->on && !f->node_name.n && !f->is_final)
        assumed = arena_str(&f->mem, p->on->name);
    world_unplace(w, p);
    struct pod_facts *old = p->f;
    p->f = f;
    map_set(&w->pods, f->key, p);
    pod_facts_free(old);
    if (assumed.n)
        world_place(w, p, world_any_node(w, assumed));
    else
        settle(w, p);
    return p;
}

struct sched_pod *world_remove_pod(struct world *w, struct str key)
{
    struct sched_pod *p = map_remove(&w->pods, key);
    if (!p)
        return NULL;
    world_nominate(w, p, (struct str){ 0 });
    world_unplace(w, p);
    return p;
}

struct sched_pod *world_free_pod(struct sched_pod *p)
{
    if (!p)
        return NULL;
    pod_facts_free(p->f);
    disown(p->nominated);
    free(p);
    return NULL;
}

void world_nominate(struct world *w, struct sched_pod *p, struct str node)
{
    if (str_eq(p->nominated, node))
        return;
    for (size_t i = 0; p->nominated.n && i < w->n_nominated; i++)
        if (w->nominated[i] == p) {
            w->nominated[i] = w->nominated[--w->n_nominated];
            break;
        }
    disown(p->nominated);
    p->nominated = node.n ? own(node) : (struct str){ 0 };
    if (!node.n)
        return;
    if (w->n_nominated == w->nominated_cap) {
        w->nominated_cap = w->nominated_cap ? w->nominated_cap * 2 : 16;
        w->nominated = mem_resize(w->nominated, w->nominated_cap, sizeof(struct sched_pod *));
    }
    w->nominated[w->n_nominated++] = p;
}

/* ---- Namespaces ---- */

static void free_space(struct space *s)
{
    if (!s)
        return;
    arena_done(&s->mem);
    free(s);
}

void world_set_namespace(struct world *w, struct str name, const struct value *labels)
{
    struct space *s = mem_new(struct space);
    arena_init(&s->mem);
    s->name = arena_str(&s->mem, name);
    struct value *copy = arena_new(&s->mem, struct value);
    *copy = labels ? value_clone(&s->mem, labels) : value_null();
    s->labels = label_set_read(&s->mem, copy);
    free_space(map_set(&w->namespaces, s->name, s));
}

void world_remove_namespace(struct world *w, struct str name)
{
    free_space(map_remove(&w->namespaces, name));
}

struct label_set world_namespace(struct world *w, struct str name)
{
    const struct space *s = map_get(&w->namespaces, name);
    return s ? s->labels : (struct label_set){ 0 };
}

/* ---- The end ---- */

void world_done(struct world *w)
{
    struct str key;
    void *p;
    for (size_t pos = 0; map_next(&w->pods, &pos, &key, &p);)
        world_free_pod(p);
    for (size_t pos = 0; map_next(&w->by_name, &pos, &key, &p);)
        free_node(p);
    for (size_t pos = 0; map_next(&w->namespaces, &pos, &key, &p);)
        free_space(p);
    for (size_t pos = 0; map_next(&w->images, &pos, &key, &p);) {
        disown(((struct image_count *)p)->name);
        free(p);
    }
    map_done(&w->pods);
    map_done(&w->by_name);
    map_done(&w->namespaces);
    map_done(&w->images);
    world_tally_done(w);
    free(w->nominated);
    free(w->nodes);
    resource_table_done(&w->resources);
}
