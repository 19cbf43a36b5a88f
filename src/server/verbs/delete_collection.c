/* DELETE of a collection: all objects that a list with the same parameters would show, one after
 * the other. The answer is that list, as it was before: its revision is usually still in the
 * history, so nothing has to be kept meanwhile; if so much went that it is not, it is a Status. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "server/http/await.h"
#include "server/http/extent.h"
#include "server/http/sweep.h"
#include "server/registry/registry.h"
#include "server/object/stored.h"
#include "server/verbs/verbs.h"
#include "base/banned.h"

enum { NAMES_AT_ONCE = 500, HELPERS = 15 };
_Static_assert(LIMIT_CONVERSION_OBJECTS <= NAMES_AT_ONCE, "a page of converted objects fits");

struct collection {
    struct call *call;
    struct extent of;
    bool is_pinned;     /* the client has said which revision */
    uint64_t begun_rev; /* what is newer stays */
    struct encoder enc;
    struct sweep sweep;
    struct sweep_cursor at;
    struct arena page;
    struct str names[NAMES_AT_ONCE], spaces[NAMES_AT_ONCE];
    size_t n;
    uint64_t taken; /* over all pages */
};

static bool has_all(const struct collection *p)
{
    return p->of.sel.limit && p->taken == p->of.sel.limit;
}

static int take_entry(struct collection *p, const struct store_entry *e, struct err *err)
{
    struct selection_subject subject = { .arena = &p->page, .encoder = &p->enc, .entry = *e };
    if (e->create_rev > p->begun_rev)
        return 0;
    int r = selection_matches(&p->of.sel, &subject, err);
    if (r <= 0)
        return r;
    struct str ns, name;
    stored_key_parts(p->call->stored, e->key, &ns, &name);
    p->spaces[p->n] = arena_str(&p->page, ns);
    p->names[p->n++] = arena_str(&p->page, name);
    p->taken++;
    return 0;
}

static int begin_page(struct collection *p, struct err *err)
{
    p->sweep.rev = p->of.rev;
    int r = sweep_begin(&p->sweep, &p->at, SWEEP_ALL, err);
    if (r == -ERR_EXPIRED && !p->is_pinned) {
        /* So much was deleted that its beginning has left the history: it goes on with what is
         * there now. */
        err_clear(err);
        p->of.rev = p->sweep.rev = 0;
        r = sweep_begin(&p->sweep, &p->at, SWEEP_ALL, err);
    }
    return r == -ERR_EXPIRED ? extent_expired(p->call, &p->of, p->of.start, err) : r;
}

/* 1 if there may be more. */
static int take_names(struct collection *p, struct err *err)
{
    struct store_entry e;
    while (p->n < NAMES_AT_ONCE) {
        int r = has_all(p) ? SWEEP_OVER : sweep_next(&p->sweep, &e, err);
        if (r != SWEEP_OBJECT)
            return r == SWEEP_LATER ? 1 : r;
        r = take_entry(p, &e, err);
        if (r < 0)
            return r;
    }
    return 1;
}

/* Names of the next objects, read in one go; 1 if there may be more. */
static int read_page(struct collection *p, struct err *err)
{
    arena_reset(&p->page);
    p->n = 0;
    int r = begin_page(p, err);
    if (r < 0)
        return r;
    r = take_names(p, err);
    sweep_end(&p->sweep);
    return r;
}

/* ---- One page, by several hands ---- */

/* A commit waits for the disk, and the store makes those durable together that wait at the same
 * time; so several workers take names from one page. The first is the one that has the call; it
 * waits until every name is done, but not for a helper that never got its turn: that one finds
 * nothing left to do later, and the last to leave frees the page. */
struct page;

struct helper {
    struct work work; /* first */
    struct page *page;
};

struct page {
    const struct collection *of; /* until all are done */
    size_t n;                    /* names */
    const struct delete_options *options;
    atomic_uint refs;
    atomic_size_t next;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t all_done;
    size_t n_done;
    struct err *err;
    int result;
    struct helper helpers[HELPERS];
};

static struct page *page_unref(struct page *page)
{
    if (atomic_fetch_sub(&page->refs, 1) == 1) {
        pthread_mutex_destroy(&page->lock);
        pthread_cond_destroy(&page->all_done);
        free(page);
    }
    return NULL;
}

/* The error as the waiting worker's; it, too, leaves its arena alone meanwhile. */
static void keep_error(struct page *page, const struct err *err)
{
    struct arena *a = page->of->call->arena;
    page->result = err_set(page->err, err->code, STR_FMT, STR_ARG(err->msg));
    page->err->about = err->about;
    page->err->about.name = arena_str(a, err->about.name);
    for (const struct err_cause *cause = err->causes; cause; cause = cause->next)
        err_add_cause(page->err, arena_str(a, cause->reason), arena_str(a, cause->field),
                      arena_str(a, cause->msg));
    if (err->about.status) {
        struct value *status = arena_new(a, struct value);
        *status = value_clone(a, err->about.status);
        page->err->about.status = status;
    }
}

/* Names that nobody has taken stay, as with upstream. */
static void give_up(struct page *page)
{
    size_t next = atomic_exchange(&page->next, page->n);
    if (next < page->n)
        page->n_done += page->n - next;
}

static void note_done(struct page *page, const struct call *one, int r, const struct err *err)
{
    struct call *c = page->of->call;
    pthread_mutex_lock(&page->lock);
    if (r < 0 && r != -ERR_NOT_FOUND && page->result == 0) {
        keep_error(page, err);
        give_up(page);
    }
    for (const struct call_warning *w = one->warnings->first; w; w = w->next)
        call_warn(c, arena_str(c->arena, w->text));
    for (const struct call_note *n = one->notes->first; n; n = n->next)
        call_annotate(c, arena_str(c->arena, n->key), arena_str(c->arena, n->value));
    if (++page->n_done == page->n)
        pthread_cond_signal(&page->all_done);
    pthread_mutex_unlock(&page->lock);
}

/* Deletes names of the page until none is left. What is said on the way is kept apart, since the
 * call is that of all threads. */
static void help(struct page *page)
{
    struct arena a;
    arena_init(&a);
    for (size_t i; (i = atomic_fetch_add(&page->next, 1)) < page->n;) {
        const struct collection *p = page->of;
        struct call one = *p->call;
        struct call_warnings warnings = { 0 };
        struct call_notes notes = { 0 };
        struct err err = ERR_INIT(&a);
        struct value obj;
        bool gone;
        one.arena = &a;
        one.warnings = &warnings;
        one.notes = &notes;
        one.xray = NULL; /* it is for one thread */
        one.req.ns = p->spaces[i];
        int r = registry_delete(&one, p->names[i], page->options, &obj, &gone, &err);
        note_done(page, &one, r, &err);
        arena_reset(&a);
    }
    arena_done(&a);
}

static void run_helper(struct work *w)
{
    struct page *page = ((struct helper *)w)->page;
    help(page);
    page_unref(page);
}

static int delete_page(struct collection *p, const struct delete_options *o, struct err *err)
{
    struct page *page = mem_new(struct page);
    page->of = p;
    page->n = p->n;
    page->options = o;
    page->err = err;
    atomic_store(&page->refs, 1);
    pthread_mutex_init(&page->lock, NULL);
    pthread_cond_init(&page->all_done, NULL);
    /* Where somebody may say no it goes one after the other, as with upstream. */
    bool is_careful = call_may_wait(p->call) || call_may_be_refused(p->call);
    size_t helpers = is_careful ? 0 : HELPERS;
    for (size_t i = 0; i < helpers && i + 1 < p->n; i++) {
        struct helper *h = &page->helpers[i];
        *h = (struct helper){ .work = { .run = run_helper }, .page = page };
        atomic_fetch_add(&page->refs, 1);
        if (workers_submit(call_workers(p->call), &h->work))
            continue;
        atomic_fetch_sub(&page->refs, 1); /* our own is left */
        break;
    }
    help(page);
    pthread_mutex_lock(&page->lock);
    while (page->n_done < page->n)
        pthread_cond_wait(&page->all_done, &page->lock);
    int r = page->result;
    pthread_mutex_unlock(&page->lock);
    page_unref(page);
    return r;
}

static void answer(struct http_exchange *x, void *arg)
{
    struct collection *p = arg;
    (void)x;
    verb_list_at(p->call, p->begun_rev);
}

static int delete_pages(struct collection *p, const struct delete_options *o, struct err *err)
{
    int more = 1;
    while (more > 0) {
        more = read_page(p, err);
        if (more < 0)
            return more;
        int r = delete_page(p, o, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Who selects by key alone need not have objects converted. */
static void prepare_sweep(struct collection *p)
{
    const struct sweep_options options = {
        .api = p->call->api,
        .prefix = p->of.prefix,
        .is_single = p->of.sel.is_single,
        .kind = custom_version_of(p->call->stored),
    };
    sweep_init(&p->sweep, &options);
    sweep_cursor_set(&p->at, p->of.start);
    p->at.as_stored = p->of.sel.by_key;
}

/* All that could be refused is, before the first object goes. */
static int prepare(struct collection *p, struct delete_options *ret, struct err *err)
{
    struct call *c = p->call;
    int r = options_read_delete(c, ret, err);
    if (r < 0)
        return r;
    r = extent_read(c, &p->of, err);
    p->of.sel.hidden = NULL; /* all of them means all of them */
    if (r < 0)
        return r;
    r = await_on_worker(c->api->store, p->of.wait_rev, err);
    if (r < 0)
        return r;
    p->is_pinned = p->of.rev || p->of.goes_on;
    if (!p->of.rev)
        p->of.rev = store_rev(c->api->store);
    p->begun_rev = p->of.rev;
    prepare_sweep(p);
    return 0;
}

static int delete_all(struct collection *p, struct err *err)
{
    struct delete_options options;
    int r = prepare(p, &options, err);
    if (r < 0)
        return r;
    return p->of.prefix.n ? delete_pages(p, &options, err) : 0;
}

void verb_delete_collection(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    struct collection *p = arena_new(c->arena, struct collection);
    p->call = c;
    p->enc = (struct encoder){ .resource = c->req.resource, .stored = c->stored };
    arena_init(&p->page);
    int r = delete_all(p, &err);
    arena_done(&p->page);
    sweep_done(&p->sweep);
    sweep_cursor_done(&p->at);
    if (r < 0)
        call_fail(c, &err);
    else
        http_to_loop(c->x, answer, p);
}
