#include "server/port_repair.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "server/core/chore.h"
#include "server/object/stored.h"
#include "server/registry/service_claim.h"
#include "base/banned.h"

#define EVERY_NS (180 * NS_PER_SEC)
enum { PORTS = 65536, MOST_OF_ONE = LIMIT_STORE_TXN_OPS - 1 };

struct port_repair {
    struct api *api;
    struct chore *chore;
};

/* What one look has found; all of it in the arena. */
struct look {
    struct arena *a;
    struct store_snap *snap;
    bool noted[PORTS], used[PORTS];
    struct store_txn *txns; /* to be committed, each alone */
    size_t n, room;
    struct port_repairs repairs;
    struct err *err;
};

/* ---- What is there ---- */

/* 0: the key is no port's. */
static uint32_t port_of(struct str key)
{
    uint64_t port;
    struct str number = str_skip(key, SERVICE_PORT_PREFIX.n);
    return str_to_u64(number, &port) && port < PORTS ? (uint32_t)port : 0;
}

static int read_notes(struct look *l)
{
    struct store_entry e;
    int r;
    store_range_begin(l->snap, SERVICE_PORT_PREFIX, STR(""));
    while ((r = store_range_next(l->snap, &e, l->err)) == 1 || r == -ERR_DAMAGED)
        l->noted[port_of(e.key)] = true;
    return r;
}

static void add_txn(struct look *l, const struct store_op *ops, size_t n)
{
    if (l->n == l->room) {
        size_t room = l->room ? 2 * l->room : 16;
        struct store_txn *txns = arena_array(l->a, struct store_txn, room);
        if (l->n)
            memcpy(txns, l->txns, l->n * sizeof(*txns));
        l->txns = txns;
        l->room = room;
    }
    struct store_op *copy = arena_array(l->a, struct store_op, n);
    memcpy(copy, ops, n * sizeof(*copy));
    l->txns[l->n++] = (struct store_txn){ .ops = copy, .n_ops = n };
}

/* ---- Ports that are not noted ---- */

static struct store_op note_port(struct look *l, struct str key, uint32_t port)
{
    const struct kind_resource *services = kind_stored_named(STR(""), STR("services"));
    struct str ns, name;
    stored_key_parts(services, key, &ns, &name);
    return (struct store_op){
        .type = STORE_PUT,
        .key = arena_printf(l->a, STR_FMT "%u", STR_ARG(SERVICE_PORT_PREFIX), port),
        .value = arena_printf(l->a, STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(name)),
        .expect_rev = STORE_ABSENT
    };
}

static void take_port(struct look *l, struct str key, const struct value *number,
                      struct store_op *ops, size_t *n)
{
    int64_t port = 0;
    if (!value_to_int(number, &port) || port <= 0 || port >= PORTS || l->used[port])
        return;
    l->used[port] = true;
    if (!l->noted[port] && *n < MOST_OF_ONE)
        ops[(*n)++] = note_port(l, key, (uint32_t)port);
}

/* On condition that the Service has not changed meanwhile. */
static int look_at_service(struct look *l, const struct store_entry *e)
{
    struct store_op ops[MOST_OF_ONE + 1];
    struct value obj;
    int r = stored_read(l->a, NULL, e, &obj, l->err);
    if (r < 0)
        return r;
    struct str key = arena_str(l->a, e->key);
    const struct value *spec = value_get(&obj, STR("spec"));
    size_t n = 1;
    ops[0] = (struct store_op){ .type = STORE_CHECK, .key = key, .expect_rev = e->mod_rev };
    value_each_item (it, value_get(spec, STR("ports")))
        take_port(l, key, value_get(it, STR("nodePort")), ops, &n);
    take_port(l, key, value_get(spec, STR("healthCheckNodePort")), ops, &n);
    if (n > 1)
        add_txn(l, ops, n);
    l->repairs.made += n - 1;
    return 0;
}

static int look_at_services(struct look *l)
{
    const struct kind_resource *services = kind_stored_named(STR(""), STR("services"));
    struct store_entry e;
    int r;
    store_range_begin(l->snap, stored_key(l->a, services, STR(""), STR("")), STR(""));
    while ((r = store_range_next(l->snap, &e, l->err)) == 1) {
        r = look_at_service(l, &e);
        if (r < 0)
            return r;
    }
    return r;
}

/* ---- Notes that are nobody's ---- */

/* No Service can get the port while it is noted. */
static int look_at_notes(struct look *l)
{
    struct store_entry e;
    int r;
    store_range_begin(l->snap, SERVICE_PORT_PREFIX, STR(""));
    while ((r = store_range_next(l->snap, &e, l->err)) == 1 || r == -ERR_DAMAGED) {
        if (l->used[port_of(e.key)])
            continue;
        struct store_op op = { .type = STORE_DELETE,
                               .key = arena_str(l->a, e.key),
                               .expect_rev = e.mod_rev };
        add_txn(l, &op, 1);
        l->repairs.removed++;
    }
    return r;
}

/* ---- Once ---- */

static int look_through(struct look *l)
{
    int r = read_notes(l);
    if (r < 0)
        return r;
    r = look_at_services(l);
    return r < 0 ? r : look_at_notes(l);
}

/* A conflict means that somebody else was there, who did it right. */
static int commit_all(struct api *api, struct look *l)
{
    for (size_t i = 0; i < l->n; i++) {
        int r = store_commit(api->store, &l->txns[i], l->err);
        if (r < 0 && r != -ERR_CONFLICT)
            return r;
    }
    return 0;
}

static int look_once(struct api *api, struct look *l)
{
    int r = store_snap_begin(api->store, 0, &l->snap, l->err);
    if (r < 0)
        return r;
    r = look_through(l);
    store_snap_end(l->snap);
    return r < 0 ? r : commit_all(api, l);
}

int port_repair_run(struct api *api, struct port_repairs *ret, struct err *err)
{
    struct arena a;
    arena_init(&a);
    struct look *l = arena_new(&a, struct look);
    l->a = &a;
    l->err = err;
    int r = look_once(api, l);
    *ret = l->repairs;
    arena_done(&a);
    return r;
}

/* ---- When ---- */

static void on_time(void *arg) /* thread: worker */
{
    const struct port_repair *p = arg;
    struct arena a;
    struct port_repairs done;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    if (port_repair_run(p->api, &done, &err) < 0)
        log_warn("node ports could not be looked at", LOG_ERR(&err));
    else if (done.made || done.removed)
        log_warn("node ports were repaired", LOG_INT("not noted", (int64_t)done.made),
                 LOG_INT("nobody's", (int64_t)done.removed));
    arena_done(&a);
}

struct port_repair *port_repair_new(struct api *api, struct loop *loop)
{
    struct port_repair *p = mem_new(struct port_repair);
    p->api = api;
    p->chore = chore_new(loop, api->workers, EVERY_NS, on_time, p);
    return p;
}

struct port_repair *port_repair_free(struct port_repair *p)
{
    if (!p)
        return NULL;
    chore_free(p->chore);
    free(p);
    return NULL;
}
