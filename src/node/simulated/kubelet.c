#include "node/simulated/kubelet.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "api/go/gotime.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "base/mem.h"
#include "base/percent.h"
#include "client/bridge.h"
#include "net/http/solo.h"
#include "net/loop.h"
#include "net/crypto/pki.h"
#include "net/tls.h"
#include "net/ws/ws.h"
#include "node/simulated/pod_log.h"
#include "node/simulated/usage.h"
#include "base/banned.h"

enum { CERTIFICATE_DAYS = 3650, LOOK_MS = 500 };

#define REFUSAL "this node is simulated: no container runs here that could be spoken to"

/* A log that goes on, in the arena of its exchange. */
struct follower {
    LIST_ENTRY(follower) link;
    struct loop_timer timer;
    struct node_kubelet *kubelet;
    struct http_exchange *x;
    struct spn_text key; /* of the pod */
    struct pod_log_wish wish;
    struct pod_log_view view;
    struct spn_text id;
    int64_t last_ns; /* of the last line that was shown */
};

LIST_HEAD(follower_list, follower);

struct node_kubelet {
    struct arena arena;
    struct solo solo;
    struct loop_msg stop;
    int port;
    _Atomic(struct spn_cache *) pods;
    struct follower_list followers; /* the loop's */
};

/* ---- Small answers ---- */

static void say(struct http_exchange *x, int status, struct str text)
{
    static const struct http_header plain = { STR("content-type"), STR("text/plain") };
    http_reply(x, status, &plain, 1, HTTP_BYTES(arena_str(http_arena(x), text)));
}

static void list_pods(struct node_kubelet *k, struct http_exchange *x)
{
    static const struct http_header json = { STR("content-type"), STR("application/json") };
    struct spn_cache *pods = atomic_load(&k->pods);
    struct spn_objects all = { 0 };
    autobuf out = { 0 };
    if (pods)
        spn_cache_list(pods, SPN_TEXT(""), true, &all);
    buf_printf(&out, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":[");
    for (size_t i = 0; i < all.n; i++) /* names and uids are plain text */
        buf_printf(&out,
                   "%s{\"metadata\":{\"name\":\"" SPN_FMT "\",\"namespace\":\"" SPN_FMT
                   "\",\"uid\":\"" SPN_FMT "\"}}",
                   i ? "," : "", SPN_ARG(spn_object_name(all.items[i])),
                   SPN_ARG(spn_object_namespace(all.items[i])),
                   SPN_ARG(spn_object_uid(all.items[i])));
    buf_printf(&out, "]}\n");
    spn_objects_done(&all);
    http_reply(x, 200, &json, 1, HTTP_BYTES(arena_str(http_arena(x), buf_str(&out))));
}

static void tell_usage(struct node_kubelet *k, struct http_exchange *x, bool is_json)
{
    static const struct http_header types[] = {
        { STR("content-type"), STR("text/plain; version=0.0.4; charset=utf-8") },
        { STR("content-type"), STR("application/json") },
    };
    struct spn_cache *pods = atomic_load(&k->pods);
    struct spn_arena *kept = spn_arena_new(), *a = spn_arena_new();
    struct spn_objects all = { 0 };
    struct usage_list list = { 0 };
    autobuf out = { 0 };
    if (pods)
        spn_cache_list(pods, SPN_TEXT(""), true, &all);
    for (size_t i = 0; i < all.n; i++) {
        usage_add(kept, &list, spn_object_value(all.items[i], a));
        spn_arena_reset(a);
    }
    spn_objects_done(&all);
    (is_json ? usage_summary : usage_metrics)(&out, &list, clock_wall_ns(&clock_system));
    http_reply(x, 200, &types[is_json], 1, HTTP_BYTES(arena_str(http_arena(x), buf_str(&out))));
    usage_done(&list);
    spn_arena_free(a);
    spn_arena_free(kept);
}

/* ---- What cannot be done ---- */

static void on_ws_close(void *arg, struct ws *ws, unsigned code)
{
    (void)arg;
    (void)ws;
    (void)code;
}

/* Clients of the newer protocols read how a command ended from a channel of its own, which the
 * first byte names; the others read a Status. A text would do, but kubectl takes one with a colon
 * for YAML and shows nothing. */
static void refuse(struct http_exchange *x, bool is_command)
{
    static const struct str protocols[] = { STR("v5.channel.k8s.io"), STR("v4.channel.k8s.io") };
    static const struct http_header json = { STR("content-type"), STR("application/json") };
    static const struct ws_handler handler = { .on_close = on_ws_close };
    static const char status[] =
        "\x03{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
        "\"message\":\"" REFUSAL "\",\"reason\":\"InternalError\",\"code\":501}";
    if (!is_command || !ws_wanted(http_request_of(x))) {
        http_reply(x, 501, &json, 1, HTTP_BYTES(((struct str){ status + 1, sizeof(status) - 2 })));
        return;
    }
    struct ws *ws = ws_accept(x, protocols, ARRAY_LEN(protocols), &handler);
    if (!ws)
        return;
    ws_send(ws, WS_BINARY, (struct str){ status, sizeof(status) - 1 });
    ws_close(ws, 1000, STR(""));
}

/* ---- Parameters ---- */

static struct str param(struct http_exchange *x, const char *name)
{
    struct str rest = http_request_of(x)->query, value = STR("");
    while (rest.n) {
        struct str one = str_cut(&rest, '&'), key = str_cut(&one, '=');
        if (str_eq(key, str_of(name)) && one.n && percent_decode(http_arena(x), one, true, &value))
            return value;
    }
    return STR("");
}

static int64_t number(struct http_exchange *x, const char *name, int64_t otherwise)
{
    int64_t n;
    return str_to_i64(param(x, name), &n) ? n : otherwise;
}

static struct pod_log_view read_view(struct http_exchange *x)
{
    struct pod_log_view view = { .tail = number(x, "tailLines", -1),
                                 .limit = number(x, "limitBytes", -1),
                                 .timestamps = str_eq(param(x, "timestamps"), STR("true")) };
    const int64_t seconds = number(x, "sinceSeconds", 0);
    struct str since = param(x, "sinceTime");
    if (seconds > 0)
        view.since_ns = clock_wall_ns(&clock_system) - seconds * NS_PER_SEC;
    else
        (void)gotime_read_ns(since, &view.since_ns);
    return view;
}

/* ---- Logs ---- */

static int read_log(const struct follower *f, struct spn_arena *a, struct pod_log *ret,
                    struct spn_text *ret_why)
{
    struct spn_cache *pods = atomic_load(&f->kubelet->pods);
    struct spn_object *o = pods ? spn_cache_get(pods, f->key) : NULL;
    struct pod_log_wish wish = f->wish;
    if (!o) {
        *ret_why = spn_arena_printf(a, "pod \"" SPN_FMT "\" does not exist", SPN_ARG(f->key));
        return 404;
    }
    wish.now_ns = clock_wall_ns(&clock_system);
    const int status = pod_log_read(a, spn_object_value(o, a), &wish, ret, ret_why);
    spn_object_unref(o);
    return status;
}

static void write_text(struct http_exchange *x, struct spn_text text)
{
    if (!text.n)
        return;
    char *copy = mem_dup(text.p, text.n);
    http_reply_write(x,
                     (struct http_bytes){ .s = { copy, text.n }, .release = free, .owner = copy });
}

static void stop_following(struct follower *f)
{
    static const struct http_events none = { 0 };
    LIST_REMOVE(f, link);
    loop_timer_cancel(&f->timer);
    http_listen_to(f->x, &none);
    http_reply_end(f->x, NULL, 0);
}

/* How many lines were shown. The end may be of the same second as the line before it. */
static size_t count_seen(const struct follower *f, const struct pod_log *log)
{
    size_t n = 0;
    while (n < log->n && log->lines[n].at_ns <= f->last_ns)
        n++;
    return n == log->n && log->is_over && n ? n - 1 : n;
}

static void look_again(struct loop_timer *t)
{
    struct follower *f = container_of(t, struct follower, timer);
    struct spn_arena *a = spn_arena_new();
    struct pod_log log = { 0 };
    struct spn_text why;
    const bool is_there = read_log(f, a, &log, &why) == 0 && spn_text_eq(log.id, f->id);
    if (is_there && log.n && http_reply_room(f->x)) {
        write_text(f->x, pod_log_text(a, &log, &f->view, count_seen(f, &log)));
        f->last_ns = log.lines[log.n - 1].at_ns;
    }
    const bool is_over = !is_there || log.is_over;
    spn_arena_free(a);
    if (is_over)
        stop_following(f);
    else
        loop_timer_set(f->kubelet->solo.loop, t,
                       loop_now_ns(f->kubelet->solo.loop) + LOOK_MS * NS_PER_MS);
}

static void on_gone(void *arg, struct http_exchange *x)
{
    (void)x;
    stop_following(arg);
}

static void follow(struct follower *f, const struct pod_log *log)
{
    struct node_kubelet *k = f->kubelet;
    const struct http_events events = { .arg = f, .on_gone = on_gone };
    f->id = text_out(arena_str(http_arena(f->x), str_in(log->id)));
    f->last_ns = log->n ? log->lines[log->n - 1].at_ns : 0;
    f->view.tail = f->view.limit = -1;
    f->timer.on_fire = look_again;
    LIST_INSERT_HEAD(&k->followers, f, link);
    http_set_time(f->x, 0);
    http_listen_to(f->x, &events);
    loop_timer_set(k->solo.loop, &f->timer, loop_now_ns(k->solo.loop) + LOOK_MS * NS_PER_MS);
}

static void begin_log(struct follower *f, struct spn_arena *a)
{
    static const struct http_header plain = { STR("content-type"), STR("text/plain") };
    struct pod_log log = { 0 };
    struct spn_text why = { 0 };
    const int refused = read_log(f, a, &log, &why);
    if (refused) {
        say(f->x, refused, str_in(why));
        return;
    }
    http_reply_begin(f->x, 200, &plain, 1);
    write_text(f->x, pod_log_text(a, &log, &f->view, 0));
    if (str_eq(param(f->x, "follow"), STR("true")) && !log.is_over)
        follow(f, &log);
    else
        http_reply_end(f->x, NULL, 0);
}

/* NS/POD/CONTAINER */
static void serve_log(struct node_kubelet *k, struct http_exchange *x, struct str rest)
{
    struct arena *memory = http_arena(x);
    struct str ns = str_cut(&rest, '/'), pod = str_cut(&rest, '/');
    struct follower *f = arena_new(memory, struct follower);
    struct spn_arena *a = spn_arena_new();
    f->kubelet = k;
    f->x = x;
    f->key = text_out(arena_printf(memory, STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(pod)));
    f->wish.container = text_out(rest);
    f->wish.previous = str_eq(param(x, "previous"), STR("true"));
    f->view = read_view(x);
    begin_log(f, a);
    spn_arena_free(a);
}

/* ---- Requests ---- */

static void on_request(void *arg, struct http_exchange *x)
{
    struct node_kubelet *k = arg;
    struct str rest = str_skip(http_request_of(x)->path, 1), first = str_cut(&rest, '/');
    if (str_eq(first, STR("containerLogs")))
        serve_log(k, x, rest);
    else if (str_eq(first, STR("exec")) || str_eq(first, STR("attach")))
        refuse(x, true);
    else if (str_eq(first, STR("portForward")) || str_eq(first, STR("run")))
        refuse(x, false);
    else if (str_eq(first, STR("healthz")))
        say(x, 200, STR("ok"));
    else if (str_eq(first, STR("pods")))
        list_pods(k, x);
    else if (str_eq(first, STR("stats")) && str_eq(rest, STR("summary")))
        tell_usage(k, x, true);
    else if (str_eq(first, STR("metrics")) && str_eq(rest, STR("resource")))
        tell_usage(k, x, false);
    else
        say(x, 404, STR("404 page not found\n"));
}

/* ---- Beginning and end ---- */

static int make_tls(struct arena *a, struct tls_context **ret, struct err *err)
{
    const int64_t now_sec = clock_wall_ns(&clock_system) / NS_PER_SEC;
    const struct str name = STR("localhost"), ip = STR("127.0.0.1");
    struct pki_pair ca, own;
    int r = pki_make_ca(a, STR("sampan-nodes-ca"), now_sec, CERTIFICATE_DAYS, &ca, err);
    if (r < 0)
        return r;
    const struct pki_leaf leaf = {
        .common_name = STR("sampan-nodes"),
        .dns_names = &name,
        .n_dns_names = 1,
        .ips = &ip,
        .n_ips = 1,
        .server = true,
        .now_sec = now_sec,
        .days = CERTIFICATE_DAYS,
    };
    r = pki_issue(a, &ca, &leaf, &own, err);
    if (r < 0)
        return r;
    const struct tls_config cfg = { .cert_pem = own.cert_pem,
                                    .key_pem = own.key_pem,
                                    .server = true };
    return tls_context_new(&cfg, ret, err);
}

static int listen_here(struct node_kubelet *k, struct err *err)
{
    struct tls_context *tls;
    struct str address;
    int64_t port;
    const struct http_handler handler = { .arg = k, .on_request = on_request };
    int r = solo_init(&k->solo, &handler, NULL, NULL, err);
    if (r < 0)
        return r;
    r = make_tls(&k->arena, &tls, err);
    if (r < 0)
        return r;
    r = http_server_listen(k->solo.http, STR("127.0.0.1:0"), tls, &k->arena, &address, err);
    tls_context_unref(tls);
    if (r < 0)
        return r;
    (void)str_cut(&address, ':');
    k->port = str_to_i64(address, &port) ? (int)port : 0;
    return 0;
}

static struct node_kubelet *release(struct node_kubelet *k)
{
    solo_done(&k->solo);
    arena_done(&k->arena);
    free(k);
    return NULL;
}

int node_kubelet_start(struct node_kubelet **ret, struct spn_err *err)
{
    struct node_kubelet *k = mem_new(struct node_kubelet);
    arena_init(&k->arena);
    LIST_INIT(&k->followers);
    struct err why = ERR_INIT(&k->arena);
    if (listen_here(k, &why) < 0 || solo_run(&k->solo, &why) < 0) {
        (void)spn_err_set(err, SPN_UNAVAILABLE, "the nodes' listener: " STR_FMT, STR_ARG(why.msg));
        release(k);
        return -SPN_UNAVAILABLE;
    }
    *ret = k;
    return 0;
}

void node_kubelet_set_pods(struct node_kubelet *k, struct spn_cache *pods)
{
    atomic_store(&k->pods, pods);
}

int node_kubelet_port(const struct node_kubelet *k)
{
    return k->port;
}

static void stop_followers(struct loop *l, struct loop_msg *msg)
{
    struct node_kubelet *k = container_of(msg, struct node_kubelet, stop);
    (void)l;
    while (!LIST_EMPTY(&k->followers))
        stop_following(LIST_FIRST(&k->followers));
}

struct node_kubelet *node_kubelet_stop(struct node_kubelet *k)
{
    if (!k)
        return NULL;
    k->stop.run = stop_followers;
    loop_post(k->solo.loop, &k->stop);
    return release(k);
}
