#include "server/flow/flow.h"

#include <math.h>
#include <stdlib.h>

#include "base/idiom.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/flow/flow_internal.h"
#include "server/object/stored.h"
#include "base/banned.h"

enum {
    LOOK_MS = 500, /* how often levels are asked what they want */
    LOOKS = 20,    /* after how many of that seats are dealt out anew; upstream: ten seconds */
};

static const struct str flow_group = STR("flowcontrol.apiserver.k8s.io");

int64_t flow__now(void)
{
    return clock_mono_ns(&clock_system);
}

/* ---- Counting objects and watches ---- */

static uint32_t mix(uint32_t hash, struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        hash = (hash ^ (unsigned char)s.p[i]) * 16777619u;
    return (hash ^ 0xff) * 16777619u;
}

atomic_uint *flow__bucket(atomic_uint *of, struct str group, struct str resource, struct str ns,
                          struct str name)
{
    uint32_t hash = mix(mix(mix(mix(2166136261u, group), resource), ns), name);
    return &of[(hash ^ hash >> 16) % FLOW_HASH_SLOTS];
}

void flow_set_objects(struct flow *f, struct str group, struct str resource, uint64_t n)
{
    atomic_uint *bucket = flow__bucket(f->objects, group, resource, STR(""), STR(""));
    atomic_store_explicit(bucket, n > UINT32_MAX ? UINT32_MAX : (unsigned)n, memory_order_relaxed);
}

/* ---- Levels ---- */

static struct flow_slot *slot_new(struct flow *f, struct str name)
{
    struct flow_slot *s = mem_new(struct flow_slot);
    s->level = flow_level_new(name, flow__now());
    s->next = f->slots;
    f->slots = s;
    return s;
}

static struct flow_slot *slot_free(struct flow_slot *s)
{
    while (s->series) {
        struct flow_series *next = s->series->next;
        free(s->series->schema);
        free(s->series);
        s->series = next;
    }
    flow_level_free(s->level);
    free(s);
    return NULL;
}

static struct flow_slot *slot_named(struct flow *f, struct str name)
{
    for (struct flow_slot *s = f->slots; s; s = s->next)
        if (str_eq(flow_level_name(s->level), name))
            return s;
    return slot_new(f, name);
}

/* The last one that fits is for all the others. */
static struct flow_series *series_named(struct flow_slot *slot, struct str schema)
{
    for (struct flow_series *s = slot->series; s; s = s->next)
        if (str_eq(str_of(s->schema), schema))
            return s;
    if (slot->n_series == LIMIT_FLOW_SCHEMAS - 1 && !str_eq(schema, STR("other")))
        return series_named(slot, STR("other"));
    struct flow_series *s = mem_new(struct flow_series);
    s->schema = mem_zalloc(schema.n + 1);
    memcpy(s->schema, schema.p, schema.n);
    slot->n_series++;
    s->next = slot->series;
    slot->series = s;
    return s;
}

static bool is_idle(struct flow_level *level)
{
    const struct flow_level_state s = flow_level_look(level);
    return !s.seats_used && !s.n_waiting;
}

static void drop_unused(struct flow *f)
{
    for (struct flow_slot **at = &f->slots; *at;) {
        struct flow_slot *s = *at;
        if (s->is_wanted || s->n_retiring || !is_idle(s->level)) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        slot_free(s);
    }
}

/* ---- Dealing out seats ---- */

static void set_share(struct flow_share *s, const struct flow_level_spec *spec, uint32_t total,
                      double all_shares)
{
    double own = all_shares > 0 ? ceil(total * (spec->shares / all_shares)) : 0;
    double lends = round(own * spec->lendable_percent / 100),
           borrows =
               spec->borrowing_percent < 0 ? total : round(own * spec->borrowing_percent / 100);
    s->is_exempt = spec->is_exempt;
    s->nominal = (uint32_t)own;
    s->least = (uint32_t)(own - lends);
    s->most = (uint32_t)(own + borrows);
}

static void deal_out(struct flow *f)
{
    size_t n = 0;
    for (const struct flow_slot *s = f->slots; s; s = s->next)
        n += s->is_wanted;
    autofree struct flow_share *shares = mem_array(n ? n : 1, sizeof(*shares));
    n = 0;
    for (const struct flow_slot *s = f->slots; s; s = s->next)
        if (s->is_wanted)
            shares[n++] = s->share;
    flow_borrow(shares, n);
    n = 0;
    for (struct flow_slot *s = f->slots; s; s = s->next) {
        if (!s->is_wanted)
            continue;
        s->share = shares[n++];
        flow_level_set_seats(s->level, s->share.seats, flow__now());
    }
}

static void on_look(struct loop_timer *t) /* thread: first loop */
{
    struct flow *f = container_of(t, struct flow, look);
    if (pthread_mutex_trylock(&f->lock) == 0) { /* who reads the store now deals out anyhow */
        for (struct flow_slot *s = f->slots; s; s = s->next) {
            const struct flow_level_state now = flow_level_look(s->level);
            flow_demand_look(&s->share.demand, now.seats_used + now.seats_waiting);
        }
        if (++f->n_looks % LOOKS == 0)
            deal_out(f);
        pthread_mutex_unlock(&f->lock);
    }
    loop_timer_set(f->loops[0], t, loop_now_ns(f->loops[0]) + LOOK_MS * NS_PER_MS);
}

/* ---- Following the store ---- */

typedef void add_fn(struct flow_rules *r, const struct value *obj);

static const struct {
    struct str plural;
    add_fn *add;
} followed[] = {
    { STR("prioritylevelconfigurations"), flow_rules_add_level },
    { STR("flowschemas"), flow_rules_add_schema },
};

static int read_kind(struct store_snap *snap, struct str plural, add_fn *add, struct flow_rules *r,
                     struct err *err)
{
    const struct kind_resource *stored = kind_stored_named(flow_group, plural);
    struct arena a;
    struct store_entry e;
    struct value obj;
    int n;
    arena_init(&a);
    store_range_begin(snap, stored_key(&a, stored, STR(""), STR("")), STR(""));
    while ((n = store_range_next(snap, &e, err)) > 0) {
        n = stored_read(&a, stored->type, &e, &obj, err);
        if (n < 0)
            break;
        add(r, &obj);
    }
    arena_done(&a);
    return n < 0 ? err_wrap(err, "read " STR_FMT, STR_ARG(plural)) : 0;
}

static int read_kinds(struct store_snap *snap, struct flow_rules *r, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(followed); i++) {
        int n = read_kind(snap, followed[i].plural, followed[i].add, r, err);
        if (n < 0)
            return n;
    }
    return 0;
}

static int read_all(struct flow *f, struct flow_rules *r, struct err *err)
{
    struct store_snap *snap;
    int n = store_snap_begin(f->store, 0, &snap, err);
    if (n < 0)
        return n;
    n = read_kinds(snap, r, err);
    store_snap_end(snap);
    return n;
}

/* Each level of the index gets its slot, each schema its series. */
static void place(struct flow *f, struct flow_rules *r)
{
    struct flow_level_spec *levels;
    struct flow_schema *schemas;
    size_t n_levels = flow_rules_levels(r, &levels), n_schemas = flow_rules_schemas(r, &schemas);
    uint32_t total = f->options.reads + f->options.writes;
    double all_shares = 0;
    for (struct flow_slot *s = f->slots; s; s = s->next)
        s->is_wanted = false;
    for (size_t i = 0; i < n_levels; i++)
        all_shares += levels[i].shares;
    for (size_t i = 0; i < n_levels; i++) {
        struct flow_slot *slot = levels[i].state = slot_named(f, levels[i].name);
        slot->is_wanted = true;
        set_share(&slot->share, &levels[i], total, all_shares);
        atomic_store(&slot->most_seats, flow_width_most(slot->share.nominal, levels[i].hand_size));
        flow_level_set(slot->level, &levels[i], slot->share.nominal, flow__now());
    }
    for (size_t i = 0; i < n_schemas; i++)
        schemas[i].state = series_named(schemas[i].level->state, schemas[i].name);
    deal_out(f);
}

struct retired_rules {
    struct flow *flow;
    struct flow_rules *rules;
};

static void count_retiring(struct flow_rules *r, int more)
{
    struct flow_level_spec *levels;
    size_t n = flow_rules_levels(r, &levels);
    for (size_t i = 0; i < n; i++)
        ((struct flow_slot *)levels[i].state)->n_retiring += (size_t)more;
}

static void release_rules(void *block)
{
    struct retired_rules *old = block;
    count_retiring(old->rules, -1);
    flow_rules_free(old->rules);
    free(old);
}

static void replace(struct flow *f, struct flow_rules *r)
{
    place(f, r);
    struct flow_rules *was = atomic_exchange(&f->rules, r);
    if (was) {
        struct retired_rules *old = mem_new(struct retired_rules);
        *old = (struct retired_rules){ f, was };
        count_retiring(was, 1);
        retire_keep(&f->retire, old, release_rules);
    }
    retire_rest(&f->retire);
    drop_unused(f);
}

int flow_load(struct flow *f, struct err *err)
{
    if (f->options.is_off)
        return 0;
    struct flow_rules *r = flow_rules_new();
    pthread_mutex_lock(&f->lock);
    int n = read_all(f, r, err);
    if (n < 0) {
        flow_rules_free(r);
    } else {
        flow_rules_seal(r);
        replace(f, r);
    }
    pthread_mutex_unlock(&f->lock);
    return n;
}

static bool is_followed(const struct kind_resource *stored)
{
    if (!str_eq(stored->group, flow_group))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(followed); i++)
        if (str_eq(stored->plural, followed[i].plural))
            return true;
    return false;
}

bool flow_changed(struct flow *f, const struct kind_resource *stored)
{
    if (!f || !is_followed(stored))
        return false;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    if (flow_load(f, &err) < 0) /* the ones from before stay */
        log_error("flow schemas and priority levels could not be read", LOG_ERR(&err));
    arena_done(&a);
    return true;
}

/* ---- Beginning and end ---- */

static struct flow_level *simple_level(struct str name, uint32_t seats)
{
    struct flow_level *l = flow_level_new(name, flow__now());
    const struct flow_level_spec spec = { .name = name, .is_exempt = !seats };
    flow_level_set(l, &spec, seats, flow__now());
    return l;
}

struct flow *flow_new(struct store *store, const struct flow_options *opt)
{
    struct flow *f = mem_new(struct flow);
    f->store = store;
    f->options = *opt;
    if (!opt->reads && !opt->writes) {
        f->options.reads = FLOW_READS_DEFAULT;
        f->options.writes = FLOW_WRITES_DEFAULT;
    }
    if (!opt->wait_ms || opt->wait_ms > LIMIT_REQUEST_MS / 2) /* it must be over before that */
        f->options.wait_ms = FLOW_WAIT_MS;
    f->look.on_fire = on_look;
    pthread_mutex_init(&f->lock, NULL);
    for (size_t i = 0; i < API_LOOPS_MAX; i++) {
        TAILQ_INIT(&f->by_loop[i].tickets);
        TAILQ_INIT(&f->by_loop[i].lingering);
    }
    if (opt->is_off) {
        f->reads = simple_level(STR("reads"), f->options.reads);
        f->writes = simple_level(STR("writes"), f->options.writes);
    }
    return f;
}

void flow_serve(struct flow *f, struct loop *const *loops, size_t n_loops)
{
    memcpy(f->loops, loops, n_loops * sizeof(*loops));
    f->n_loops = n_loops;
    retire_serve(&f->retire, loops, n_loops);
    if (!f->options.is_off)
        loop_timer_set(loops[0], &f->look, flow__now() + LOOK_MS * NS_PER_MS);
}

struct flow *flow_free(struct flow *f)
{
    if (!f)
        return NULL;
    flow__free_lingering(f);
    retire_done(&f->retire);
    flow_rules_free(atomic_load(&f->rules));
    while (f->slots) {
        struct flow_slot *next = f->slots->next;
        slot_free(f->slots);
        f->slots = next;
    }
    flow_level_free(f->reads);
    flow_level_free(f->writes);
    pthread_mutex_destroy(&f->lock);
    free(f);
    return NULL;
}
