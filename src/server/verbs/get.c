/* One object by its name. */
#include "server/http/corrupt.h"
#include "server/custom/custom_page.h"
#include "server/object/encode.h"
#include "api/errors.h"
#include "server/http/reply.h"
#include "server/http/selection.h"
#include "server/object/stored.h"
#include "server/verbs/verbs.h"
#include "base/banned.h"

#define GET_WAIT_NS (3 * NS_PER_SEC)

enum { LOOP_BYTES = 64 << 10 }; /* of an object that a loop may parse */

/* `resourceVersion=`: not older than that. */
static int read_revision(struct call *c, uint64_t *ret, struct err *err)
{
    struct str text = request_param(&c->req, STR("resourceVersion"));
    *ret = 0;
    return text.n ? selection_version(text, ret, err) : 0;
}

/* Upstream's words for a custom object come from another place. */
static int refuse_list(const struct kind_resource *r, struct err *err)
{
    if (r->type->custom)
        return err_set(err, ERR_UNKNOWN, "content is not a list");
    return err_set(err, ERR_NOT_ACCEPTABLE,
                   "you requested PartialObjectMetadataList, but the requested object is not a "
                   "list (*" STR_FMT "." STR_FMT ")",
                   STR_ARG(encode_package(r->group)), STR_ARG(r->type->name));
}

/* An object on its way to the client. */
struct got {
    struct call *call;
    struct encoder encoder;
    bool is_on_worker;
};

/* Whether a worker has to: a webhook must be waited for, or there is much to parse and print, which
 * would hold up all who share the loop. */
static bool needs_worker(const struct got *g, const struct store_entry *e)
{
    return custom_page_wanted(custom_version_of(g->call->stored), e) ||
           (e->value.n > LOOP_BYTES && !encode_splices(&g->encoder, e));
}

/* A webhook is asked after the snapshot has ended, so what it converts is copied. */
static int encode_in(struct got *g, struct store_snap *snap, struct store_entry *e, struct buf *out,
                     struct err *err)
{
    struct call *c = g->call;
    if (custom_page_wanted(custom_version_of(c->stored), e)) {
        e->value = arena_str(c->arena, e->value);
        store_snap_end(snap);
        int r = encode_entry(out, c->arena, &g->encoder, e, err);
        return corrupt_unconverted(e->key, e->mod_rev, r, err);
    }
    int r = encode_entry(out, c->arena, &g->encoder, e, err);
    store_snap_end(snap);
    return r;
}

/* 0; 1 if that is for a worker; or an error. */
static int read_object(struct got *g, struct buf *out, struct err *err)
{
    struct call *c = g->call;
    struct store_snap *snap;
    struct store_entry e;
    int r = store_snap_begin(c->api->store, 0, &snap, err);
    if (r < 0)
        return r;
    struct str key = stored_key(c->arena, c->stored, c->req.ns, c->req.name);
    r = corrupt_object(c->api->store, key, 0, store_snap_get(snap, key, &e, err), err);
    if (r == 1 && (g->is_on_worker || !needs_worker(g, &e))) {
        e.key = key;
        r = encode_in(g, snap, &e, out, err);
        return corrupt_object(c->api->store, key, e.mod_rev, r, err);
    }
    store_snap_end(snap);
    return r == 0 ? error_not_found(err, c->req.resource, c->req.name) : r;
}

/* The same, in the form that the request asks for. */
static int read_shown(struct got *g, struct buf *out, struct err *err)
{
    struct call *c = g->call;
    int r = 0;
    if (c->format.as == FORMAT_TABLE)
        r = encode_include_parse(request_param(&c->req, STR("includeObject")), &g->encoder.include,
                                 err);
    if (r < 0)
        return r;
    return read_object(g, out, err);
}

static void send(struct call *c, int r, struct buf *bytes, struct err *err)
{
    bool is_list = r == 0 && c->format.as == FORMAT_PARTIAL_LIST;
    if (r < 0 || (is_list && refuse_list(c->req.resource, err) < 0)) {
        call_fail(c, err);
        return;
    }
    const struct http_header *headers;
    size_t n = call_headers(c, format_content_type(c->format.media, false), &headers);
    reply_buffer(c->x, 200, headers, n, bytes);
}

/* On a worker, which reads the object anew: until it has time for that, nothing is held. */
static void read_and_send(struct http_exchange *x, void *arg)
{
    struct got *g = arg;
    struct call *c = g->call;
    struct err err = ERR_INIT(c->arena);
    autobuf bytes = { 0 };
    g->is_on_worker = true;
    int r = http_is_crowded(x) ? error_crowded(&err) : read_object(g, &bytes, &err);
    send(c, r, &bytes, &err);
}

/* Those that write do not wait for those that only look. */
static struct workers *readers(const struct call *c)
{
    struct workers *w = call_workers(c);
    return w == c->api->workers ? c->api->read_workers : w;
}

static void answer(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    autobuf bytes = { 0 };
    struct got *g = arena_new(c->arena, struct got);
    g->call = c;
    g->encoder = (struct encoder){
        .format = c->format,
        .resource = c->req.resource,
        .stored = c->stored,
        .now_ns = clock_wall_ns(c->api->clock),
    };
    g->is_on_worker = !loop_is_mine(http_loop(c->x));
    int r = read_shown(g, &bytes, &err);
    if (r <= 0)
        send(c, r, &bytes, &err);
    else
        (void)http_to_worker(c->x, readers(c), read_and_send, g);
}

/* On a worker: the revision may still come. */
static void answer_later(struct http_exchange *x, void *arg)
{
    struct call *c = arg;
    struct err err = ERR_INIT(c->arena);
    uint64_t rev;
    (void)x;
    (void)read_revision(c, &rev, &err);
    if (store_wait(c->api->store, rev, GET_WAIT_NS, &err) == 0) {
        answer(c);
        return;
    }
    err_clear(&err);
    (void)selection_too_new(&err, rev, store_rev(c->api->store));
    call_fail(c, &err);
}

void verb_get(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    uint64_t rev;
    if (read_revision(c, &rev, &err) < 0)
        call_fail(c, &err);
    else if (rev > store_rev(c->api->store))
        (void)http_to_worker(c->x, readers(c), answer_later, c);
    else
        answer(c);
}
