/* list.c - LIST: all objects of a collection, or a page of them, as of one revision.
 *
 * Runs on the loop, in turns. A turn reads a bounded number of objects from a snapshot of its own,
 * always of the same revision, and goes on behind the last key in the next one, so that a list of
 * any length holds up nobody and pins no page of the store. What it makes is bounded by what the
 * client takes.
 *
 * A list begins by holding what it makes. If it ends while that is little, the answer is whole and
 * has a length. Else the head is sent, and then object by object; where the head has to know more
 * than the revision (where the page ends, how long a protobuf message is) the rest is read once
 * ahead for it. A Table whose rows depend on each other (columns.h) is kept as trees until its end,
 * if it is not too long. A revision that leaves the history meanwhile, or damage, cuts the answer
 * off.
 *
 * Custom objects that only a webhook can show in the version asked for are read in pages, which a
 * worker has converted before the loop goes on with them (custom_page.h). */
#include <stdlib.h>

#include "api/columns/columns.h"
#include "base/idiom.h"
#include "net/accept.h"
#include "net/gzip.h"
#include "net/loop.h"
#include "server/http/corrupt.h"
#include "server/custom/custom_page.h"
#include "server/http/extent.h"
#include "server/verbs/list_counts.h"
#include "server/verbs/list_sizes.h"
#include "server/verbs/list_writer.h"
#include "server/object/stored.h"
#include "server/object/token.h"
#include "server/verbs/verbs.h"
#include "base/banned.h"

enum {
    TURN_BYTES = 256 << 10, /* made, or read ahead, or parsed, in one turn */
    TURN_WORK = 250000,     /* values looked at for the columns of custom kinds */
    TURN_OBJECTS = 1000,    /* looked at in one turn */
    TURN_KEYS = 10000,      /* or only counted */
    PIECE_BYTES = 64 << 10, /* sent at once */
    HOLD_BYTES = 256 << 10, /* before it is streamed */
    GZIP_LEAST = 128 << 10, /* as upstream: smaller answers are sent as they are */
    GZIP_LEVEL = 1,
    WHOLE_MAX = 1000,  /* objects of a Table that is printed as a whole */
    WAIT_STEP_MS = 20, /* for a revision that is not there yet */
};

enum phase { LIST_HOLDS, LIST_READS_AHEAD, LIST_SENDS };

/* How far a list has been read. */
struct cursor {
    struct buf start; /* the key to go on with; empty: the beginning */
    uint64_t n_items;
};

struct list {
    struct call *c;
    struct extent of; /* its revision is fixed by the first turn, if it is not before */
    struct encoder enc;
    enum phase phase;
    bool is_done_already; /* what it shows has been deleted */
    bool has_read_ahead;
    bool is_counting;     /* what a full page leaves, with the cursor `left` */
    uint64_t n_from_here; /* objects of this page and behind it; 0: not known */
    struct str page_end;  /* the key that the next page begins with */
    struct list_meta meta;
    struct cursor made, ahead, left;
    const struct custom_version *kind; /* whose objects a webhook converts, else NULL */
    struct custom_page *page;          /* what comes next of them; NULL: it has to be read */
    const struct cursor *page_at;      /* what is read from the page */
    bool page_is_away, page_is_used;
    const struct value **whole; /* of a Table that is printed as a whole, else NULL */
    size_t n_whole;
    struct buf out; /* made, not sent */
    struct arena scratch;
    struct gzip *gzip; /* of a streamed answer */
    bool wants_gzip;
    int64_t give_up_ns;
    struct loop_timer wait;
    struct loop_msg turn;
    bool turn_is_posted;
};

/* What one turn has done. */
struct turn {
    struct store_snap *snap;
    size_t n_objects, bytes, work;
    struct str last_key; /* good until the snapshot ends */
};

/* ---- The end ---- */

static void list_done(struct list *l)
{
    loop_timer_cancel(&l->wait);
    l->page = custom_page_drop(l->page);
    buf_done(&l->made.start);
    buf_done(&l->ahead.start);
    buf_done(&l->left.start);
    buf_done(&l->out);
    arena_done(&l->scratch);
    l->gzip = gzip_free(l->gzip);
}

/* On a worker. */
static void name_corrupt(struct http_exchange *x, void *arg)
{
    struct call *c = arg;
    struct err err = ERR_INIT(c->arena);
    (void)x;
    (void)corrupt_list(c, stored_key(c->arena, c->stored, c->req.ns, STR("")), &err);
    call_fail(c, &err);
}

static void list_fail(struct list *l, const struct err *err)
{
    struct call *c = l->c;
    bool began = l->phase == LIST_SENDS;
    bool has_acted = l->is_done_already;
    list_done(l);
    if (began)
        http_abort(c->x);
    else if (has_acted)
        call_success(c, STR(""), STR("")); /* whatever it was: nothing is refused any more */
    else if (err->code != ERR_DAMAGED)
        call_fail(c, err);
    else if (loop_is_mine(http_loop(c->x)))
        (void)http_to_worker(c->x, call_workers(c), name_corrupt, c);
    else
        name_corrupt(c->x, c);
}

/* ---- Sending ---- */

static void release(void *owner)
{
    free(owner);
}

/* Hands the buffer over. */
static struct http_bytes give(struct buf *b)
{
    struct http_bytes bytes = { buf_str(b), release, b->p };
    *b = (struct buf){ 0 };
    return bytes;
}

static size_t headers(struct list *l, bool gzip, const struct http_header **ret)
{
    const struct http_header *all;
    size_t n = call_headers(l->c, format_content_type(l->enc.format.media, false), &all);
    struct http_header *more = arena_array(l->c->arena, struct http_header, n + 2);
    memcpy(more, all, n * sizeof(*all));
    if (gzip)
        more[n++] = (struct http_header){ STR("content-encoding"), STR("gzip") };
    if (l->wants_gzip)
        more[n++] = (struct http_header){ STR("vary"), STR("Accept-Encoding") };
    *ret = more;
    return n;
}

static void send(struct list *l)
{
    if (!l->gzip) {
        http_reply_write(l->c->x, give(&l->out));
        return;
    }
    struct buf packed = { 0 }; /* handed over */
    gzip_add(l->gzip, &packed, buf_str(&l->out), false);
    buf_reset(&l->out);
    http_reply_write(l->c->x, give(&packed));
}

/* All of it is in the buffer. */
static void answer_whole(struct list *l)
{
    struct buf body = { 0 }; /* handed over */
    l->meta.n_items = l->made.n_items;
    l->meta.bytes = l->out.n;
    list_writer_head(&body, &l->scratch, &l->enc, &l->meta);
    buf_str_add(&body, buf_str(&l->out));
    list_writer_tail(&body, &l->scratch, &l->enc, &l->meta);

    bool gzip = l->wants_gzip && body.n > GZIP_LEAST;
    if (gzip) {
        struct buf packed = { 0 };
        gzip_deflate(&packed, buf_str(&body), GZIP_LEVEL);
        buf_done(&body);
        body = packed;
    }
    const struct http_header *all;
    size_t n = headers(l, gzip, &all);
    struct http_exchange *x = l->c->x;
    list_done(l);
    http_reply(x, 200, all, n, give(&body));
}

/* The head and what was held; `meta` knows what the head has to. */
static void begin_sending(struct list *l)
{
    struct buf held = l->out;
    l->out = (struct buf){ 0 };
    l->phase = LIST_SENDS;
    if (l->wants_gzip)
        l->gzip = gzip_new(GZIP_LEVEL);
    const struct http_header *all;
    size_t n = headers(l, l->wants_gzip, &all);
    http_reply_begin(l->c->x, 200, all, n);
    if (!l->meta.n_items)
        l->meta.n_items = l->made.n_items; /* not all, but then it only matters that there are */
    list_writer_head(&l->out, &l->scratch, &l->enc, &l->meta);
    send(l);
    buf_done(&l->out);
    l->out = held;
    send(l);
}

static void end_sending(struct list *l)
{
    struct http_exchange *x = l->c->x;
    list_writer_tail(&l->out, &l->scratch, &l->enc, &l->meta);
    send(l);
    if (l->gzip) {
        gzip_end(l->gzip, &l->out);
        http_reply_write(x, give(&l->out));
    }
    list_done(l);
    http_reply_end(x, NULL, 0);
}

/* ---- Reading ---- */

static bool turn_is_over(const struct list *l, const struct turn *t)
{
    if (t->n_objects >= TURN_OBJECTS || t->bytes >= TURN_BYTES || t->work >= TURN_WORK)
        return true;
    return l->phase == LIST_SENDS && http_reply_room(l->c->x) == 0;
}

static void cursor_save(struct cursor *at, const struct turn *t)
{
    if (!t->last_key.p)
        return;
    buf_reset(&at->start);
    buf_str_add(&at->start, t->last_key);
    buf_byte(&at->start, '\0');
}

/* Whether what this cursor reads has to be converted. Reading ahead only counts, unless it takes
 * the objects to know which count. */
static bool is_converted(const struct list *l, const struct cursor *at)
{
    return l->kind && l->of.prefix.n && !(at == &l->ahead && selection_is_all(&l->of.sel));
}

/* NEEDS_PAGE: there may be more, but it must be converted first. */
enum { NEEDS_PAGE = 2 };

static int next_converted(struct list *l, struct store_entry *ret, struct err *err)
{
    int r = l->page ? custom_page_next(l->page, ret, err) : 0;
    if (r != 0 || (l->page && custom_page_is_last(l->page)))
        return r;
    l->page_is_used = true; /* the turn still has its last key */
    return NEEDS_PAGE;
}

/* As it is stored. */
static int next_stored(struct list *l, const struct cursor *at, const struct turn *t,
                       struct store_entry *ret, struct err *err)
{
    if (!l->of.prefix.n)
        return 0;
    if (!l->of.sel.is_single)
        return store_range_next(t->snap, ret, err);
    bool is_read = at->start.n || t->last_key.p;
    return is_read ? 0 : store_snap_get(t->snap, l->of.prefix, ret, err);
}

static int next_entry(struct list *l, const struct cursor *at, const struct turn *t,
                      struct store_entry *ret, struct err *err)
{
    return is_converted(l, at) ? next_converted(l, ret, err) : next_stored(l, at, t, ret, err);
}

/* Prints what was kept, and from here on row by row. */
static int print_whole(struct list *l, struct err *err)
{
    const struct value **objs = l->whole;
    l->whole = NULL;
    if (!objs)
        return 0;
    return list_writer_rows(&l->out, l->c->arena, &l->enc, objs, l->n_whole, err);
}

static int keep_object(struct list *l, const struct selection_subject *subject, struct err *err)
{
    struct value *obj = arena_new(l->c->arena, struct value);
    int r = stored_read(l->c->arena, l->enc.stored->type, &subject->entry, obj, err);
    if (r < 0)
        return r;
    l->whole[l->n_whole++] = obj;
    return l->n_whole == WHOLE_MAX ? print_whole(l, err) : 0;
}

/* Lengths matter in protobuf alone. */
static struct list_sizes *sizes_of(const struct list *l)
{
    return l->enc.format.media == FORMAT_PROTO ? l->c->api->list_sizes : NULL;
}

static struct list_size_of size_key(const struct list *l, const struct selection_subject *subject)
{
    const struct format *f = &l->enc.format;
    return (struct list_size_of){
        .key = subject->entry.key,
        .rev = subject->entry.mod_rev,
        .form = (uint64_t)(uintptr_t)l->enc.resource << 8 | (uint64_t)f->as << 4 |
                (uint64_t)f->managers << 2 | f->beta,
    };
}

/* A selected object: made into the buffer or, ahead of it, only counted. */
static int take_object(struct list *l, struct cursor *at, struct turn *t,
                       struct selection_subject *subject, struct err *err)
{
    bool ahead = l->phase == LIST_READS_AHEAD;
    at->n_items++;
    if (l->whole)
        return keep_object(l, subject, err);
    if (ahead && !(list_writer_needs(&l->enc.format) & LIST_WRITER_BYTES))
        return 0;
    struct list_sizes *sizes = sizes_of(l);
    const struct list_size_of key = size_key(l, subject);
    uint32_t known;
    if (ahead && sizes && list_sizes_find(sizes, &key, &known)) {
        l->meta.bytes += known;
        return 0;
    }
    size_t before = l->out.n;
    int r = list_writer_item(&l->out, &l->enc, subject, at->n_items == 1, err);
    if (r < 0)
        return r;
    if (ahead && sizes)
        list_sizes_keep(sizes, &key, (uint32_t)(l->out.n - before));
    t->bytes += l->out.n - before;
    if (ahead) {
        l->meta.bytes += l->out.n - before;
        l->out.n = before;
    } else if (l->phase == LIST_SENDS && l->out.n >= PIECE_BYTES) {
        send(l);
    }
    return 0;
}

static void set_remaining(struct list *l, uint64_t n)
{
    l->meta.remaining = n;
    list_counts_keep(l->c->api->list_counts, l->of.prefix, l->of.rev, l->page_end, n);
}

/* The page is full: where does the next one begin, and how much is left? */
static int end_page(struct list *l, struct cursor *at, const struct turn *t, struct err *err)
{
    struct store_entry entry;
    cursor_save(at, t);
    if (is_converted(l, at))
        store_range_begin(t->snap, l->of.prefix, buf_str(&at->start));
    int r = next_stored(l, at, t, &entry, err);
    if (r <= 0 || l->has_read_ahead)
        return r < 0 ? r : 0;
    l->page_end = arena_str(l->c->arena, buf_str(&at->start));
    const struct token next = { (int64_t)l->of.rev, l->of.began_ms, l->page_end };
    l->meta.token = token_write(l->c->arena, &next, l->of.prefix);
    if (!selection_is_all(&l->of.sel))
        return 0;
    l->meta.has_remaining = true;
    l->left.n_items = 0;
    buf_reset(&l->left.start);
    buf_str_add(&l->left.start, l->page_end);
    if (l->n_from_here > at->n_items)
        set_remaining(l, l->n_from_here - at->n_items);
    else
        l->is_counting = true;
    return 0;
}

/* Reads on from a cursor. 1 if there is more, 0 at the end of the list or of the page. */
static int scan(struct list *l, struct cursor *at, struct turn *t, struct err *err)
{
    if (l->of.prefix.n && !l->of.sel.is_single && !is_converted(l, at))
        store_range_begin(t->snap, l->of.prefix, buf_str(&at->start));
    while (!turn_is_over(l, t)) {
        if (l->of.sel.limit && at->n_items == l->of.sel.limit)
            return end_page(l, at, t, err);
        arena_reset(&l->scratch);
        struct selection_subject subject = { .arena = &l->scratch, .encoder = &l->enc };
        int r = next_entry(l, at, t, &subject.entry, err);
        if (r == NEEDS_PAGE)
            return 1;
        if (r <= 0)
            return r;
        t->last_key = subject.entry.key;
        t->n_objects++;
        r = selection_matches(&l->of.sel, &subject, err);
        if (r > 0)
            r = take_object(l, at, t, &subject, err);
        if (r < 0)
            return r;
        if (subject.has_tree || subject.has_stored)
            t->bytes += subject.entry.value.n;
    }
    return 1;
}

/* Counts on, key by key. */
static int count(struct list *l, struct store_snap *snap, struct err *err)
{
    struct turn t = { .snap = snap };
    struct store_entry entry;
    int r = 1;
    store_range_begin(snap, l->of.prefix, buf_str(&l->left.start));
    for (; t.n_objects < TURN_KEYS && r > 0; t.n_objects++) {
        r = store_range_next(snap, &entry, err);
        if (r > 0) {
            t.last_key = entry.key;
            l->left.n_items++;
        }
    }
    cursor_save(&l->left, &t);
    if (r == 0) {
        l->is_counting = false;
        set_remaining(l, l->left.n_items);
    }
    return r < 0 ? r : 0;
}

/* ---- Turns ---- */

static void run_turn(struct list *l);

static void on_turn(struct loop *loop, struct loop_msg *m)
{
    (void)loop;
    struct list *l = container_of(m, struct list, turn);
    l->turn_is_posted = false;
    run_turn(l);
}

static void give_up(struct list *l)
{
    struct http_exchange *x = l->c->x;
    list_done(l);
    http_abort(x);
}

/* Others first. */
static void post_turn(struct list *l)
{
    if (l->turn_is_posted)
        return;
    l->turn_is_posted = true;
    l->turn.run = on_turn;
    loop_later(http_loop(l->c->x), &l->turn);
}

static void on_room(void *arg, struct http_exchange *x)
{
    (void)x;
    struct list *l = arg;
    if (!l->page_is_away)
        post_turn(l);
}

static void on_gone(void *arg, struct http_exchange *x)
{
    (void)x;
    struct list *l = arg;
    if (!l->turn_is_posted) /* else the turn will find out */
        give_up(l);
}

static void go_on(struct list *l)
{
    const struct http_events events = { .arg = l, .on_room = on_room, .on_gone = on_gone };
    http_listen_to(l->c->x, &events);
    if (l->phase != LIST_SENDS || http_reply_room(l->c->x) > 0)
        post_turn(l);
}

/* Too much to hold: the head must go out. */
static void stop_holding(struct list *l)
{
    unsigned needs = list_writer_needs(&l->enc.format);
    if (!l->of.sel.limit)
        needs &= ~(unsigned)LIST_WRITER_TOKEN;
    if (!needs) {
        begin_sending(l);
        return;
    }
    l->phase = LIST_READS_AHEAD;
    l->meta.bytes = l->out.n;
    l->ahead.n_items = l->made.n_items;
    buf_reset(&l->ahead.start);
    buf_str_add(&l->ahead.start, buf_str(&l->made.start));
}

/* What a turn has come to: `r` is 1 if there is more, 0 if not. */
static void after_scan(struct list *l, int r)
{
    switch (l->phase) {
    case LIST_HOLDS:
        if (r == 0) {
            struct err err = ERR_INIT(l->c->arena);
            if (print_whole(l, &err) < 0)
                list_fail(l, &err);
            else
                answer_whole(l);
            return;
        }
        if (l->out.n >= HOLD_BYTES)
            stop_holding(l);
        break;
    case LIST_READS_AHEAD:
        if (r == 0) {
            l->meta.n_items = l->ahead.n_items;
            l->has_read_ahead = true;
            begin_sending(l);
        }
        break;
    case LIST_SENDS:
        if (r == 0) {
            end_sending(l);
            return;
        }
        if (l->out.n)
            send(l);
        break;
    }
    go_on(l);
}

static struct cursor *cursor_of(struct list *l)
{
    return l->phase == LIST_READS_AHEAD ? &l->ahead : &l->made;
}

static void on_page(void *arg, struct custom_page *p)
{
    struct list *l = arg;
    (void)p;
    l->page_is_away = false;
    run_turn(l);
}

/* The next page. 1 if it is on its way, 0 if it is there. */
static int read_page(struct list *l, struct err *err)
{
    const struct custom_page_options options = {
        .api = l->c->api, .loop = http_loop(l->c->x), .to = l->kind, .done = on_page, .arg = l
    };
    const struct cursor *at = cursor_of(l);
    bool is_limited = l->of.sel.limit && selection_is_all(&l->of.sel);
    struct store_snap *snap;
    int r = store_snap_begin(l->c->api->store, l->of.rev, &snap, err);
    if (r == -ERR_EXPIRED)
        return extent_expired(l->c, &l->of, buf_str(&l->made.start), err);
    if (r < 0)
        return r;
    l->of.rev = store_snap_rev(snap);
    l->page_at = at;
    l->page = custom_page_new(&options);
    r = custom_page_fill(l->page, snap, l->of.prefix, l->of.sel.is_single, buf_str(&at->start),
                         is_limited ? l->of.sel.limit - at->n_items : 0, err);
    store_snap_end(snap);
    if (r == 0)
        l->page_is_away = custom_page_send(l->page);
    return r < 0 ? r : l->page_is_away;
}

/* Whether the next turn needs a page that is not there. */
static bool needs_page(struct list *l)
{
    const struct cursor *at = cursor_of(l);
    if (l->is_counting || !is_converted(l, at))
        return false;
    if (l->page_at != at || l->page_is_used)
        l->page = custom_page_drop(l->page);
    l->page_is_used = false;
    return !l->page && !(l->of.sel.limit && at->n_items == l->of.sel.limit);
}

static int read_turn(struct list *l, struct err *err)
{
    struct turn t = { 0 };
    struct cursor *at = cursor_of(l);
    int r = store_snap_begin(l->c->api->store, l->of.rev, &t.snap, err);
    if (r == -ERR_EXPIRED)
        return extent_expired(l->c, &l->of, buf_str(&l->made.start), err);
    if (r < 0)
        return r;
    l->of.rev = l->meta.rev = store_snap_rev(t.snap);
    if (!l->is_counting) {
        l->enc.work = &t.work;
        r = scan(l, at, &t, err);
        l->enc.work = NULL;
        cursor_save(at, &t);
    }
    if (r == 0 && l->is_counting)
        r = count(l, t.snap, err);
    store_snap_end(t.snap);
    return r;
}

static void run_turn(struct list *l)
{
    if (http_is_gone(l->c->x)) {
        give_up(l);
        return;
    }
    struct err err = ERR_INIT(l->c->arena);
    int r = needs_page(l) ? read_page(l, &err) : 0;
    if (r == 1)
        return; /* on_page() goes on */
    if (r == 0)
        r = read_turn(l, &err);
    if (r < 0)
        list_fail(l, &err);
    else if (l->is_counting)
        go_on(l);
    else
        after_scan(l, r);
}

/* ---- The beginning ---- */

/* A revision that we do not have yet may come: others may have seen it where we have not. */
static void wait_for_revision(struct list *l)
{
    struct loop *loop = http_loop(l->c->x);
    uint64_t newest = store_rev(l->c->api->store);
    if (newest >= l->of.wait_rev) {
        run_turn(l);
    } else if (loop_now_ns(loop) >= l->give_up_ns) {
        struct err err = ERR_INIT(l->c->arena);
        (void)selection_too_new(&err, l->of.wait_rev, newest);
        list_fail(l, &err);
    } else {
        loop_timer_set(loop, &l->wait, loop_now_ns(loop) + WAIT_STEP_MS * NS_PER_MS);
    }
}

static void on_wait(struct loop_timer *timer)
{
    struct list *l = container_of(timer, struct list, wait);
    wait_for_revision(l);
}

static int prepare(struct list *l, struct err *err)
{
    struct call *c = l->c;
    int r = extent_read(c, &l->of, err);
    if (r < 0)
        return r;
    l->enc.include = l->of.include;
    buf_str_add(&l->made.start, l->of.start);
    if (!l->of.goes_on || !l->of.rev ||
        !list_counts_find(c->api->list_counts, l->of.prefix, l->of.rev, l->of.start,
                          &l->n_from_here))
        l->n_from_here = 0;
    const struct custom_version *kind = custom_version_of(c->stored);
    l->kind = kind && kind->of->webhook ? kind : NULL;
    if (c->format.as == FORMAT_TABLE && columns_need_whole_list(c->stored))
        l->whole = arena_array(c->arena, const struct value *, WHOLE_MAX);
    return 0;
}

void verb_list(struct call *c)
{
    verb_list_at(c, 0);
}

void verb_list_at(struct call *c, uint64_t rev)
{
    struct list *l = arena_new(c->arena, struct list);
    struct err err = ERR_INIT(c->arena);
    l->c = c;
    l->enc = (struct encoder){
        .format = c->format,
        .resource = c->req.resource,
        .stored = c->stored,
        .now_ns = clock_wall_ns(c->api->clock),
    };
    arena_init(&l->scratch);
    if (prepare(l, &err) < 0) {
        list_fail(l, &err);
        return;
    }
    l->is_done_already = rev;
    if (rev)
        l->of.rev = rev;
    struct str accepted = http_header_get(c->http, STR("accept-encoding"));
    l->wants_gzip = accepted.n && accept_encoding(c->arena, accepted, STR("gzip"));
    l->wait.on_fire = on_wait;
    l->give_up_ns = loop_now_ns(http_loop(c->x)) + EXTENT_WAIT_MS * NS_PER_MS;
    const struct http_events events = { .arg = l, .on_room = on_room, .on_gone = on_gone };
    http_listen_to(c->x, &events);
    wait_for_revision(l);
}
