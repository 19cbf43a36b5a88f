#include "server/custom/suite_webhook.h"

#include <time.h>

#include "base/idiom.h"
#include "base/json.h"
#include "server/object/stored.h"

#define GROUP "suite.example.com"

/* ---- The webhook ---- */

static struct value review_of(struct arena *a, const struct http_request *http)
{
    struct value review;
    if (json_read(a, http->body, NULL, &review, NULL) < 0)
        fail_msg("the webhook got " STR_FMT, STR_ARG(http->body));
    return review;
}

static void add_converted(struct arena *a, struct buf *out, const struct value *obj, struct str to)
{
    struct value copy = value_borrow(obj);
    value_put(a, &copy, STR("apiVersion"), value_string(to));
    value_put(a, value_edit(a, &copy, STR("spec")), STR("by"), value_string(STR("webhook")));
    if (out->n)
        buf_byte(out, ',');
    json_write(out, &copy);
}

static struct str work(struct arena *a, const struct value *request)
{
    autobuf objects = { 0 };
    const char *result = "{\"status\":\"Success\"}";
    struct str to = value_str(value_get(request, STR("desiredAPIVersion")));
    value_each_item (it, value_get(request, STR("objects"))) {
        add_converted(a, &objects, it, to);
        if (str_eq(value_str(value_dig(it, "metadata", "name")), STR("bad")))
            result = "{\"status\":\"Failure\",\"message\":\"bad is bad\"}";
    }
    return arena_printf(a,
                        "{\"kind\":\"ConversionReview\",\"apiVersion\":\"apiextensions.k8s.io/v1\","
                        "\"response\":{\"uid\":\"" STR_FMT "\",\"result\":%s,"
                        "\"convertedObjects\":[" STR_FMT "]}}",
                        STR_ARG(value_str(value_get(request, STR("uid")))), result,
                        STR_ARG(buf_str(&objects)));
}

/* With double quotes instead of single ones, and `with` for each $. */
static struct str said(struct arena *a, const char *text, struct str with)
{
    autobuf out = { 0 };
    for (const char *p = text; *p; p++)
        if (*p == '$')
            buf_str_add(&out, with);
        else
            buf_byte(&out, *p == '\'' ? '"' : *p);
    return arena_str(a, buf_str(&out));
}

static void answer(struct suite_webhook *w, struct http_exchange *x)
{
    static const struct http_header type = { STR("content-type"), STR("application/json") };
    struct arena *a = http_arena(x);
    struct value review = review_of(a, http_request_of(x));
    const struct value *request = value_get(&review, STR("request"));
    const char *told = atomic_load(&w->answer);
    int status = atomic_load(&w->status);
    struct str body =
        told ? said(a, told, value_str(value_get(request, STR("uid")))) : work(a, request);
    http_reply(x, status ? status : 200, &type, 1, HTTP_BYTES(body));
}

static void on_request(void *arg, struct http_exchange *x)
{
    struct suite_webhook *w = arg;
    struct value review = review_of(http_arena(x), http_request_of(x));
    atomic_fetch_add(&w->n_objects, value_dig(&review, "request", "objects")->n);
    bool waits = atomic_load(&w->is_slow);
    if (waits) {
        assert_true(w->n_held < SUITE_WEBHOOK_HELD);
        w->held[w->n_held++] = x;
    }
    atomic_fetch_add(&w->n_calls, 1);
    if (!waits)
        answer(w, x);
}

static void on_release(struct loop *l, struct loop_msg *m)
{
    struct suite_webhook *w = container_of(m, struct suite_webhook, release);
    (void)l;
    while (w->n_held)
        answer(w, w->held[--w->n_held]);
}

void suite_webhook_await_calls(const struct suite_webhook *w, size_t n)
{
    const struct timespec moment = { .tv_nsec = 1000000 };
    while (atomic_load(&w->n_calls) < n)
        (void)nanosleep(&moment, NULL);
}

void suite_webhook_release(struct suite_webhook *w)
{
    suite_webhook_await_calls(w, 1);
    w->release.run = on_release;
    loop_post(w->server.loop, &w->release);
}

/* ---- The kind ---- */

static const char definition[] =
    "{'metadata':{'name':'widgets." GROUP "','uid':'0',"
    "'creationTimestamp':'2026-01-02T03:04:05Z'},'spec':{'group':'" GROUP "',"
    "'scope':'Cluster','names':{'plural':'widgets','kind':'Widget'},"
    "'versions':[{'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':"
    "{'type':'object','x-kubernetes-preserve-unknown-fields':true}}},"
    "{'name':'v2','served':true,'storage':false,'schema':{'openAPIV3Schema':"
    "{'type':'object','x-kubernetes-preserve-unknown-fields':true}}}],"
    "'conversion':{'strategy':'Webhook','webhook':{'conversionReviewVersions':['v1'],"
    "'clientConfig':{'url':'http://$/convert'}}}},"
    "'status':{'acceptedNames':{'plural':'widgets','kind':'Widget','singular':'widget',"
    "'listKind':'WidgetList'},'conditions':[{'type':'NamesAccepted','status':'True'},"
    "{'type':'Established','status':'True'}]}}";

static uint64_t put(struct suite_webhook *w, struct str key, const struct kind_resource *r,
                    struct str json)
{
    struct err err = ERR_INIT(&w->arena);
    struct value obj;
    assert_int_equal(json_read(&w->arena, json, NULL, &obj, &err), 0);
    autobuf bytes = { 0 };
    stored_write(&bytes, r, &obj);
    struct store_op op = { STORE_PUT, key, buf_str(&bytes), STORE_ANY };
    struct store_txn txn = { .ops = &op, .n_ops = 1 };
    assert_int_equal(store_commit(w->api->store, &txn, &err), 0);
    return txn.rev;
}

static void define(struct suite_webhook *w)
{
    struct err err = ERR_INIT(&w->arena);
    const struct kind_resource *crds = custom_definitions();
    (void)put(w, stored_key(&w->arena, crds, STR(""), STR("widgets." GROUP)), crds,
              said(&w->arena, definition, w->server.address));
    assert_int_equal(custom_kinds_load(w->api->custom, &err), 0);
    w->custom = custom_find(w->api->custom, STR(GROUP), STR("widgets"));
    assert_non_null(w->custom);
    w->v1 = custom_named(w->custom, STR("v1"));
    w->v2 = custom_named(w->custom, STR("v2"));
}

struct str suite_webhook_key(struct suite_webhook *w, const char *name)
{
    return stored_key(&w->arena, &w->v1->resource, STR(""), str_of(name));
}

uint64_t suite_webhook_put(struct suite_webhook *w, const char *name,
                           const struct custom_version *version)
{
    static const char obj[] =
        "{'metadata':{'name':'$','creationTimestamp':'2026-01-02T03:04:05Z'},'spec':{}}";
    return put(w, suite_webhook_key(w, name), &version->resource,
               said(&w->arena, obj, str_of(name)));
}

const char *suite_webhook_shown(struct suite_webhook *w, const struct store_entry *e)
{
    struct stored s;
    struct value obj;
    struct err err = ERR_INIT(&w->arena);
    assert_int_equal(stored_open(e, &s, &err), 0);
    assert_int_equal(stored_read(&w->arena, NULL, e, &obj, &err), 0);
    bool converted = value_str(value_dig(&obj, "spec", "by")).n;
    return str_cstr(&w->arena, arena_printf(&w->arena, STR_FMT "%s", STR_ARG(s.version),
                                            converted ? ", converted" : ""));
}

/* ---- Start and stop ---- */

void suite_webhook_start(struct suite_webhook *w, struct api *api)
{
    const struct store_options opt = { .engine = STORE_MEMORY };
    *w = (struct suite_webhook){ .api = api, .owns_store = !api->store };
    arena_init(&w->arena);
    struct err err = ERR_INIT(&w->arena);
    if (w->owns_store) {
        *api = (struct api){ .clock = &clock_system };
        assert_int_equal(store_open(&opt, &api->store, &err), 0);
        api->custom = custom_kinds_new(api->store);
    }
    workers_free(api->hook_workers); /* of a live server; a test wants few */
    api->hook_workers = workers_new(2, 10);
    suite_server_start(&w->server, on_request, w, NULL);
    define(w);
}

void suite_webhook_stop(struct suite_webhook *w)
{
    struct api *api = w->api;
    api->hook_workers = workers_free(api->hook_workers);
    custom_unref(w->custom);
    suite_server_free(&w->server);
    arena_done(&w->arena);
    if (w->owns_store) {
        custom_kinds_free(api->custom);
        api->store = store_close(api->store);
    }
}
