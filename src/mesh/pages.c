#include "mesh/pages.h"

#include "base/buf.h"
#include "base/json.h"
#include "mesh/model/tree.h"
#include "mesh/webhook/review.h"
#include "base/banned.h"

static const char *const names[XDS_TYPES] = { "clusters", "endpoints", "listeners", "routes",
                                              "secrets" };

static void answer(struct http_exchange *x, int status, struct str body, bool is_json)
{
    const struct http_header type = { STR("content-type"),
                                      is_json ? STR("application/json") : STR("text/plain") };
    http_reply(x, status, &type, 1, HTTP_BYTES(arena_str(http_arena(x), body)));
}

static void answer_tree(struct http_exchange *x, const struct value *v)
{
    autobuf out = { 0 };
    json_write_pretty(&out, v);
    buf_byte(&out, '\n');
    answer(x, 200, buf_str(&out), true);
}

struct visit {
    struct arena *arena;
    struct str wanted; /* a proxy's id, or its NAME.NAMESPACE; empty: all */
    struct value list;
};

static bool is_wanted(const struct visit *v, const struct mesh_proxy *p)
{
    struct str full = arena_printf(v->arena, STR_FMT "." STR_FMT, STR_ARG(p->name), STR_ARG(p->ns));
    return !v->wanted.n || str_eq(v->wanted, p->id) || str_eq(v->wanted, full) ||
           str_eq(v->wanted, p->name);
}

static void add_status(void *arg, const struct xds_peer *p)
{
    struct visit *v = arg;
    struct arena *a = v->arena;
    struct value types = value_object();
    if (!is_wanted(v, p->proxy))
        return;
    for (int t = 0; t < XDS_TYPES; t++) {
        struct str why = arena_str(a, p->last_refusal[t]);
        const char *word = p->refused[t] && p->acked[t] + p->refused[t] >= p->sent[t] && why.n
                               ? "REFUSED"
                           : p->acked[t] + p->refused[t] < p->sent[t] ? "STALE"
                           : p->sent[t]                               ? "SYNCED"
                                                                      : "NOT SENT";
        value_put(a, &types, str_of(names[t]),
                  tree(a, "{state: %t, sent: %d, acked: %d, refused: %d, why: %s}", word,
                       (int)p->sent[t], (int)p->acked[t], (int)p->refused[t],
                       why.n ? why : (struct str){ 0 }));
    }
    value_put_item(a, &v->list,
                   tree(a, "{proxy: %s, delta: %b, types: %v}", arena_str(a, p->proxy->id),
                        p->is_delta, types));
}

static void add_config(void *arg, const struct xds_peer *p)
{
    struct visit *v = arg;
    struct arena *a = v->arena;
    struct value config = value_object();
    if (!is_wanted(v, p->proxy))
        return;
    for (int t = 0; t < XDS_TYPES; t++) {
        struct value all = value_array();
        size_t pos = 0;
        struct str key;
        void *unused;
        while (map_next(p->names[t], &pos, &key, &unused)) {
            struct value one = t == XDS_SECRET ? tree(a, "{name: %s}", arena_str(a, key))
                                               : class_tree(p->class, a, t, arena_str(a, key));
            if (one.type != VALUE_NULL)
                value_put_item(a, &all, one);
        }
        value_put(a, &config, str_of(names[t]), all);
    }
    value_put_item(a, &v->list,
                   tree(a, "{proxy: %s, config: %v}", arena_str(a, p->proxy->id), config));
}

static void review(struct http_exchange *x)
{
    autobuf out = { 0 };
    struct err err = ERR_INIT(http_arena(x));
    if (review_answer(http_arena(x), http_request_of(x)->body, &out, &err) < 0)
        answer(x, 400, err.msg, false);
    else
        answer(x, 200, buf_str(&out), true);
}

void pages_answer(struct xds_server *s, struct http_exchange *x)
{
    const struct http_request *req = http_request_of(x);
    struct visit v = { http_arena(x), req->query, value_array() };
    bool posts = str_eq(req->method, STR("POST"));
    if (posts && str_eq(req->path, STR("/validate"))) {
        review(x);
    } else if (str_eq(req->path, STR("/status"))) {
        xds_server_each(s, add_status, &v);
        answer_tree(x, &v.list);
    } else if (str_eq(req->path, STR("/config"))) {
        xds_server_each(s, add_config, &v);
        answer_tree(x, &v.list);
    } else if (str_eq(req->path, STR("/ready"))) {
        bool is_ready = xds_server_snapshot(s) != NULL;
        answer(x, is_ready ? 200 : 503, is_ready ? STR("ok\n") : STR("not yet\n"), false);
    } else {
        answer(x, 404, STR("not found\n"), false);
    }
}
