/* probe_once.c - asks a container once: exec, httpGet, tcpSocket, grpc. */
#include <inttypes.h>
#include <sampan/stop.h>

#include "base/clock.h"
#include "net/grpc/grpc.h"
#include "node/agent/agent_internal.h"
#include "node/agent/exec.h"
#include "node/agent/http_get.h"
#include "base/banned.h"

enum { OUTPUT_MAX = 10 << 10, DIAL_PAUSE_MS = 200 };

struct question {
    struct agent *ag;
    struct arena *a;
    const struct value *probe, *spec;
    struct str id, ip;
    int64_t timeout_ms;
    struct str *ret_says;
    bool *ret_is_warning;
};

static enum probe_result say(const struct question *q, enum probe_result r, struct str text)
{
    *q->ret_says = text;
    return r;
}

/* ---- exec ---- */

/* $(NAME) of variables that the spec gives as plain text; `$$` is a `$`. */
static struct str expand(const struct question *q, struct str text)
{
    autobuf out = { 0 };
    while (text.n) {
        if (text.p[0] != '$' || text.n < 2) {
            buf_byte(&out, text.p[0]);
            text = str_skip(text, 1);
            continue;
        }
        struct str rest = str_skip(text, 2), name = str_cut(&rest, ')');
        bool is_name = text.p[1] == '(' && rest.p;
        const struct value *v = is_name ? list_named(value_get(q->spec, STR("env")), name) : NULL;
        bool is_known = v && !value_get(v, STR("valueFrom"));
        size_t n = is_name ? name.n + 3 : 2;
        if (text.p[1] == '$')
            buf_byte(&out, '$');
        else if (is_known)
            buf_str_add(&out, value_text(v, "value"));
        else
            buf_str_add(&out, str_take(text, n));
        text = str_skip(text, n);
    }
    return arena_str(q->a, buf_str(&out));
}

static enum probe_result ask_exec(const struct question *q, const struct value *exec)
{
    struct value command = value_array();
    value_each_item (word, value_get(exec, STR("command")))
        value_put_item(q->a, &command, value_string(expand(q, value_str(word))));
    struct exec_end end;
    struct err err = ERR_INIT(q->a);
    if (exec_sync(q->ag->parts.cri, q->id, &command, q->timeout_ms / 1000, -1, q->a, &end, &err) <
        0)
        return say(q, PROBE_UNKNOWN, err.msg);
    if (end.timed_out)
        return say(q, PROBE_FAILURE, end.why);
    return say(q, end.code ? PROBE_FAILURE : PROBE_SUCCESS, str_take(end.output, OUTPUT_MAX));
}

/* ---- httpGet ---- */

static enum probe_result ask_http(const struct question *q, const struct value *get)
{
    struct err err = ERR_INIT(q->a);
    struct http_got got;
    uint16_t port;
    if (container_port(value_get(get, STR("port")), q->spec, &port, &err) < 0)
        return say(q, PROBE_UNKNOWN, err.msg);
    if (http_get(q->ag->fetcher, get, q->spec, q->ip, "probe", q->timeout_ms, q->a, &got, &err) < 0)
        return say(q, PROBE_FAILURE, err.msg);
    if (got.status < 200 || got.status >= 400)
        return say(q, PROBE_FAILURE,
                   arena_printf(q->a, "HTTP probe failed with statuscode: %d", got.status));
    *q->ret_is_warning = got.status >= 300;
    if (got.status < 300)
        return say(q, PROBE_SUCCESS, got.body);
    return say(q, PROBE_SUCCESS,
               arena_printf(q->a, "Probe terminated redirects, Response body: " STR_FMT,
                            STR_ARG(got.body)));
}

/* ---- tcpSocket ---- */

static enum probe_result ask_tcp(const struct question *q, const struct value *tcp)
{
    struct err err = ERR_INIT(q->a);
    struct str host = value_text(tcp, "host");
    uint16_t port;
    if (container_port(value_get(tcp, STR("port")), q->spec, &port, &err) < 0)
        return say(q, PROBE_UNKNOWN, err.msg);
    if (tcp_dial(host.n ? host : q->ip, port, q->timeout_ms, q->a, &err) < 0)
        return say(q, PROBE_FAILURE, err.msg);
    return PROBE_SUCCESS;
}

/* ---- grpc ---- */

/* grpc-go tries again until its time is over. */
static bool wait_for_server(const struct question *q, uint16_t port, int64_t until)
{
    for (;;) {
        struct err err = ERR_INIT(q->a);
        int64_t left = (until - agent_mono_ns()) / NS_PER_MS;
        if (left <= 0)
            return false;
        if (tcp_dial(q->ip, port, left, q->a, &err) == 0)
            return true;
        if (spn_stop_wait(q->ag->stop, left < DIAL_PAUSE_MS ? left : DIAL_PAUSE_MS))
            return false;
    }
}

/* HealthCheckRequest { service = 1 }. */
static struct str health_request(struct arena *a, struct str service)
{
    autobuf out = { 0 };
    if (service.n) {
        buf_byte(&out, '\x0a');
        for (size_t n = service.n; n; n >>= 7)
            buf_byte(&out, (char)((n & 0x7f) | (n > 0x7f ? 0x80 : 0)));
        buf_str_add(&out, service);
    }
    return arena_str(a, buf_str(&out));
}

/* HealthCheckResponse { status = 1 }. */
static const char *health_word(struct str reply)
{
    static const char *const names[] = { "UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN" };
    size_t n = reply.n >= 2 && reply.p[0] == '\x08' ? (unsigned char)reply.p[1] : 0;
    return names[n < ARRAY_LEN(names) ? n : 0];
}

static enum probe_result check_health(const struct question *q, struct grpc_client *c,
                                      struct str service, int64_t until)
{
    struct err err = ERR_INIT(q->a);
    struct grpc_result result = { 0 };
    struct str reply, request = health_request(q->a, service);
    int64_t left = (until - agent_mono_ns()) / NS_PER_MS;
    const struct http_header agent[] = { { STR("user-agent"), STR("kube-probe/1.38") } };
    int r = grpc_call_unary(c, STR("/grpc.health.v1.Health/Check"), request, agent, 1,
                            left > 0 ? left : 1, q->a, &reply, &result, &err);
    if (r == 0) {
        const char *word = health_word(reply);
        if (str_eq(str_of(word), STR("SERVING")))
            return say(q, PROBE_SUCCESS, STR("service healthy"));
        return say(q, PROBE_FAILURE,
                   arena_printf(q->a, "service unhealthy (responded with \"%s\")", word));
    }
    struct str time = go_duration(q->a, q->timeout_ms);
    if (result.status == GRPC_UNIMPLEMENTED)
        return say(q, PROBE_FAILURE,
                   arena_printf(q->a,
                                "error: this server does not implement the grpc health protocol "
                                "(grpc.health.v1.Health): " STR_FMT,
                                STR_ARG(result.message)));
    if (result.status == GRPC_DEADLINE_EXCEEDED || r == -ERR_TIMEOUT)
        return say(q, PROBE_FAILURE,
                   arena_printf(q->a, "timeout: health rpc did not complete within " STR_FMT,
                                STR_ARG(time)));
    return say(q, PROBE_FAILURE,
               arena_printf(q->a, "error: health rpc probe failed: " STR_FMT, STR_ARG(err.msg)));
}

static enum probe_result ask_grpc(const struct question *q, const struct value *grpc)
{
    int64_t n = 0, until = agent_mono_ns() + q->timeout_ms * NS_PER_MS;
    (void)value_to_int(value_get(grpc, STR("port")), &n);
    struct str at = host_port(q->a, q->ip, (uint16_t)n), time = go_duration(q->a, q->timeout_ms);
    if (!wait_for_server(q, (uint16_t)n, until))
        return say(q, PROBE_FAILURE,
                   arena_printf(q->a,
                                "timeout: failed to connect service \"" STR_FMT "\" within " STR_FMT
                                ": context deadline exceeded",
                                STR_ARG(at), STR_ARG(time)));
    const struct grpc_client_options opt = { .address = at, .connect_ms = q->timeout_ms };
    struct grpc_client *c = grpc_client_new(&opt);
    if (!c)
        return say(q, PROBE_UNKNOWN, STR("the system has no thread left"));
    enum probe_result r = check_health(q, c, value_text(grpc, "service"), until);
    grpc_client_free(c);
    return r;
}

enum probe_result probe_once(struct agent *ag, const struct value *probe, const struct value *spec,
                             struct str id, struct str pod_ip, struct arena *a,
                             struct str *ret_says, bool *ret_is_warning)
{
    int64_t timeout = 1;
    (void)value_to_int(value_get(probe, STR("timeoutSeconds")), &timeout);
    const struct question q = {
        ag, a, probe, spec, id, pod_ip, (timeout > 0 ? timeout : 1) * 1000, ret_says, ret_is_warning
    };
    const struct value *exec = value_get(probe, STR("exec"));
    const struct value *get = value_get(probe, STR("httpGet"));
    const struct value *tcp = value_get(probe, STR("tcpSocket"));
    const struct value *grpc = value_get(probe, STR("grpc"));
    if (exec)
        return ask_exec(&q, exec);
    if (get)
        return ask_http(&q, get);
    if (tcp)
        return ask_tcp(&q, tcp);
    if (grpc)
        return ask_grpc(&q, grpc);
    return say(&q, PROBE_UNKNOWN, STR("missing probe handler"));
}
