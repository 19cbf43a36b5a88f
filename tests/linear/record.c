#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

enum { CALL_MS = 20000, PAUSE_US = 20000, STALL_MS = 60000 };

static int64_t now_ns(void)
{
    return clock_mono_ns(&clock_system);
}

static struct spn_client *server_of(const struct record_run *run, unsigned number)
{
    return run->servers[number % run->n_servers];
}

struct spn_target record_target(const struct record_run *run, struct spn_text name)
{
    struct spn_target at = SPN_AT("", "v1", "configmaps", "", "");
    at.ns = run->ns;
    at.name = name;
    return at;
}

/* ---- Objects ---- */

static struct spn_text key_name(struct spn_arena *a, size_t key)
{
    return spn_arena_printf(a, "k%zu", key);
}

static bool key_of(const struct spn_value *object, size_t *ret)
{
    struct spn_text name = spn_value_text(spn_value_dig(object, "metadata", "name"));
    if (name.n != 2 || name.p[0] != 'k' || name.p[1] < '0' || name.p[1] >= '0' + RECORD_KEYS)
        return false;
    *ret = (size_t)(name.p[1] - '0');
    return true;
}

static uint64_t number_of(const struct spn_value *text)
{
    struct spn_text t = spn_value_text(text);
    char digits[24] = "";
    if (t.n < sizeof(digits))
        memcpy(digits, t.p ? t.p : "", t.n);
    return strtoull(digits, NULL, 10);
}

static uint64_t rev_of(const struct spn_value *object)
{
    return number_of(spn_value_dig(object, "metadata", "resourceVersion"));
}

static uint64_t value_of(const struct spn_value *object)
{
    return number_of(spn_value_dig(object, "data", "value"));
}

/* `rev` 0: without a condition. */
static struct spn_value *object_new(struct spn_arena *a, size_t key, uint64_t value, uint64_t rev)
{
    struct spn_value *object = spn_value_new(a, SPN_OBJECT);
    struct spn_value *meta = spn_value_ensure(a, object, "metadata");
    spn_value_set_text(a, meta, "name", key_name(a, key));
    if (rev)
        spn_value_set_text(a, meta, "resourceVersion",
                           spn_arena_printf(a, "%llu", (unsigned long long)rev));
    spn_value_set_text(a, spn_value_ensure(a, object, "data"), "value",
                       spn_arena_printf(a, "%llu", (unsigned long long)value));
    return object;
}

/* ---- Clients ---- */

static enum order_result result_of(int r)
{
    switch (-r) {
    case SPN_OK:
        return ORDER_DONE;
    case SPN_EXISTS:
    case SPN_CONFLICT:
        return ORDER_REFUSED;
    case SPN_NOT_FOUND:
        return ORDER_ABSENT;
    default:
        return ORDER_UNKNOWN;
    }
}

static void note(struct record_client *c, const struct record_op *op)
{
    c->ops = mem_resize(c->ops, c->n_ops + 1, sizeof(*c->ops));
    c->ops[c->n_ops++] = *op;
}

/* Until the server answers: each client has no more than one operation without a result at a time.
 */
static void wait_for_server(struct record_client *c, struct spn_arena *a)
{
    const struct spn_call how = { .timeout_ms = CALL_MS };
    struct spn_text text;
    for (int64_t began = now_ns(); now_ns() - began < STALL_MS * NS_PER_MS;) {
        if (spn_client_raw(server_of(c->run, c->number), "GET", SPN_TEXT("/readyz"), SPN_TEXT(""),
                           SPN_TEXT(""), &how, a, &text, NULL) == 0)
            return;
        (void)usleep(PAUSE_US);
    }
    printf("client %u: no server for a minute\n", c->number);
    atomic_store(&c->run->fails, true);
}

static void remember(struct record_client *c, size_t key, uint64_t value, uint64_t rev)
{
    c->values[key] = value;
    c->revs[key] = rev;
}

static void finish(struct record_client *c, struct record_op *op, int r,
                   const struct spn_value *object, struct spn_arena *a)
{
    op->op.end_ns = now_ns();
    op->op.result = result_of(r);
    if (op->op.result == ORDER_DONE)
        op->rev = op->op.kind == ORDER_DELETE ? 0 : rev_of(object);
    if (op->op.result == ORDER_DONE && op->op.kind != ORDER_DELETE)
        remember(c, op->key, op->op.value, op->rev);
    note(c, op);
    if (op->op.result == ORDER_UNKNOWN)
        wait_for_server(c, a);
}

static struct record_op begin(struct record_client *c, enum order_kind kind, size_t key)
{
    return (struct record_op){ .op = { .kind = kind, .begin_ns = now_ns(), .client = c->number },
                               .key = key };
}

static void do_read(struct record_client *c, size_t key, struct spn_arena *a)
{
    const struct spn_call how = { .timeout_ms = CALL_MS };
    const struct spn_target at = record_target(c->run, key_name(a, key));
    struct record_op op = begin(c, ORDER_READ, key);
    struct spn_value *object = NULL;
    int r = spn_client_get(server_of(c->run, c->number), &at, &how, a, &object, NULL);
    if (r < 0 && r != -SPN_NOT_FOUND) {
        wait_for_server(c, a);
        return; /* saw nothing */
    }
    op.op.value = r < 0 ? 0 : value_of(object);
    finish(c, &op, 0, object, a);
}

static void do_create(struct record_client *c, size_t key, struct spn_arena *a)
{
    const struct spn_call how = { .timeout_ms = CALL_MS };
    const struct spn_target at = record_target(c->run, key_name(a, key));
    struct record_op op = begin(c, ORDER_CREATE, key);
    struct spn_value *object = NULL;
    op.op.value = atomic_fetch_add(&c->run->values, 1) + 1;
    int r = spn_client_create(server_of(c->run, c->number), &at, object_new(a, key, op.op.value, 0),
                              &how, a, &object, NULL);
    finish(c, &op, r, object, a);
}

static void do_update(struct record_client *c, size_t key, struct spn_arena *a)
{
    const struct spn_call how = { .timeout_ms = CALL_MS };
    const struct spn_target at = record_target(c->run, key_name(a, key));
    if (!c->revs[key])
        return;
    struct record_op op = begin(c, ORDER_UPDATE, key);
    struct spn_value *object = NULL;
    op.op.expects = c->values[key];
    op.op.value = atomic_fetch_add(&c->run->values, 1) + 1;
    int r =
        spn_client_update(server_of(c->run, c->number), &at,
                          object_new(a, key, op.op.value, c->revs[key]), &how, a, &object, NULL);
    finish(c, &op, r, object, a);
}

static void do_delete(struct record_client *c, size_t key, struct spn_arena *a)
{
    const struct spn_call how = { .timeout_ms = CALL_MS };
    const struct spn_target at = record_target(c->run, key_name(a, key));
    struct record_op op = begin(c, ORDER_DELETE, key);
    int r = spn_client_delete(server_of(c->run, c->number), &at, NULL, &how, a, NULL, NULL);
    finish(c, &op, r, NULL, a);
}

static struct record_list *note_list(struct record_client *c, const struct spn_value *list)
{
    struct record_list l = { .rev = rev_of(list) };
    const struct spn_value *items = spn_value_get(list, "items");
    for (size_t i = 0; i < spn_value_count(items); i++) {
        const struct spn_value *object = spn_value_at(items, i);
        size_t key;
        if (!key_of(object, &key))
            continue;
        l.values[key] = value_of(object);
        l.revs[key] = rev_of(object);
    }
    c->lists = mem_resize(c->lists, c->n_lists + 1, sizeof(*c->lists));
    c->lists[c->n_lists] = l;
    return &c->lists[c->n_lists++];
}

/* A fresh list is a read of every object. One that may be old ("0") only has to be of one moment.
 */
static void do_list(struct record_client *c, bool is_fresh, struct spn_arena *a)
{
    const struct spn_call how = { .timeout_ms = CALL_MS,
                                  .resource_version = is_fresh ? NULL : "0" };
    const struct spn_target at = record_target(c->run, SPN_TEXT(""));
    const struct record_op began = begin(c, ORDER_READ, 0);
    struct spn_value *list;
    if (spn_client_list(server_of(c->run, c->number), &at, NULL, &how, a, &list, NULL) < 0) {
        wait_for_server(c, a);
        return;
    }
    const int64_t end_ns = now_ns();
    const struct record_list *l = note_list(c, list);
    for (size_t key = 0; is_fresh && key < RECORD_KEYS; key++) {
        struct record_op op = began;
        op.key = key;
        op.op.value = l->values[key];
        op.op.end_ns = end_ns;
        op.rev = l->revs[key];
        note(c, &op);
        remember(c, key, op.op.value, op.rev);
    }
}

void *record_work(void *client)
{
    struct record_client *c = client;
    struct spn_arena *a = spn_arena_new();
    while (atomic_fetch_sub(&c->run->operations, 1) > 0 && !atomic_load(&c->run->fails)) {
        const size_t key = (size_t)rand_r(&c->seed) % RECORD_KEYS;
        const int dice = rand_r(&c->seed) % 100;
        if (dice < 30)
            do_read(c, key, a);
        else if (dice < 60)
            do_update(c, key, a);
        else if (dice < 75)
            do_create(c, key, a);
        else if (dice < 82)
            do_delete(c, key, a);
        else
            do_list(c, dice < 94, a);
        spn_arena_reset(a);
    }
    spn_arena_free(a);
    return NULL;
}

void record_client_done(struct record_client *c)
{
    free(c->ops);
    free(c->lists);
}

/* ---- Watches ---- */

/* False at the end of all. */
static bool take_event(struct record_watch *w, const struct spn_event *e)
{
    struct record_event n = { .type = e->type, .rev = rev_of(e->object) };
    struct spn_text name = spn_value_text(spn_value_dig(e->object, "metadata", "name"));
    if (n.type != SPN_EVENT_BOOKMARK && spn_text_eq(name, SPN_TEXT(RECORD_END)))
        return false;
    if (n.type != SPN_EVENT_BOOKMARK && !key_of(e->object, &n.key))
        return true;
    n.value = value_of(e->object);
    w->events = mem_resize(w->events, w->n_events + 1, sizeof(*w->events));
    w->events[w->n_events++] = n;
    w->from = n.rev;
    return true;
}

static bool follow_once(struct record_watch *w, struct spn_watch *watch, struct spn_arena *a)
{
    struct spn_event e;
    bool goes_on = true;
    while (goes_on && spn_watch_next(watch, STALL_MS, a, &e, NULL) > 0) {
        goes_on = take_event(w, &e);
        spn_arena_reset(a);
    }
    return goes_on;
}

void *record_follow(void *watch)
{
    struct record_watch *w = watch;
    const struct spn_target at = record_target(w->run, SPN_TEXT(""));
    struct spn_arena *a = spn_arena_new();
    bool goes_on = true;
    while (goes_on && !atomic_load(&w->run->fails)) {
        char from[24];
        (void)snprintf(from, sizeof(from), "%llu", (unsigned long long)w->from);
        const struct spn_watch_options opt = { .from = spn_text_of(from), .bookmarks = true };
        struct spn_watch *now = NULL;
        int r = spn_client_watch(server_of(w->run, w->number), &at, &opt, NULL, a, &now, NULL);
        if (r == 0)
            goes_on = follow_once(w, now, a);
        else
            (void)usleep(PAUSE_US);
        if (r == -SPN_EXPIRED) {
            printf("watch %u: %s has expired\n", w->number, from);
            atomic_store(&w->run->fails, true);
        }
        spn_watch_free(now);
        w->n_resumed++;
        spn_arena_reset(a);
    }
    spn_arena_free(a);
    return NULL;
}

void record_watch_done(struct record_watch *w)
{
    free(w->events);
}
