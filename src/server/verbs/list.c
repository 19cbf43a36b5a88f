/* list.c - LIST: all objects of a collection, or a page of them, as of one revision.
 *
 * Runs on the loop, in turns (sweep.h), so that a list of any length holds up nobody and pins no
 * page of the store. What it makes is bounded by what the client takes.
 *
 * A list begins by holding what it makes. If it ends while that is little, the answer is whole and
 * has a length. Else the head is sent, and then object by object; where the head has to know more
 * than the revision (where the page ends, how long a protobuf message is) the rest is read once
 * ahead for it. A Table whose rows depend on each other (columns.h) is kept as trees until its end,
 * if it is not too long. A revision that leaves the history meanwhile, or damage, cuts the answer
 * off. */
#include <stdlib.h>

#include "api/columns/columns.h"
#include "base/idiom.h"
#include "net/http/accept.h"
#include "net/http/gzip.h"
#include "server/http/await.h"
#include "server/http/corrupt.h"
#include "server/http/extent.h"
#include "server/http/sweep.h"
#include "server/verbs/list_counts.h"
#include "server/verbs/list_sizes.h"
#include "server/verbs/list_writer.h"
#include "server/object/stored.h"
#include "server/object/token.h"
#include "server/verbs/verbs.h"
#include "base/banned.h"

enum {
    TURN_WORK = 250000,     /* values looked at for the columns of custom kinds, in one turn */
    TURN_KEYS = 10000,      /* only counted, in one turn */
    PIECE_BYTES = 64 << 10, /* sent at once */
    HOLD_BYTES = 256 << 10, /* before it is streamed */
    GZIP_LEAST = 128 << 10, /* as upstream: smaller answers are sent as they are */
    GZIP_LEVEL = 1,
    WHOLE_MAX = 1000, /* objects of a Table that is printed as a whole */
};

enum phase { LIST_HOLDS, LIST_READS_AHEAD, LIST_SENDS };

/* How far a list has been read. */
struct cursor {
    struct sweep_cursor at;
    uint64_t n_items;
};

struct list {
    struct call *c;
    struct extent of;
    struct encoder enc;
    enum phase phase;
    bool is_done_already; /* what it shows has been deleted */
    bool has_read_ahead;
    bool is_counting;     /* what a full page leaves, with the cursor `left` */
    uint64_t n_from_here; /* objects of this page and behind it; 0: not known */
    struct str page_end;  /* the key that the next page begins with */
    struct list_meta meta;
    struct sweep sweep;
    struct cursor made, ahead, left;
    size_t work;                /* of this turn, for the columns of custom kinds */
    const struct value **whole; /* of a Table that is printed as a whole, else NULL */
    size_t n_whole;
    struct buf out; /* made, not sent */
    struct arena scratch;
    struct gzip *gzip; /* of a streamed answer */
    bool wants_gzip;
    struct await await;
    struct loop_timer wait;
};

/* ---- The end ---- */

static void list_done(struct list *l)
{
    loop_timer_cancel(&l->wait);
    sweep_done(&l->sweep);
    sweep_cursor_done(&l->made.at);
    sweep_cursor_done(&l->ahead.at);
    sweep_cursor_done(&l->left.at);
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

static bool turn_is_over(const struct list *l)
{
    if (sweep_is_enough(&l->sweep) || l->work >= TURN_WORK)
        return true;
    return l->phase == LIST_SENDS && http_reply_room(l->c->x) == 0;
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
static int take_object(struct list *l, struct cursor *at, struct selection_subject *subject,
                       struct err *err)
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
    l->sweep.bytes += l->out.n - before;
    if (ahead) {
        l->meta.bytes += l->out.n - before;
        l->out.n = before;
    } else if (l->phase == LIST_SENDS && l->out.n >= PIECE_BYTES) {
        send(l);
    }
    return 0;
}

static bool page_is_full(const struct list *l, const struct cursor *at)
{
    return l->of.sel.limit && at->n_items == l->of.sel.limit;
}

static void set_remaining(struct list *l, uint64_t n)
{
    l->meta.remaining = n;
    list_counts_keep(l->c->api->list_counts, l->of.prefix, l->sweep.rev, l->page_end, n);
}

/* The page is full: where does the next one begin, and how much is left? */
static int end_page(struct list *l, struct cursor *at, struct err *err)
{
    int r = sweep_peek(&l->sweep, err);
    if (r <= 0 || l->has_read_ahead)
        return r < 0 ? r : 0;
    l->page_end = arena_str(l->c->arena, buf_str(&at->at.start));
    const struct token next = { (int64_t)l->sweep.rev, l->of.began_ms, l->page_end };
    l->meta.token = token_write(l->c->arena, &next, l->of.prefix);
    if (!selection_is_all(&l->of.sel))
        return 0;
    l->meta.has_remaining = true;
    l->left.n_items = 0;
    sweep_cursor_set(&l->left.at, l->page_end);
    if (l->n_from_here > at->n_items)
        set_remaining(l, l->n_from_here - at->n_items);
    else
        l->is_counting = true;
    return 0;
}

/* Looks at the next object. 1 if there may be more, 0 at the end of the list. */
static int read_object(struct list *l, struct cursor *at, struct err *err)
{
    arena_reset(&l->scratch);
    struct selection_subject subject = { .arena = &l->scratch, .encoder = &l->enc };
    int r = sweep_next(&l->sweep, &subject.entry, err);
    if (r != SWEEP_OBJECT)
        return r;
    r = selection_matches(&l->of.sel, &subject, err);
    if (r > 0)
        r = take_object(l, at, &subject, err);
    if (r < 0)
        return r;
    if (subject.has_tree || subject.has_stored)
        l->sweep.bytes += subject.entry.value.n;
    return SWEEP_OBJECT;
}

/* Reads on from a cursor. 1 if there is more, 0 at the end of the list or of the page. */
static int read_objects(struct list *l, struct cursor *at, struct err *err)
{
    while (!turn_is_over(l)) {
        if (page_is_full(l, at))
            return end_page(l, at, err);
        int r = read_object(l, at, err);
        if (r == SWEEP_LATER)
            return 1;
        if (r != SWEEP_OBJECT)
            return r;
    }
    return 1;
}

/* Counts on, key by key. */
static int count(struct list *l, struct err *err)
{
    struct store_entry entry;
    while (l->sweep.n_objects < TURN_KEYS) {
        int r = sweep_next(&l->sweep, &entry, err);
        if (r < 0)
            return r;
        if (r == SWEEP_OVER) {
            l->is_counting = false;
            set_remaining(l, l->left.n_items);
            return 0;
        }
        l->left.n_items++;
    }
    return 0;
}

/* ---- Turns ---- */

static void give_up(struct list *l)
{
    struct http_exchange *x = l->c->x;
    list_done(l);
    http_abort(x);
}

static void on_room(void *arg, struct http_exchange *x)
{
    (void)x;
    struct list *l = arg;
    sweep_post(&l->sweep);
}

static void on_gone(void *arg, struct http_exchange *x)
{
    (void)x;
    struct list *l = arg;
    if (!sweep_is_posted(&l->sweep)) /* else the turn will find out */
        give_up(l);
}

static void go_on(struct list *l)
{
    const struct http_events events = { .arg = l, .on_room = on_room, .on_gone = on_gone };
    http_listen_to(l->c->x, &events);
    if (l->phase != LIST_SENDS || http_reply_room(l->c->x) > 0)
        sweep_post(&l->sweep);
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
    sweep_cursor_set(&l->ahead.at, buf_str(&l->made.at.start));
}

/* What a turn has come to: `r` is 1 if there is more, 0 if not. */
static void after_turn(struct list *l, int r)
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
    if (l->is_counting)
        return &l->left;
    return l->phase == LIST_READS_AHEAD ? &l->ahead : &l->made;
}

/* How many objects the cursor has to read, so far as that is known. */
static uint64_t wanted(const struct list *l, const struct cursor *at)
{
    if (page_is_full(l, at))
        return 0;
    return l->of.sel.limit && selection_is_all(&l->of.sel) ? l->of.sel.limit - at->n_items
                                                           : SWEEP_ALL;
}

/* What a turn does between its beginning and its end. */
static int use_turn(struct list *l, struct cursor *at, struct err *err)
{
    if (l->is_counting)
        return count(l, err);
    int r = read_objects(l, at, err);
    if (r != 0 || !l->is_counting)
        return r;
    sweep_switch(&l->sweep, &l->left.at);
    return count(l, err);
}

/* WAITS: the next turn comes by itself. */
enum { WAITS = 2 };

static int read_turn(struct list *l, struct err *err)
{
    struct cursor *at = cursor_of(l);
    int r = sweep_begin(&l->sweep, &at->at, wanted(l, at), err);
    if (r == -ERR_EXPIRED)
        return extent_expired(l->c, &l->of, buf_str(&l->made.at.start), err);
    if (r != 0)
        return r < 0 ? r : WAITS;
    l->meta.rev = l->sweep.rev;
    l->work = 0;
    r = use_turn(l, at, err);
    sweep_end(&l->sweep);
    return r;
}

static void run_turn(void *arg)
{
    struct list *l = arg;
    if (http_is_gone(l->c->x)) {
        give_up(l);
        return;
    }
    struct err err = ERR_INIT(l->c->arena);
    int r = read_turn(l, &err);
    if (r == WAITS)
        return;
    if (r < 0)
        list_fail(l, &err);
    else if (l->is_counting)
        go_on(l);
    else
        after_turn(l, r);
}

/* ---- The beginning ---- */

static void wait_for_revision(struct list *l)
{
    struct err err = ERR_INIT(l->c->arena);
    int r = await_look(&l->await, http_loop(l->c->x), &l->wait, &err);
    if (r < 0)
        list_fail(l, &err);
    else if (r > 0)
        run_turn(l);
}

static void on_wait(struct loop_timer *timer)
{
    struct list *l = container_of(timer, struct list, wait);
    wait_for_revision(l);
}

/* `rev`: of what was deleted meanwhile; 0: as the client has said. */
static void prepare_sweep(struct list *l, uint64_t rev)
{
    struct call *c = l->c;
    const struct sweep_options options = {
        .api = c->api,
        .loop = http_loop(c->x),
        .prefix = l->of.prefix,
        .is_single = l->of.sel.is_single,
        .rev = rev ? rev : l->of.rev,
        .kind = custom_version_of(c->stored),
        .run = run_turn,
        .arg = l,
    };
    sweep_init(&l->sweep, &options);
    sweep_cursor_set(&l->made.at, l->of.start);
    /* Reading ahead only counts, unless it takes the objects to know which count. */
    l->ahead.at.as_stored = selection_is_all(&l->of.sel);
    l->left.at.as_stored = true;
}

static int prepare(struct list *l, struct err *err)
{
    struct call *c = l->c;
    int r = extent_read(c, &l->of, err);
    if (r < 0)
        return r;
    l->enc.include = l->of.include;
    if (!l->of.goes_on || !l->of.rev ||
        !list_counts_find(c->api->list_counts, l->of.prefix, l->of.rev, l->of.start,
                          &l->n_from_here))
        l->n_from_here = 0;
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
        .work = &l->work,
    };
    arena_init(&l->scratch);
    if (prepare(l, &err) < 0) {
        list_fail(l, &err);
        return;
    }
    l->is_done_already = rev;
    prepare_sweep(l, rev);
    struct str accepted = http_header_get(c->http, STR("accept-encoding"));
    l->wants_gzip = accepted.n && accept_encoding(c->arena, accepted, STR("gzip"));
    l->wait.on_fire = on_wait;
    l->await = await_from_now(http_loop(c->x), c->api->store, l->of.wait_rev);
    const struct http_events events = { .arg = l, .on_room = on_room, .on_gone = on_gone };
    http_listen_to(c->x, &events);
    wait_for_revision(l);
}
