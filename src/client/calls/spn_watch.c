/* spn_watch.c - events, one on each line of an answer that does not end. */
#include <sampan/client.h>

#include <stdlib.h>

#include "base/idiom.h"
#include "base/json.h"
#include "base/mem.h"
#include "client/calls/client_codec.h"
#include "client/calls/client.h"
#include "client/calls/lines.h"
#include "base/banned.h"

enum { EVENT_MAX_BYTES = 64 << 20 };

struct spn_watch {
    struct stop_listener listener; /* first */
    struct spn_stop *stop;
    struct delivery *delivery;
    struct lines lines;
};

static void on_stop(struct stop_listener *l)
{
    delivery_cancel(((struct spn_watch *)l)->delivery);
}

static int watch_path(const struct spn_client *c, struct arena *a, const struct spn_target *at,
                      const struct spn_watch_options *opt, struct str *ret, struct spn_err *err)
{
    struct client_query q = { 0 };
    query_add(&q, "watch", STR("true"));
    query_add(&q, "labelSelector", opt->labels ? str_of(opt->labels) : STR(""));
    query_add(&q, "fieldSelector", opt->fields ? str_of(opt->fields) : STR(""));
    query_add(&q, "resourceVersion", str_in(opt->from));
    query_add_bool(&q, "allowWatchBookmarks", opt->bookmarks);
    query_add_int(&q, "timeoutSeconds", opt->timeout_sec);
    query_add_bool(&q, "includeUninitialized", client_shows_uninitialized(c));
    if (opt->initial_events) {
        query_add_bool(&q, "sendInitialEvents", true);
        query_add(&q, "resourceVersionMatch", STR("NotOlderThan"));
    }
    int r = client_path(a, at, &q, ret, err);
    buf_done(&q.text);
    return r;
}

static int watch_open(struct spn_client *c, const struct spn_target *at,
                      const struct spn_watch_options *opt, struct spn_stop *stop, struct arena *a,
                      struct delivery **ret, struct spn_err *err)
{
    struct client_request req = {
        .method = STR("GET"),
        .accept = codec_accept(opt->metadata_only ? CODEC_METADATA : CODEC_WHOLE,
                               client_speaks_protobuf(c) && codec_type_at(at)),
        .is_endless = true,
    };
    int r = watch_path(c, a, at, opt, &req.path, err);
    if (r < 0)
        return r;
    return client_open(c, &req, stop, a, ret, err);
}

/* Events in protobuf have their lengths in front. The head has come already. */
static bool is_framed(struct delivery *d)
{
    struct fetch_reply head;
    if (delivery_head(d, &head, NULL) < 0)
        return false;
    const struct http_request look = { .headers = head.headers, .n_headers = head.n_headers };
    return str_starts(http_header_get(&look, STR("content-type")), CODEC_PROTO);
}

int spn_client_watch(struct spn_client *c, const struct spn_target *at,
                     const struct spn_watch_options *opt, struct spn_stop *stop,
                     struct spn_arena *a, struct spn_watch **ret, struct spn_err *err)
{
    static const struct spn_watch_options usual;
    struct delivery *d;
    int r = watch_open(c, at, opt ? opt : &usual, stop, arena_in(a), &d, err);
    if (r < 0)
        return r;
    struct spn_watch *w = mem_new(struct spn_watch);
    w->listener.on_stop = on_stop;
    w->delivery = d;
    w->stop = stop;
    w->lines.is_framed = is_framed(d);
    stop_listen(stop, &w->listener);
    *ret = w;
    return 0;
}

struct spn_watch *spn_watch_free(struct spn_watch *w)
{
    if (!w)
        return NULL;
    stop_unlisten(w->stop, &w->listener);
    delivery_free(w->delivery);
    lines_done(&w->lines);
    free(w);
    return NULL;
}

bool watch_can_tell(const struct spn_watch *w)
{
    return delivery_can_tell(w->delivery);
}

void watch_when_ready(struct spn_watch *w, void (*fn)(void *arg), void *arg)
{
    delivery_when_ready(w->delivery, fn, arg);
}

/* 1: a line; 0: the end. */
static int next_line(struct spn_watch *w, int64_t timeout_ms, struct arena *a, struct str *ret,
                     struct spn_err *err)
{
    struct err why = ERR_INIT(a);
    while (!lines_next(&w->lines, ret)) {
        if (lines_held(&w->lines) > EVENT_MAX_BYTES)
            return spn_err_set(err, SPN_TOO_LARGE, "an event larger than %d bytes",
                               EVENT_MAX_BYTES);
        int r = delivery_read(w->delivery, timeout_ms, &w->lines.piece, &why);
        if (r < 0)
            return client_transport_error(&why, err);
        if (r == 0)
            return lines_held(&w->lines)
                       ? spn_err_set(err, SPN_UNAVAILABLE, "the last event was cut short")
                       : 0;
        lines_refilled(&w->lines);
    }
    return 1;
}

static bool event_type(struct str name, enum spn_event_type *ret)
{
    static const struct {
        struct str name;
        enum spn_event_type type;
    } types[] = {
        { STR("ADDED"), SPN_EVENT_ADDED },
        { STR("MODIFIED"), SPN_EVENT_MODIFIED },
        { STR("DELETED"), SPN_EVENT_DELETED },
        { STR("BOOKMARK"), SPN_EVENT_BOOKMARK },
    };
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_eq(types[i].name, name)) {
            *ret = types[i].type;
            return true;
        }
    return false;
}

static int read_json_event(struct arena *a, struct str line, struct str *ret_type,
                           struct value **ret, struct err *err)
{
    struct value *event = arena_new(a, struct value);
    int r = json_read(a, line, NULL, event, err);
    if (r < 0)
        return r;
    *ret_type = value_text(event, "type");
    *ret = value_edit(a, event, STR("object"));
    return 0;
}

static int read_proto_event(struct arena *a, struct str frame, struct str *ret_type,
                            struct value **ret, struct err *err)
{
    struct str bytes;
    int r = codec_read_event(frame, ret_type, &bytes, err);
    if (r < 0)
        return r;
    *ret = arena_new(a, struct value);
    return codec_read(a, bytes, *ret, err);
}

static int read_event(struct spn_watch *w, struct arena *a, struct str line, struct spn_event *ret,
                      struct spn_err *err)
{
    struct err why = ERR_INIT(a);
    struct str type;
    struct value *object = NULL;
    struct str kept = arena_str(a, line);
    int r = w->lines.is_framed ? read_proto_event(a, kept, &type, &object, &why)
                               : read_json_event(a, kept, &type, &object, &why);
    if (r < 0)
        return err_out(err, &why, SPN_MALFORMED);
    if (!value_is(object, VALUE_OBJECT))
        return spn_err_set(err, SPN_MALFORMED, "an event without an object");
    if (str_eq(type, STR("ERROR")))
        return client_status_of(object, err);
    if (!event_type(type, &ret->type))
        return spn_err_set(err, SPN_MALFORMED, "an event of type \"" STR_FMT "\"",
                           STR_ARG(str_take(type, 40)));
    ret->object = value_out_edit(object);
    return 1;
}

int spn_watch_next(struct spn_watch *w, int64_t timeout_ms, struct spn_arena *a,
                   struct spn_event *ret, struct spn_err *err)
{
    struct str line;
    int r = next_line(w, timeout_ms, arena_in(a), &line, err);
    return r <= 0 ? r : read_event(w, arena_in(a), line, ret, err);
}
