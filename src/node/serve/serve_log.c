/* serve_log.c - /containerLogs: which container's log, and how much of it. */
#include "api/go/gotime.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "node/serve/container_log.h"
#include "node/serve/serve_internal.h"
#include "base/banned.h"

enum { ASK_MS = 10000 };

/* ---- Which container ---- */

static const struct value *find_named(const struct value *list, struct str name)
{
    value_each_item (one, list) {
        if (str_eq(value_text(one, "name"), name))
            return one;
    }
    return NULL;
}

static const struct value *find_status(const struct value *pod, struct str name)
{
    static const char *const lists[] = { "containerStatuses", "initContainerStatuses",
                                         "ephemeralContainerStatuses" };
    const struct value *found = NULL;
    for (size_t i = 0; i < ARRAY_LEN(lists) && !found; i++)
        found = find_named(value_dig(pod, "status", lists[i]), name);
    return found;
}

static bool has_container(const struct value *pod, struct str name)
{
    static const char *const lists[] = { "containers", "initContainers", "ephemeralContainers" };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        if (find_named(value_dig(pod, "spec", lists[i]), name))
            return true;
    return false;
}

static int waiting_fault(const struct value *waiting, struct str name, struct str pod,
                         struct err *err)
{
    struct str reason = value_text(waiting, "reason");
    if (str_eq(reason, STR("ErrImagePull")))
        reason = STR("image can't be pulled");
    else if (str_eq(reason, STR("ImagePullBackOff")))
        reason = STR("trying and failing to pull image");
    return err_set(err, ERR_BAD_REQUEST,
                   "container \"" STR_FMT "\" in pod \"" STR_FMT "\" is waiting to start: " STR_FMT,
                   STR_ARG(name), STR_ARG(pod), STR_ARG(reason));
}

int serve__log_id(const struct value *pod, struct str container, bool previous, struct str *ret,
                  struct err *err)
{
    const struct value *c = find_status(pod, container);
    struct str name = value_str(value_dig(pod, "metadata", "name"));
    const struct value *ended = value_dig(c, "state", "terminated");
    const struct value *last = value_dig(c, "lastState", "terminated");
    struct str last_id = value_text(last, "containerID"),
               ended_id = value_text(ended, "containerID");
    const char *fault = "is not available";
    *ret = STR("");
    if (c && previous) {
        fault = NULL;
        *ret = last_id;
    } else if (value_dig(c, "state", "running")) {
        *ret = value_text(c, "containerID");
    } else if (ended || last) {
        fault = "is terminated";
        *ret = ended_id.n ? ended_id : last_id;
    } else if (value_dig(c, "state", "waiting")) {
        return waiting_fault(value_dig(c, "state", "waiting"), container, name, err);
    } else if (c) {
        fault = "is waiting to start - no logs yet";
    }
    if (ret->n)
        return 0;
    if (!fault)
        return err_set(err, ERR_BAD_REQUEST,
                       "previous terminated container \"" STR_FMT "\" in pod \"" STR_FMT
                       "\" not found",
                       STR_ARG(container), STR_ARG(name));
    return err_set(err, ERR_BAD_REQUEST, "container \"" STR_FMT "\" in pod \"" STR_FMT "\" %s",
                   STR_ARG(container), STR_ARG(name), fault);
}

/* ---- Which lines ---- */

static bool read_number(struct served *v, const char *name, int64_t least, int64_t otherwise,
                        int64_t *ret)
{
    struct str text = serve__param(v, name);
    *ret = otherwise;
    return !text.n || (str_to_i64(text, ret) && *ret >= least);
}

static bool read_stream(struct served *v, struct log_view *view)
{
    struct str stream = serve__param(v, "stream");
    view->no_stderr = str_eq(stream, STR("Stdout"));
    view->no_stdout = str_eq(stream, STR("Stderr"));
    return !stream.n || str_eq(stream, STR("All")) || view->no_stderr || view->no_stdout;
}

/* 0, or the status that refuses it. */
static int read_view(struct served *v, struct log_view *ret)
{
    struct str tail = serve__param(v, "tail"), since = serve__param(v, "sinceTime");
    int64_t seconds;
    *ret = (struct log_view){ .follow = serve__flag(v, "follow"),
                              .timestamps = serve__flag(v, "timestamps") };
    if (!read_number(v, "tailLines", 0, -1, &ret->tail) ||
        !read_number(v, "limitBytes", 1, -1, &ret->limit) ||
        !read_number(v, "sinceSeconds", 1, 0, &seconds))
        return 422;
    if (tail.n && !str_eq(tail, STR("all")) && !str_to_i64(tail, &ret->tail))
        return 400;
    if (since.n && (seconds || !gotime_read_ns(since, &ret->since_ns)))
        return seconds ? 422 : 400;
    const int64_t now_ns = clock_wall_ns(&clock_system);
    if (seconds && seconds < now_ns / NS_PER_SEC) /* else all */
        ret->since_ns = now_ns - seconds * NS_PER_SEC;
    return read_stream(v, ret) ? 0 : 422;
}

/* ---- Telling ---- */

struct teller {
    struct served *v;
    struct str id; /* of the container */
};

static int write_text(void *arg, struct str text)
{
    struct teller *t = arg;
    return http_send_write(t->v->x, HTTP_BYTES(text));
}

static int ask_status(struct cri *cri, struct str id, struct arena *a, struct value *ret,
                      struct err *err)
{
    struct value request = value_object();
    value_put(a, &request, STR("container_id"), value_string(id));
    return cri_call(cri, "ContainerStatus", &request, ASK_MS, a, ret, err);
}

static bool is_running(void *arg)
{
    const struct teller *t = arg;
    struct arena a;
    struct value answer;
    arena_init(&a);
    struct err why = ERR_INIT(&a);
    const bool runs =
        ask_status(t->v->s->opt.cri, t->id, &a, &answer, &why) == 0 &&
        str_eq(value_str(value_dig(&answer, "status", "state")), STR("CONTAINER_RUNNING"));
    arena_done(&a);
    return runs;
}

static bool is_gone(void *arg)
{
    const struct teller *t = arg;
    return http_is_gone(t->v->x) || atomic_load(&t->v->s->is_stopping);
}

/* The answer has begun: what goes wrong now stands in it, as with upstream. */
static void tell(struct served *v, struct str full_id, const struct log_view *view)
{
    static const struct http_header plain = { STR("content-type"), STR("text/plain") };
    struct arena a;
    struct value status;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct str id = arena_str(&a, full_id), copy = id;
    const ptrdiff_t at = str_find(id, ':');
    if (at >= 0)
        id = str_skip(id, (size_t)at + 3); /* "containerd://" */
    struct teller t = { v, id };
    const struct log_sink sink = { &t, write_text, is_running, is_gone };
    http_send_begin(v->x, 200, &plain, 1);
    int r = ask_status(v->s->opt.cri, id, &a, &status, &err);
    if (r < 0)
        (void)err_set(&err, ERR_UNAVAILABLE, "unable to retrieve container logs for " STR_FMT,
                      STR_ARG(copy));
    else
        r = container_log_read(str_cstr(&a, value_str(value_dig(&status, "status", "log_path"))),
                               view, &sink, &err);
    if (r < 0)
        (void)http_send_write(v->x, HTTP_BYTES(err.msg));
    http_send_end(v->x, NULL, 0);
    arena_done(&a);
}

void serve__container_log(struct served *v, struct str rest)
{
    const struct serve_agent *agent = &v->s->opt.agent;
    struct str ns = str_cut(&rest, '/'), name = str_cut(&rest, '/'), id;
    struct err err = ERR_INIT(v->a);
    struct log_view view;
    const int refused = read_view(v, &view);
    if (refused) {
        serve__say(v, refused,
                   refused == 422 ? STR("{\"message\": \"Invalid request.\"}")
                                  : STR("{\"message\": \"Unable to decode query.\"}"));
        return;
    }
    const struct value *pod = agent->pod(agent->arg, ns, name, STR(""), v->a);
    if (!pod) {
        serve__say(v, 404, arena_printf(v->a, "pod \"" STR_FMT "\" does not exist", STR_ARG(name)));
    } else if (!has_container(pod, rest)) {
        serve__say(v, 404,
                   arena_printf(v->a, "container \"" STR_FMT "\" not found in pod \"" STR_FMT "\"",
                                STR_ARG(rest), STR_ARG(name)));
    } else if (serve__log_id(pod, rest, serve__flag(v, "previous"), &id, &err) < 0) {
        serve__say(v, 400, err.msg);
    } else {
        tell(v, id, &view);
    }
}
