#include "server/http/sweep.h"

#include <assert.h>

#include "base/idiom.h"
#include "base/banned.h"

void sweep_init(struct sweep *s, const struct sweep_options *opt)
{
    *s = (struct sweep){ .opt = *opt, .rev = opt->rev };
}

void sweep_done(struct sweep *s)
{
    assert(!s->snap);
    s->page = custom_page_drop(s->page);
    s->page_is_away = false;
}

/* ---- Cursors ---- */

void sweep_cursor_set(struct sweep_cursor *at, struct str start)
{
    buf_reset(&at->start);
    buf_str_add(&at->start, start);
}

void sweep_cursor_done(struct sweep_cursor *at)
{
    buf_done(&at->start);
}

/* The key right behind the last one. */
static void save_cursor(struct sweep *s)
{
    if (!s->last_key.p)
        return;
    sweep_cursor_set(s->at, s->last_key);
    buf_byte(&s->at->start, '\0');
}

/* ---- Pages ---- */

static bool reads_page(const struct sweep *s)
{
    return s->page && s->on == s->at;
}

static bool needs_page(const struct sweep *s, uint64_t max)
{
    const struct custom_version *kind = s->opt.kind;
    return kind && kind->of->webhook && s->opt.prefix.n && !s->at->as_stored && !reads_page(s) &&
           max > 0;
}

static void on_page(void *arg, struct custom_page *p)
{
    struct sweep *s = arg;
    (void)p;
    s->page_is_away = false;
    sweep_post(s);
}

static int fill_page(struct sweep *s, uint64_t max, struct err *err)
{
    const struct custom_page_options options = {
        .api = s->opt.api, .loop = s->opt.loop, .to = s->opt.kind, .done = on_page, .arg = s
    };
    custom_page_drop(s->page);
    s->page = custom_page_new(&options);
    s->on = s->at;
    return custom_page_fill(s->page, s->snap, s->opt.prefix, s->opt.is_single,
                            buf_str(&s->at->start), max == SWEEP_ALL ? 0 : max, err);
}

static void end_snapshot(struct sweep *s)
{
    if (s->snap)
        s->snap = store_snap_end(s->snap);
}

/* 1 if the page is on its way, 0 if it is there. */
static int read_page(struct sweep *s, uint64_t max, struct err *err)
{
    int r = fill_page(s, max, err);
    if (r < 0)
        return r;
    if (!s->opt.loop) {
        end_snapshot(s); /* the page has all that is needed of it */
        custom_page_convert(s->page);
        return 0;
    }
    s->page_is_away = custom_page_send(s->page);
    return s->page_is_away;
}

/* ---- A turn ---- */

/* Reading begins where the cursor stands. */
static void start_reading(struct sweep *s)
{
    s->n_objects = s->bytes = 0;
    s->last_key = (struct str){ NULL, 0 };
    if (s->opt.prefix.n && !s->opt.is_single && !reads_page(s))
        store_range_begin(s->snap, s->opt.prefix, buf_str(&s->at->start));
}

int sweep_begin(struct sweep *s, struct sweep_cursor *at, uint64_t max, struct err *err)
{
    assert(!s->snap);
    if (s->page_is_away)
        return 1;
    int r = store_snap_begin(s->opt.api->store, s->rev, &s->snap, err);
    if (r < 0)
        return r;
    s->rev = store_snap_rev(s->snap);
    s->at = at;
    r = needs_page(s, max) ? read_page(s, max, err) : 0;
    if (r != 0) {
        end_snapshot(s);
        return r;
    }
    start_reading(s);
    return 0;
}

void sweep_end(struct sweep *s)
{
    save_cursor(s);
    if (s->page_is_used)
        s->page = custom_page_drop(s->page);
    s->page_is_used = false;
    end_snapshot(s);
}

void sweep_switch(struct sweep *s, struct sweep_cursor *at)
{
    assert(s->snap && at->as_stored);
    save_cursor(s);
    s->at = at;
    start_reading(s);
}

static int next_of_page(struct sweep *s, struct store_entry *ret, struct err *err)
{
    int r = custom_page_next(s->page, ret, err);
    if (r != 0)
        return r;
    s->page_is_used = true;
    return custom_page_is_last(s->page) ? SWEEP_OVER : SWEEP_LATER;
}

static int next_stored(struct sweep *s, struct store_entry *ret, struct err *err)
{
    if (!s->opt.prefix.n)
        return SWEEP_OVER;
    if (!s->opt.is_single)
        return store_range_next(s->snap, ret, err);
    bool is_read = s->at->start.n || s->last_key.p;
    return is_read ? SWEEP_OVER : store_snap_get(s->snap, s->opt.prefix, ret, err);
}

int sweep_next(struct sweep *s, struct store_entry *ret, struct err *err)
{
    int r = reads_page(s) ? next_of_page(s, ret, err) : next_stored(s, ret, err);
    if (r != SWEEP_OBJECT)
        return r;
    s->last_key = ret->key;
    s->n_objects++;
    return r;
}

int sweep_peek(struct sweep *s, struct err *err)
{
    struct store_entry entry;
    save_cursor(s);
    if (reads_page(s) && !s->opt.is_single)
        store_range_begin(s->snap, s->opt.prefix, buf_str(&s->at->start));
    return next_stored(s, &entry, err);
}

/* ---- Between turns ---- */

static void on_turn(struct loop *l, struct loop_msg *m)
{
    struct sweep *s = container_of(m, struct sweep, turn);
    (void)l;
    s->is_posted = false;
    s->opt.run(s->opt.arg);
}

void sweep_post(struct sweep *s)
{
    if (s->is_posted || s->page_is_away)
        return;
    s->is_posted = true;
    s->turn.run = on_turn;
    loop_later(s->opt.loop, &s->turn);
}
