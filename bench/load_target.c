#include "bench/load_target.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/load_process.h"

#include "base/banned.h"

enum {
    OPEN_MS = 30000,
    DIALS_AT_ONCE = 64,
    BODY_MAX_BYTES = 64 << 10, /* of an answer to a call; the rest is not kept */
    CLEAR_ROUNDS = 60,
    CLEAR_PAUSE_US = 500000,
};

#define CUSTOM_GROUP "load.example.com"
#define DEFINITIONS  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

const struct load_resource load_config_maps = { "/api/v1", "configmaps", "v1", "ConfigMap" };
const struct load_resource load_custom_maps = { "/apis/" CUSTOM_GROUP "/v1", "custommaps",
                                                CUSTOM_GROUP "/v1", "CustomMap" };

static const char custom_definition[] =
    "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
    "\"metadata\":{\"name\":\"custommaps." CUSTOM_GROUP "\"},\"spec\":{\"group\":\"" CUSTOM_GROUP
    "\",\"scope\":\"Namespaced\",\"names\":{\"plural\":\"custommaps\",\"kind\":\"CustomMap\"},"
    "\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{"
    "\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"data\":{\"type\":\"object\","
    "\"additionalProperties\":{\"type\":\"string\"}}}}}}]}}";

/* ---- Connections ---- */

/* How many are still on their way; the reason of one that failed goes into `err`. */
static int count_pending(const struct load_pool *p, size_t *ret, struct err *err)
{
    *ret = 0;
    for (size_t i = 0; i < p->n; i++) {
        const char *why = load_conn_broken(p->conns[i]);
        if (why)
            return err_set(err, ERR_UNAVAILABLE, "%s", why);
        *ret += !load_conn_is_ready(p->conns[i]);
    }
    return 0;
}

static int dial_all(struct load_pool *p, struct load_target *t, size_t n, struct err *err)
{
    int64_t give_up = clock_mono_ns(&clock_system) + OPEN_MS * NS_PER_MS;
    size_t pending = 0;
    while (p->n < n || pending) {
        for (; p->n < n && pending < DIALS_AT_ONCE; p->n++, pending++) {
            p->conns[p->n] = load_conn_new(&t->loop, &t->endpoint, err);
            if (!p->conns[p->n])
                return -(int)err->code;
        }
        load_loop_turn(&t->loop, 100);
        int r = count_pending(p, &pending, err);
        if (r < 0)
            return r;
        if (clock_mono_ns(&clock_system) > give_up)
            return err_set(err, ERR_TIMEOUT, "%zu of %zu connections were not ready in time",
                           n - (p->n - pending), n);
    }
    return 0;
}

int load_pool_open(struct load_pool *p, struct load_target *t, size_t n, struct err *err)
{
    *p = (struct load_pool){ .conns = mem_array(n, sizeof(*p->conns)) };
    int r = dial_all(p, t, n, err);
    if (r < 0) {
        load_pool_close(p);
        return err_wrap(err, STR_FMT, STR_ARG(t->endpoint.authority));
    }
    return 0;
}

void load_pool_close(struct load_pool *p)
{
    for (size_t i = 0; i < p->n; i++)
        load_conn_free(p->conns[i]);
    free(p->conns);
    *p = (struct load_pool){ 0 };
}

/* ---- Calls ---- */

struct call {
    struct load_request request;
    void (*on_bytes)(void *arg, struct str bytes);
    void *arg;
    bool done;
};

static void call_data(struct load_request *r, struct str bytes)
{
    struct call *call = r->owner;
    call->on_bytes(call->arg, bytes);
}

static void call_done(struct load_request *r)
{
    ((struct call *)r->owner)->done = true;
}

int load_call_stream(struct load_target *t, const char *method, struct str path, struct str body,
                     void (*on_bytes)(void *arg, struct str bytes), void *arg, struct err *err)
{
    struct load_pool pool;
    struct call call = { .on_bytes = on_bytes, .arg = arg };
    call.request = (struct load_request){ .method = str_of(method),
                                          .path = path,
                                          .body = body,
                                          .on_data = call_data,
                                          .on_done = call_done,
                                          .owner = &call };
    int r = load_pool_open(&pool, t, 1, err);
    if (r < 0)
        return r;
    int64_t give_up = clock_mono_ns(&clock_system) + LOAD_CALL_MS * NS_PER_MS;
    bool taken = load_conn_submit(pool.conns[0], &call.request);
    while (taken && !call.done && clock_mono_ns(&clock_system) < give_up)
        load_loop_turn(&t->loop, 100);
    r = call.done ? call.request.status : 0;
    const char *why = load_conn_broken(pool.conns[0]);
    if (r == 0)
        r = err_set(err, ERR_UNAVAILABLE, "%s " STR_FMT ": %s", method, STR_ARG(path),
                    why ? why : "no answer");
    load_pool_close(&pool);
    return r;
}

static void keep_bytes(void *arg, struct str bytes)
{
    struct buf *body = arg;
    if (body && body->n < BODY_MAX_BYTES)
        buf_str_add(body, str_take(bytes, BODY_MAX_BYTES - body->n));
}

int load_call(struct load_target *t, const char *method, struct str path, struct str body,
              struct buf *ret_body, struct err *err)
{
    return load_call_stream(t, method, path, body, keep_bytes, ret_body, err);
}

static int bad_status(struct err *err, const char *doing, int status, const struct buf *body)
{
    return err_set(err, ERR_INTERNAL, "%s: %d " STR_FMT, doing, status,
                   STR_ARG(str_trim(str_take(buf_str(body), 200))));
}

bool load_find_text(struct str in, struct str before, struct str *ret)
{
    const char *at = in.n ? memmem(in.p, in.n, before.p, before.n) : NULL;
    if (!at)
        return false;
    struct str rest = str_skip(in, (size_t)(at - in.p) + before.n);
    ptrdiff_t end = str_find(rest, '"');
    if (end < 0)
        return false;
    *ret = str_take(rest, (size_t)end);
    return true;
}

/* ---- The namespace ---- */

void load_target_path(const struct load_target *t, struct buf *out)
{
    buf_reset(out);
    buf_printf(out, "%s/namespaces/%s/%s", t->resource->root, t->namespace, t->resource->plural);
}

/* One that is there already may be from another run, which then also ends it. */
static int make_definition(struct load_target *t, struct err *err)
{
    autobuf answer = { 0 };
    int status = load_call(t, "POST", STR(DEFINITIONS), str_of(custom_definition), &answer, err);
    if (status < 0)
        return status;
    if (status != 201 && status != 409)
        return bad_status(err, "create the definition", status, &answer);
    t->made_definition = status == 201;
    for (int i = 0; i < CLEAR_ROUNDS; i++) { /* others need a moment until they serve it */
        status = load_call(t, "GET", str_of("/apis/" CUSTOM_GROUP "/v1/custommaps"),
                           (struct str){ 0 }, NULL, err);
        if (status == 200 || status < 0)
            return status < 0 ? status : 0;
        (void)usleep(CLEAR_PAUSE_US);
    }
    return err_set(err, ERR_TIMEOUT, "the definition does not come to life");
}

int load_target_make_namespace(struct load_target *t, const char *name, struct err *err)
{
    uint32_t random = 0;
    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
        return err_set(err, ERR_INTERNAL, "no random numbers");
    (void)snprintf(t->run, sizeof(t->run), "load-%08x", random);
    (void)snprintf(t->namespace, sizeof(t->namespace), "%s", name ? name : t->run);
    autobuf body = { 0 };
    autobuf answer = { 0 };
    buf_printf(&body,
               "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"%s\"}}",
               t->namespace);
    int status = load_call(t, "POST", STR("/api/v1/namespaces"), buf_str(&body), &answer, err);
    if (status < 0)
        return status;
    if (status != 201 && !(status == 409 && name))
        return bad_status(err, "create the namespace", status, &answer);
    t->made_namespace = status == 201;
    return t->resource == &load_custom_maps ? make_definition(t, err) : 0;
}

int load_target_clear(struct load_target *t, struct err *err)
{
    autobuf path = { 0 };
    autobuf answer = { 0 };
    load_target_path(t, &path);
    if (!t->made_namespace)
        buf_printf(&path, "?labelSelector=load%%3D%s", t->run);
    int status = 0;
    for (int i = 0; i < CLEAR_ROUNDS; i++) {
        buf_reset(&answer);
        status = load_call(t, "DELETE", buf_str(&path), (struct str){ 0 }, &answer, err);
        /* A server that bounds the time of a request has deleted a part; it is asked again. */
        if (status != 504 && status != 429)
            break;
        (void)usleep(CLEAR_PAUSE_US);
    }
    if (status < 0)
        return status;
    return status == 200 ? 0 : bad_status(err, "delete the objects", status, &answer);
}

int load_target_drop_namespace(struct load_target *t, struct err *err)
{
    autobuf path = { 0 };
    autobuf answer = { 0 };
    if (t->made_definition) {
        t->made_definition = false;
        int r = load_call(t, "DELETE", STR(DEFINITIONS "/custommaps." CUSTOM_GROUP),
                          (struct str){ 0 }, &answer, err);
        if (r < 0)
            return r;
        buf_reset(&answer);
    }
    if (!t->made_namespace)
        return 0;
    t->made_namespace = false;
    buf_printf(&path, "/api/v1/namespaces/%s", t->namespace);
    int status = load_call(t, "DELETE", buf_str(&path), (struct str){ 0 }, &answer, err);
    if (status < 0)
        return status;
    if (status != 200 && status != 202)
        return bad_status(err, "delete the namespace", status, &answer);
    return 0;
}

/* ---- Lifecycle ---- */

int load_target_init(struct load_target *t, struct arena *a, const char *label, const char *where,
                     bool remote, struct err *err)
{
    *t = (struct load_target){ .label = label, .resource = &load_config_maps, .loop.epoll_fd = -1 };
    t->plain = where && str_starts(str_of(where), STR("https://"));
    int r = t->plain ? load_config_url(a, str_of(where), &t->config, err)
                     : load_config_read(a, where, &t->config, err);
    if (r == 0)
        r = load_endpoint_init(&t->endpoint, a, &t->config, remote, err);
    if (r == 0)
        r = load_loop_init(&t->loop, err);
    if (r == 0 && t->endpoint.loopback)
        t->pid = load_process_find((const struct sockaddr *)&t->endpoint.addr);
    return r;
}

void load_target_done(struct load_target *t)
{
    if (t->loop.epoll_fd >= 0)
        load_loop_done(&t->loop);
    load_endpoint_done(&t->endpoint);
    free(t->versions);
    t->versions = NULL;
}
