#include "server/custom/custom_page.h"

#include <stdlib.h>

#include "base/idiom.h"
#include "base/limits.h"
#include "base/mem.h"
#include "server/custom/custom_webhook.h"
#include "server/object/stored.h"
#include "base/banned.h"

struct item {
    struct store_entry entry;
    bool needs_webhook;
    struct str fault; /* a NULL pointer: none */
    enum err_code code;
};

struct custom_page {
    struct custom_page_options opt;
    struct custom *custom; /* a reference */
    struct arena arena;    /* of the items; the worker's while the page is away */
    struct item *items;
    size_t n, cap, next;
    size_t bytes, n_needs;
    bool is_last, is_away, is_dropped;
    struct work work;
    struct loop_msg back;
};

struct custom_page *custom_page_new(const struct custom_page_options *opt)
{
    struct custom_page *p = mem_new(struct custom_page);
    p->opt = *opt;
    p->custom = custom_ref(opt->to->of);
    arena_init(&p->arena);
    return p;
}

struct custom_page *custom_page_drop(struct custom_page *p)
{
    if (!p)
        return NULL;
    if (p->is_away) {
        p->is_dropped = true; /* it ends when it is back */
        return NULL;
    }
    custom_unref(p->custom);
    arena_done(&p->arena);
    free(p);
    return NULL;
}

/* ---- Filling ---- */

bool custom_page_wanted(const struct custom_version *v, const struct store_entry *e)
{
    struct stored s = { 0 };
    return v && v->of->webhook && e->value.n && stored_open(e, &s, NULL) == 0 &&
           custom_needs_webhook(v, s.version);
}

void custom_page_add(struct custom_page *p, const struct store_entry *e)
{
    if (p->n == p->cap) {
        size_t cap = p->cap ? 2 * p->cap : 16;
        p->items = arena_grow(&p->arena, p->items, p->cap * sizeof(*p->items),
                              cap * sizeof(*p->items), alignof(struct item));
        p->cap = cap;
    }
    struct item *it = &p->items[p->n++];
    *it = (struct item){ .entry = *e, .needs_webhook = custom_page_wanted(p->opt.to, e) };
    it->entry.key = arena_str(&p->arena, e->key);
    it->entry.value = arena_str(&p->arena, e->value);
    p->bytes += e->value.n;
    p->n_needs += it->needs_webhook;
}

bool custom_page_is_full(const struct custom_page *p)
{
    return p->n >= LIMIT_CONVERSION_OBJECTS || p->bytes >= LIMIT_CONVERSION_SENT;
}

int custom_page_fill(struct custom_page *p, struct store_snap *snap, struct str prefix,
                     bool is_single, struct str start, size_t max, struct err *err)
{
    struct store_entry e;
    int r = 0;
    p->is_last = is_single;
    if (is_single && start.n)
        return 0;
    if (is_single) {
        r = store_snap_get(snap, prefix, &e, err);
        if (r == 1)
            custom_page_add(p, &e);
        return r < 0 ? r : 0;
    }
    store_range_begin(snap, prefix, start);
    while (!custom_page_is_full(p) && (!max || p->n < max)) {
        r = store_range_next(snap, &e, err);
        if (r <= 0) {
            p->is_last = true;
            return r;
        }
        custom_page_add(p, &e);
    }
    return 0;
}

/* ---- On a worker ---- */

/* Those that need it, as trees in the version in which they were written. */
struct batch {
    struct custom_page *page;
    struct arena scratch;
    struct item **items;
    struct value *objs;
    size_t n;
};

static void set_fault(struct custom_page *p, struct item *it, const struct err *err)
{
    it->fault = arena_str(&p->arena, err->msg);
    it->code = err->code;
}

static int read_as_written(struct batch *b, struct item *it, struct value *ret, struct err *err)
{
    struct stored s = { 0 };
    int r = stored_open(&it->entry, &s, err);
    if (r < 0)
        return r;
    const struct custom_version *was = custom_named(b->page->custom, s.version);
    if (!was)
        return custom_no_version(b->page->custom, s.version, err);
    return stored_read(&b->scratch, &was->type, &it->entry, ret, err);
}

static void collect(struct batch *b)
{
    struct custom_page *p = b->page;
    b->items = arena_array(&b->scratch, struct item *, p->n_needs);
    b->objs = arena_array(&b->scratch, struct value, p->n_needs);
    for (size_t i = 0; i < p->n; i++) {
        struct err err = ERR_INIT(&b->scratch);
        if (!p->items[i].needs_webhook)
            continue;
        b->items[b->n] = &p->items[i];
        if (read_as_written(b, &p->items[i], &b->objs[b->n], &err) == 0)
            b->n++;
        else
            set_fault(p, &p->items[i], &err);
    }
}

/* What has come back, as bytes that might have been stored in the wanted version. */
static void take_converted(struct batch *b, size_t i)
{
    struct custom_page *p = b->page;
    const struct kind_type *type = &p->opt.to->type;
    struct err err = ERR_INIT(&b->scratch);
    struct value fit;
    if (type->custom->read(&b->scratch, type, &b->objs[i], NULL, &fit, &err) < 0) {
        set_fault(p, b->items[i], &err);
        return;
    }
    type->custom->defaults(&b->scratch, type, &fit);
    autobuf bytes = { 0 };
    stored_write(&bytes, &p->opt.to->resource, &fit);
    b->items[i]->entry.value = arena_str(&p->arena, buf_str(&bytes));
}

static int convert(struct batch *b, size_t first, size_t n, bool *ret_answered)
{
    struct err err = ERR_INIT(&b->scratch);
    int r =
        custom_webhook_call(&b->scratch, b->page->opt.to, b->objs + first, n, ret_answered, &err);
    for (size_t i = first; i < first + n; i++) {
        b->items[i]->fault = (struct str){ NULL, 0 };
        if (r < 0)
            set_fault(b->page, b->items[i], &err);
        else
            take_converted(b, i);
    }
    return r;
}

static void on_back(struct loop *l, struct loop_msg *m)
{
    (void)l;
    struct custom_page *p = container_of(m, struct custom_page, back);
    p->is_away = false;
    if (p->is_dropped)
        custom_page_drop(p);
    else
        p->opt.done(p->opt.arg, p);
}

void custom_page_convert(struct custom_page *p)
{
    struct batch b = { .page = p };
    bool answered = false;
    arena_init(&b.scratch);
    collect(&b);
    int r = b.n ? convert(&b, 0, b.n, &answered) : 0;
    for (size_t i = 0; r < 0 && answered && p->opt.one_by_one && b.n > 1 && i < b.n; i++)
        if (convert(&b, i, 1, &answered) < 0 && !answered)
            break; /* it has stopped answering: what is left keeps the fault of all */
    arena_done(&b.scratch);
}

static void run(struct work *w)
{
    struct custom_page *p = container_of(w, struct custom_page, work);
    custom_page_convert(p);
    loop_post(p->opt.loop, &p->back);
}

/* ---- Sending ---- */

bool custom_page_send(struct custom_page *p)
{
    if (!p->n_needs)
        return false;
    p->work.run = run;
    p->back.run = on_back;
    p->is_away = true;
    if (workers_submit(p->opt.api->hook_workers, &p->work))
        return true;
    p->is_away = false;
    struct err busy = ERR_INIT(&p->arena);
    (void)err_set(&busy, ERR_TOO_MANY_REQUESTS, "too many requests, please try again later");
    for (size_t i = 0; i < p->n; i++)
        set_fault(p, &p->items[i], &busy);
    return false;
}

int custom_page_next(struct custom_page *p, struct store_entry *ret, struct err *err)
{
    if (p->next == p->n)
        return 0;
    const struct item *it = &p->items[p->next++];
    if (it->fault.p)
        return err_set(err, it->code, STR_FMT, STR_ARG(it->fault));
    *ret = it->entry;
    return 1;
}

bool custom_page_is_last(const struct custom_page *p)
{
    return p->is_last;
}
