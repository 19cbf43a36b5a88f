/* hook.c - lifecycle handlers: exec, httpGet, sleep, tcpSocket. */
#include <inttypes.h>
#include <sampan/stop.h>

#include "node/agent/agent_internal.h"
#include "node/agent/exec.h"
#include "node/agent/http_get.h"
#include "base/banned.h"

struct hook {
    struct agent *ag;
    struct arena *a;
    const struct value *pod, *spec;
    struct str id;
    int64_t timeout_ms;
};

static int run_exec(const struct hook *h, const struct value *exec, struct err *err)
{
    const struct value *command = value_get(exec, STR("command"));
    struct exec_end end = { 0 };
    struct err why = ERR_INIT(h->a);
    int r = exec_sync(h->ag->parts.cri, h->id, command, 0, h->timeout_ms, h->a, &end, &why);
    if (r == 0 && !end.why.n)
        return 0;
    struct str text = r < 0 ? why.msg : end.why;
    struct str pod = pod_text(h->a, h->pod), list = go_list(h->a, command, false);
    struct str output = go_quoted(h->a, end.output);
    return err_set(err, ERR_INTERNAL,
                   "Exec lifecycle hook (" STR_FMT ") for Container \"" STR_FMT
                   "\" in Pod \"" STR_FMT "\" failed - error: " STR_FMT ", message: " STR_FMT,
                   STR_ARG(list), STR_ARG(value_text(h->spec, "name")), STR_ARG(pod), STR_ARG(text),
                   STR_ARG(output));
}

/* The pod's address, asked anew: the status may not have it yet. */
static int pod_address(const struct hook *h, struct str *ret, struct err *err)
{
    struct runtime_pod have;
    if (pod_is_host_network(h->pod) && h->ag->parts.node->n_host_ips) {
        *ret = h->ag->parts.node->host_ips[0];
        return 0;
    }
    int r = runtime_read(h->ag->parts.cri, pod_uid(h->pod), h->a, &have, err);
    if (r < 0)
        return r;
    if (!have.n_ips)
        return err_set(err, ERR_NOT_FOUND, "failed to find networking container");
    *ret = have.ips[0];
    return 0;
}

static int run_http(const struct hook *h, const struct value *get, struct err *err)
{
    struct err why = ERR_INIT(h->a);
    struct str ip = value_text(get, "host");
    struct http_got got;
    bool has_address = ip.n || pod_address(h, &ip, &why) == 0;
    if (has_address && http_get(h->ag->fetcher, get, h->spec, ip, "lifecycle", h->timeout_ms, h->a,
                                &got, &why) == 0)
        return 0;
    struct str pod = pod_text(h->a, h->pod);
    return err_set(err, ERR_INTERNAL,
                   "HTTP lifecycle hook (" STR_FMT ") for Container \"" STR_FMT
                   "\" in Pod \"" STR_FMT "\" failed - error: " STR_FMT,
                   STR_ARG(value_text(get, "path")), STR_ARG(value_text(h->spec, "name")),
                   STR_ARG(pod), STR_ARG(why.msg));
}

static int run_sleep(const struct hook *h, const struct value *sleep, struct err *err)
{
    int64_t seconds = 0;
    (void)value_to_int(value_get(sleep, STR("seconds")), &seconds);
    int64_t ms = seconds * 1000;
    if (h->timeout_ms >= 0 && ms > h->timeout_ms)
        ms = h->timeout_ms;
    if (!spn_stop_wait(h->ag->stop, ms))
        return 0;
    return err_set(err, ERR_UNAVAILABLE, "container terminated before sleep hook finished");
}

int hook_run(struct agent *ag, const struct value *pod, const struct value *spec, struct str id,
             const struct value *handler, int64_t timeout_ms, struct arena *a, struct err *err)
{
    const struct hook h = { ag, a, pod, spec, id, timeout_ms };
    const struct value *exec = value_get(handler, STR("exec"));
    const struct value *get = value_get(handler, STR("httpGet"));
    const struct value *sleep = value_get(handler, STR("sleep"));
    if (exec)
        return run_exec(&h, exec, err);
    if (get)
        return run_http(&h, get, err);
    if (sleep)
        return run_sleep(&h, sleep, err);
    return err_set(err, ERR_INVALID, "Cannot run handler: invalid handler");
}
