/* serve_stream.c - exec, attach and port-forward: the runtime says where it streams, and the client
 * is led there.
 *
 * Bytes of SPDY and of older WebSockets are passed on as they are: the runtime speaks both. The
 * fifth version of the channel protocol, and ports tunnelled through a WebSocket, are turned into
 * SPDY on the way (net/spdy/ws_spdy.h). */
#include "base/idiom.h"
#include "net/spdy/ws_spdy.h"
#include "net/ws/ws.h"
#include "node/serve/serve_internal.h"
#include "base/banned.h"

enum { CALL_MS = 30000, HEAD_MS = 60000, RUN_MS = 120000 };

/* ---- Whom it is about ---- */

/* NS/POD[/UID]/CONTAINER, or without the container. False: it is answered. */
static bool find_pod(struct served *v, struct str rest, bool has_container,
                     const struct value **ret_pod, struct str *ret_container)
{
    const struct serve_agent *agent = &v->s->opt.agent;
    struct str ns = str_cut(&rest, '/'), name = str_cut(&rest, '/'), uid = STR("");
    *ret_container = STR("");
    if (has_container) {
        *ret_container = str_cut(&rest, '/');
        if (rest.n) {
            uid = *ret_container;
            *ret_container = rest;
        }
    } else {
        uid = rest;
    }
    *ret_pod = agent->pod(agent->arg, ns, name, STR(""), v->a);
    if (!*ret_pod) {
        serve__say(v, 404, STR("pod does not exist"));
        return false;
    }
    if (uid.n && !str_eq(uid, value_str(value_dig(*ret_pod, "metadata", "uid"))) &&
        !agent->pod(agent->arg, ns, name, uid, v->a)) {
        serve__say(v, 404, STR("pod not found"));
        return false;
    }
    return true;
}

/* NAME_NAMESPACE, as upstream calls a pod. */
static struct str full_name(struct served *v, const struct value *pod)
{
    return arena_printf(v->a, STR_FMT "_" STR_FMT,
                        STR_ARG(value_str(value_dig(pod, "metadata", "name"))),
                        STR_ARG(value_str(value_dig(pod, "metadata", "namespace"))));
}

static bool find_container(struct served *v, const struct value *pod, struct str name,
                           bool attaches, struct str *ret_id)
{
    const struct serve_agent *agent = &v->s->opt.agent;
    struct served_container c = { 0 };
    struct err why = ERR_INIT(v->a);
    if (agent->container(agent->arg, pod, name, false, v->a, &c, &why) < 0 || !c.id.n ||
        !c.is_running) {
        serve__say(
            v, 500,
            attaches ? arena_printf(v->a, "container " STR_FMT " not found in pod " STR_FMT,
                                    STR_ARG(name), STR_ARG(full_name(v, pod)))
                     : arena_printf(v->a, "container not found (\"" STR_FMT "\")", STR_ARG(name)));
        return false;
    }
    *ret_id = c.id;
    return true;
}

/* ---- What is asked of the runtime ---- */

/* Which streams the client wants; false: none, which is answered. */
static bool read_streams(struct served *v, struct ws_spdy_options *ret)
{
    *ret = (struct ws_spdy_options){ .has_stdin = serve__flag(v, "input"),
                                     .has_stdout = serve__flag(v, "output"),
                                     .has_stderr = serve__flag(v, "error"),
                                     .is_tty = serve__flag(v, "tty") };
    if (ret->is_tty)
        ret->has_stderr = false;
    if (ret->has_stdin || ret->has_stdout || ret->has_stderr)
        return true;
    serve__say(v, 400, STR("you must specify at least 1 of stdin, stdout, stderr"));
    return false;
}

static struct value stream_request(struct served *v, struct str id,
                                   const struct ws_spdy_options *streams)
{
    struct value request = value_object();
    value_put(v->a, &request, STR("container_id"), value_string(id));
    value_put(v->a, &request, STR("stdin"), value_bool(streams->has_stdin));
    value_put(v->a, &request, STR("stdout"), value_bool(streams->has_stdout));
    value_put(v->a, &request, STR("stderr"), value_bool(streams->has_stderr));
    value_put(v->a, &request, STR("tty"), value_bool(streams->is_tty));
    return request;
}

/* Ports of the old form of WebSockets: "port=80,81". False: one is no port. */
static bool read_ports(struct served *v, struct value *ret)
{
    const struct value all = serve__params(v, "port");
    *ret = value_array();
    value_each_item (text, &all) {
        struct str rest = value_str(text);
        while (rest.n) {
            uint64_t port;
            if (!str_to_u64(str_cut(&rest, ','), &port) || !port || port > 65535)
                return false;
            value_put_item(v->a, ret, value_int((int64_t)port));
        }
    }
    return true;
}

/* ---- Leading the client there ---- */

struct stream {
    struct serve *s;
    struct ws_spdy_options opt;
    bool is_translated;
    struct ws_spdy *translation; /* NULL: none */
    struct relay_request req;
};

static bool on_head(void *arg, struct http_exchange *x, struct relay_answer *answer)
{
    const struct stream *t = arg;
    (void)x;
    if (answer->status == 101 && t->translation)
        ws_spdy_answer(t->translation, answer);
    return true;
}

static void on_collected(void *arg, struct http_exchange *x, const struct relay_answer *answer,
                         struct str body)
{
    (void)arg;
    http_reply(x, answer->status, NULL, 0, HTTP_BYTES(body));
}

static void on_failed(void *arg, struct http_exchange *x, bool is_dialled, const struct err *err)
{
    static const struct http_header plain = { STR("content-type"), STR("text/plain") };
    (void)arg;
    (void)is_dialled;
    http_reply(x, 500, &plain, 1,
               HTTP_BYTES(arena_printf(http_arena(x), STR_FMT "\n", STR_ARG(err->msg))));
}

static bool is_passed_on(struct str name)
{
    static const char *const not_these[] = { "host", "authorization", "content-length", "cookie" };
    for (size_t i = 0; i < ARRAY_LEN(not_these); i++)
        if (str_eq(name, str_of(not_these[i])))
            return false;
    return true;
}

/* Behind the Host that stands there already. */
static void copy_headers(struct http_exchange *x, struct stream *t, struct str host)
{
    const struct http_request *req = http_request_of(x);
    struct http_header *h =
        arena_array(http_arena(x), struct http_header, req->n_headers + 1 + WS_SPDY_HEADERS);
    size_t n = 0;
    h[n++] = (struct http_header){ STR("host"), host };
    if (t->translation) {
        ws_spdy_headers(t->translation, h + n);
        n += WS_SPDY_HEADERS;
    } else {
        for (size_t i = 0; i < req->n_headers; i++)
            if (is_passed_on(req->headers[i].name))
                h[n++] = req->headers[i];
    }
    t->req.headers = h;
    t->req.n_headers = n;
}

static void start(struct http_exchange *x, void *arg)
{
    struct stream *t = arg;
    const struct relay_holder holder = { t, on_head, on_collected, on_failed };
    struct str host = t->req.headers[0].value;
    if (t->is_translated)
        t->translation = ws_spdy_new(x, &t->opt);
    copy_headers(x, t, host);
    if (t->translation) {
        t->req.filter = ws_spdy_filter(t->translation);
        t->req.method = STR("POST");
    }
    relay_start(x, &t->req, &holder);
}

/* "http://127.0.0.1:40000/exec/TOKEN" */
static bool read_url(struct served *v, struct str url, struct stream *t, struct err *err)
{
    struct str rest = url;
    if (!str_starts(rest, STR("http://"))) {
        (void)err_set(err, ERR_INVALID, "the runtime streams at \"" STR_FMT "\"", STR_ARG(url));
        return false;
    }
    rest = str_skip(rest, STR("http://").n);
    const ptrdiff_t slash = str_find(rest, '/');
    struct str host = slash < 0 ? rest : str_take(rest, (size_t)slash);
    t->req.target = slash < 0 ? STR("/") : str_skip(rest, (size_t)slash);
    struct http_header *h = arena_new(v->a, struct http_header);
    *h = (struct http_header){ STR("host"), host };
    t->req.headers = h;
    t->req.n_headers = 1;
    size_t colon = host.n;
    while (colon && host.p[colon - 1] != ':')
        colon--;
    struct str name = str_take(host, colon ? colon - 1 : 0);
    if (name.n > 2 && name.p[0] == '[')
        name = str_take(str_skip(name, 1), name.n - 2);
    return tcp_resolve(v->a, name, str_skip(host, colon), &t->req.to, err) == 0;
}

static void lead(struct served *v, const char *method, const struct value *request,
                 const struct ws_spdy_options *opt, bool is_translated)
{
    struct stream *t = arena_new(v->a, struct stream);
    struct err err = ERR_INIT(v->a);
    struct value answer;
    if (cri_call(v->s->opt.cri, method, request, CALL_MS, v->a, &answer, &err) < 0) {
        serve__say(v, err.code == ERR_NOT_FOUND ? 404 : 500, err.msg);
        return;
    }
    if (!http_header_get(v->req, STR("upgrade")).n) {
        serve__say(v, 500, STR("Upgrade request required\n"));
        return;
    }
    *t = (struct stream){ .s = v->s, .opt = *opt, .is_translated = is_translated };
    if (!read_url(v, value_text(&answer, "url"), t, &err)) {
        serve__say(v, 500, err.msg);
        return;
    }
    t->req.set = &v->s->relays;
    t->req.method = v->req->method;
    t->req.head_ms = HEAD_MS;
    http_to_loop(v->x, start, t);
}

/* ---- Requests ---- */

static void serve_command(struct served *v, bool is_exec, struct str rest)
{
    struct ws_spdy_options opt;
    const struct value *pod;
    struct str container, id;
    if (!read_streams(v, &opt) || !find_pod(v, rest, true, &pod, &container) ||
        !find_container(v, pod, container, !is_exec, &id))
        return;
    struct value request = stream_request(v, id, &opt);
    if (is_exec)
        value_put(v->a, &request, STR("cmd"), serve__params(v, "command"));
    lead(v, is_exec ? "Exec" : "Attach", &request, &opt,
         ws_spdy_is_offered(v->req, WS_SPDY_COMMAND));
}

static void serve_ports(struct served *v, struct str rest)
{
    const struct serve_agent *agent = &v->s->opt.agent;
    const struct ws_spdy_options opt = { .is_tunnel = true };
    const bool is_tunnel = ws_spdy_is_offered(v->req, WS_SPDY_PORTS);
    const struct value *pod;
    struct str container;
    struct value request = value_object(), ports;
    if (!read_ports(v, &ports)) {
        serve__say(v, 400, STR("query parameter \"port\" is no list of ports"));
        return;
    }
    if (!is_tunnel && ws_wanted(v->req) && !ports.n) {
        serve__say(v, 400, STR("query parameter \"port\" is required"));
        return;
    }
    if (!find_pod(v, rest, false, &pod, &container))
        return;
    struct str sandbox = agent->sandbox(agent->arg, pod, v->a);
    if (!sandbox.n) {
        serve__say(
            v, 500,
            arena_printf(v->a, "pod not found (\"" STR_FMT "\")", STR_ARG(full_name(v, pod))));
        return;
    }
    value_put(v->a, &request, STR("pod_sandbox_id"), value_string(sandbox));
    if (ports.n && !is_tunnel)
        value_put(v->a, &request, STR("port"), ports);
    lead(v, "PortForward", &request, &opt, is_tunnel);
}

void serve__stream(struct served *v, enum serve_stream what, struct str rest)
{
    if (what == SERVE_PORTS)
        serve_ports(v, rest);
    else
        serve_command(v, what == SERVE_EXEC, rest);
}

/* POST /run/NS/POD[/UID]/CONTAINER?cmd=a+b: the output, when it has ended. */
void serve__run(struct served *v, struct str rest)
{
    const struct value *pod;
    struct str container, id, cmd = serve__param(v, "cmd");
    struct value request = value_object(), words = value_array(), answer;
    struct err err = ERR_INIT(v->a);
    if (!find_pod(v, rest, true, &pod, &container) ||
        !find_container(v, pod, container, false, &id))
        return;
    while (cmd.n)
        value_put_item(v->a, &words, value_string(str_cut(&cmd, ' ')));
    value_put(v->a, &request, STR("container_id"), value_string(id));
    value_put(v->a, &request, STR("cmd"), words);
    if (cri_call(v->s->opt.cri, "ExecSync", &request, RUN_MS, v->a, &answer, &err) < 0) {
        serve__say(v, 500, err.msg);
        return;
    }
    const struct http_header json = { STR("content-type"), STR("application/json") };
    struct str both = arena_printf(v->a, STR_FMT STR_FMT, STR_ARG(value_text(&answer, "stdout")),
                                   STR_ARG(value_text(&answer, "stderr")));
    http_send(v->x, 200, &json, 1, HTTP_BYTES(both));
}
