/* metrics_answers.c - NodeMetrics and PodMetrics, for the nodes and pods that the API server lists
 * now. */
#include "base/clock.h"
#include "base/idiom.h"
#include "base/json.h"
#include "client/bridge.h"
#include "metrics/metrics_internal.h"
#include "base/banned.h"

#define PREFIX "/apis/metrics.k8s.io/v1beta1"

static void say(struct http_exchange *x, int status, struct str json)
{
    static const struct http_header type = { STR("content-type"), STR("application/json") };
    http_send(x, status, &type, 1, HTTP_BYTES(json));
}

static void say_value(struct http_exchange *x, const struct value *v)
{
    autobuf out = { 0 };
    json_write(&out, v);
    say(x, 200, arena_str(http_arena(x), buf_str(&out)));
}

static void refuse(struct http_exchange *x, int code, const char *reason, struct str message)
{
    autobuf text = { 0 };
    json_write_string(&text, message);
    say(x, code,
        arena_printf(http_arena(x),
                     "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                     "\"Failure\",\"message\":" STR_FMT ",\"reason\":\"%s\",\"code\":%d}",
                     STR_ARG(buf_str(&text)), reason, code));
}

/* ---- One object ---- */

static void put(struct arena *a, struct value *obj, const char *key, struct str text)
{
    value_put(a, obj, str_of(key), value_string(text));
}

static struct value usage_value(struct arena *a, const struct metrics_usage *u)
{
    struct value usage = value_object();
    put(a, &usage, "cpu",
        u->cpu_nano ? arena_printf(a, "%llun", (unsigned long long)u->cpu_nano) : STR("0"));
    put(a, &usage, "memory",
        arena_printf(a, "%lluKi", (unsigned long long)(u->memory_bytes / 1024)));
    return usage;
}

/* What all of them begin with. */
static struct value object_of(struct arena *a, const char *kind, const struct value *about,
                              const struct metrics_usage *u)
{
    static const char *const kept[] = { "name", "namespace", "labels" };
    struct value obj = value_object(), meta = value_object();
    char now[CLOCK_TEXT_BYTES], at[CLOCK_TEXT_BYTES];
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        const struct value *v = value_dig(about, "metadata", kept[i]);
        if (v)
            value_put(a, &meta, str_of(kept[i]), value_borrow(v));
    }
    put(a, &meta, "creationTimestamp",
        arena_str(a, clock_format(clock_wall_ns(&clock_system), false, now)));
    put(a, &obj, "kind", str_of(kind));
    put(a, &obj, "apiVersion", STR("metrics.k8s.io/v1beta1"));
    value_put(a, &obj, STR("metadata"), meta);
    put(a, &obj, "timestamp", arena_str(a, clock_format(u->at_ms * NS_PER_MS, false, at)));
    put(a, &obj, "window",
        arena_printf(a, "%lld.%03llds", (long long)(u->window_ms / 1000),
                     (long long)(u->window_ms % 1000)));
    return obj;
}

static struct metrics_node *find_node(struct metrics_server *m, struct str name)
{
    struct metrics_node *n;
    TAILQ_FOREACH(n, &m->nodes, link)
    if (str_eq(n->name, name))
        return n;
    return NULL;
}

static bool usage_of(const struct metrics_node *n, struct str ns, struct str pod,
                     struct str container, struct metrics_usage *ret)
{
    return n && metrics_usage(metrics_find(&n->rounds[!n->newest], ns, pod, container),
                              metrics_find(&n->rounds[n->newest], ns, pod, container), ret);
}

/* False: nothing is known of it yet. */
static bool node_metrics(struct metrics_server *m, struct arena *a, const struct value *node,
                         struct value *ret)
{
    struct metrics_usage u;
    struct str name = value_str(value_dig(node, "metadata", "name"));
    if (!usage_of(find_node(m, name), STR(""), STR(""), STR(""), &u))
        return false;
    *ret = object_of(a, "NodeMetrics", node, &u);
    value_put(a, ret, STR("usage"), usage_value(a, &u));
    return true;
}

static bool pod_metrics(struct metrics_server *m, struct arena *a, const struct value *pod,
                        struct value *ret)
{
    const struct metrics_node *n = find_node(m, value_str(value_dig(pod, "spec", "nodeName")));
    struct str ns = value_str(value_dig(pod, "metadata", "namespace"));
    struct str name = value_str(value_dig(pod, "metadata", "name"));
    struct value containers = value_array();
    struct metrics_usage u, last = { 0 };
    value_each_item (c, value_dig(pod, "status", "containerStatuses")) {
        struct value one = value_object();
        if (!usage_of(n, ns, name, value_text(c, "name"), &u))
            continue;
        last = u;
        put(a, &one, "name", value_text(c, "name"));
        value_put(a, &one, STR("usage"), usage_value(a, &u));
        value_put_item(a, &containers, one);
    }
    if (!containers.n)
        return false;
    *ret = object_of(a, "PodMetrics", pod, &last);
    value_put(a, ret, STR("containers"), containers);
    return true;
}

/* ---- Requests ---- */

/* The selectors of the request, as the API server reads them. */
static struct str selectors(struct arena *a, struct str query)
{
    autobuf out = { 0 };
    while (query.n) {
        struct str one = str_cut(&query, '&');
        if (str_starts(one, STR("labelSelector=")) || str_starts(one, STR("fieldSelector=")))
            buf_printf(&out, "%s" STR_FMT, out.n ? "&" : "?", STR_ARG(one));
    }
    return arena_str(a, buf_str(&out));
}

static int ask(struct metrics_server *m, struct http_exchange *x, struct str path,
               struct value *ret, struct spn_err *why)
{
    struct arena *a = http_arena(x);
    const struct spn_call how = { .stop = m->stop, .timeout_ms = 30000 };
    struct spn_text text;
    struct err err = ERR_INIT(a);
    int r = spn_client_raw(m->client, "GET", text_out(path), SPN_TEXT(""), SPN_TEXT(""), &how,
                           arena_out(a), &text, why);
    if (r < 0)
        return r;
    if (json_read(a, str_in(text), NULL, ret, &err) < 0)
        return spn_err_set(why, SPN_MALFORMED, STR_FMT, STR_ARG(err.msg));
    return 0;
}

typedef bool metrics_fn(struct metrics_server *m, struct arena *a, const struct value *about,
                        struct value *ret);

static void answer_list(struct metrics_server *m, struct http_exchange *x, const struct value *list,
                        metrics_fn *fn, const char *kind)
{
    struct arena *a = http_arena(x);
    struct value obj = value_object(), items = value_array(), one;
    pthread_mutex_lock(&m->lock);
    value_each_item (about, value_get(list, STR("items")))
        if (fn(m, a, about, &one))
            value_put_item(a, &items, one);
    pthread_mutex_unlock(&m->lock);
    put(a, &obj, "kind", str_of(kind));
    put(a, &obj, "apiVersion", STR("metrics.k8s.io/v1beta1"));
    value_put(a, &obj, STR("metadata"), value_object());
    value_put(a, &obj, STR("items"), items);
    say_value(x, &obj);
}

static void answer(struct metrics_server *m, struct http_exchange *x, struct str path)
{
    struct arena *a = http_arena(x);
    const bool is_node = str_starts(path, STR("/nodes"));
    struct str target = arena_printf(a, "/api/v1" STR_FMT STR_FMT, STR_ARG(path),
                                     STR_ARG(selectors(a, http_request_of(x)->query)));
    struct spn_err why = { 0 };
    struct value got, one;
    if (ask(m, x, target, &got, &why) < 0) {
        const int code = why.http_status ? why.http_status : 500;
        refuse(x, code, why.reason[0] ? why.reason : "InternalError", str_of(why.message));
        return;
    }
    metrics_fn *fn = is_node ? node_metrics : pod_metrics;
    if (value_get(&got, STR("items"))) {
        answer_list(m, x, &got, fn, is_node ? "NodeMetricsList" : "PodMetricsList");
        return;
    }
    pthread_mutex_lock(&m->lock);
    const bool is_known = fn(m, a, &got, &one);
    pthread_mutex_unlock(&m->lock);
    if (is_known)
        say_value(x, &one);
    else
        refuse(x, 404, "NotFound",
               arena_printf(a, "%s \"" STR_FMT "\" not found",
                            is_node ? "nodemetrics.metrics.k8s.io" : "podmetrics.metrics.k8s.io",
                            STR_ARG(value_str(value_dig(&got, "metadata", "name")))));
}

/* /nodes, /nodes/NAME, /pods, /namespaces/NS/pods, /namespaces/NS/pods/NAME */
static bool is_path(struct str path)
{
    struct str rest = str_skip(path, 1), first = str_cut(&rest, '/');
    if (str_eq(first, STR("nodes")))
        return str_find(rest, '/') < 0;
    if (str_eq(first, STR("pods")))
        return !rest.n;
    if (!str_eq(first, STR("namespaces")) || !str_cut(&rest, '/').n)
        return false;
    return str_eq(str_cut(&rest, '/'), STR("pods")) && str_find(rest, '/') < 0;
}

void metrics__answer(struct http_exchange *x, void *server)
{
    static const struct str discovery = STR(
        "{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\",\"groupVersion\":\"metrics.k8s.io/"
        "v1beta1\",\"resources\":[{\"name\":\"nodes\",\"singularName\":\"\",\"namespaced\":false,"
        "\"kind\":\"NodeMetrics\",\"verbs\":[\"get\",\"list\"]},{\"name\":\"pods\","
        "\"singularName\":\"\",\"namespaced\":true,\"kind\":\"PodMetrics\",\"verbs\":[\"get\","
        "\"list\"]}]}");
    struct str path = http_request_of(x)->path;
    if (str_eq(path, STR(PREFIX)))
        say(x, 200, discovery);
    else if (!str_eq(http_request_of(x)->method, STR("GET")))
        refuse(x, 405, "MethodNotAllowed", STR("the server does not allow this method"));
    else if (str_starts(path, STR(PREFIX)) && is_path(str_skip(path, STR(PREFIX).n)))
        answer(server, x, str_skip(path, STR(PREFIX).n));
    else
        refuse(x, 404, "NotFound", STR("the server could not find the requested resource"));
}
