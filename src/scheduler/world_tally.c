#include "scheduler/world_tally.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/banned.h"

void world_tally_grow(struct world *w)
{
    for (size_t i = 0; i < w->n_tallies; i++)
        w->tallies[i]->counts = mem_resize(w->tallies[i]->counts, w->cap, sizeof(uint32_t));
}

static bool counts_in(const struct tally *t, const struct pod_facts *f)
{
    return !f->is_deleting && str_eq(f->ns, t->ns) &&
           labels_match(&t->selector, f->labels.items, f->labels.n);
}

static void count_node(struct tally *t, const struct sched_node *n)
{
    t->counts[n->slot] = 0;
    for (size_t i = 0; i < n->n_pods; i++)
        t->counts[n->slot] += counts_in(t, n->pods[i]->f);
}

void world_tally_recount(struct world *w, const struct sched_node *n)
{
    for (size_t i = 0; i < w->n_tallies; i++)
        count_node(w->tallies[i], n);
}

void world_tally_move(struct world *w, size_t from, size_t to)
{
    for (size_t i = 0; i < w->n_tallies; i++)
        w->tallies[i]->counts[to] = w->tallies[i]->counts[from];
}

void world_tally_count(struct world *w, const struct sched_node *n, const struct pod_facts *f,
                       int delta)
{
    for (size_t i = 0; n->slot != SIZE_MAX && i < w->n_tallies; i++)
        if (counts_in(w->tallies[i], f))
            w->tallies[i]->counts[n->slot] += (uint32_t)delta;
}

static void free_tally(struct tally *t)
{
    arena_done(&t->mem);
    free(t->counts);
    free(t);
}

void world_tally_done(struct world *w)
{
    for (size_t i = 0; i < w->n_tallies; i++)
        free_tally(w->tallies[i]);
    w->n_tallies = 0;
}

/* A place for a new one: the next, or that of the one which was not used for longest. */
static struct tally **vacate(struct world *w)
{
    if (w->n_tallies < WORLD_TALLIES_MAX)
        return &w->tallies[w->n_tallies++];
    size_t oldest = 0;
    for (size_t i = 1; i < w->n_tallies; i++)
        if (w->tallies[i]->used_at < w->tallies[oldest]->used_at)
            oldest = i;
    free_tally(w->tallies[oldest]);
    return &w->tallies[oldest];
}

/* The selector's parts may belong to a pod that goes, so all of it is copied. */
static struct labels_selector copy_selector(struct arena *a, const struct labels_selector *s)
{
    struct labels_req *reqs = arena_array(a, struct labels_req, s->n + 1);
    for (size_t i = 0; i < s->n; i++) {
        reqs[i] = s->reqs[i];
        reqs[i].key = arena_str(a, s->reqs[i].key);
        struct str *values = arena_array(a, struct str, s->reqs[i].n_values + 1);
        for (uint32_t k = 0; k < s->reqs[i].n_values; k++)
            values[k] = arena_str(a, s->reqs[i].values[k]);
        reqs[i].values = values;
    }
    return (struct labels_selector){ .reqs = reqs, .n = s->n, .nothing = s->nothing };
}

static struct tally *make(struct world *w, struct str ns, struct str text,
                          const struct labels_selector *s)
{
    struct tally *t = mem_new(struct tally);
    arena_init(&t->mem);
    t->ns = arena_str(&t->mem, ns);
    t->text = arena_str(&t->mem, text);
    t->selector = copy_selector(&t->mem, s);
    t->counts = mem_array(w->cap ? w->cap : 1, sizeof(uint32_t));
    for (size_t i = 0; i < w->n_nodes; i++)
        count_node(t, w->nodes[i]);
    *vacate(w) = t;
    return t;
}

const struct tally *world_tally(struct world *w, struct str ns, const struct labels_selector *s)
{
    autobuf text = { 0 };
    labels_write(&text, s);
    buf_byte(&text, s->nothing ? '-' : '+');
    struct tally *t = NULL;
    for (size_t i = 0; !t && i < w->n_tallies; i++)
        if (str_eq(w->tallies[i]->text, buf_str(&text)) && str_eq(w->tallies[i]->ns, ns))
            t = w->tallies[i];
    if (!t)
        t = make(w, ns, buf_str(&text), s);
    t->used_at = ++w->clock;
    return t;
}
