/* Paths that lead into a running pod: exec, attach, portforward. After the checks they are passed
 * on to its node, which the client then speaks to. Proxies pass admission here, too. */
#include "api/errors.h"
#include "api/typed.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "server/guard/guard.h"
#include "server/registry/registry.h"
#include "server/verbs/connect.h"
#include "server/verbs/verbs.h"
#include "base/banned.h"

/* ---- Into a pod ---- */

/* A WebSocket begins with GET, which a role that only reads has; what comes then is no reading.
 * Behind the proxy of a node that is so, too: its kubelet takes the request for the server's own
 * (k/k#136550). */
static int check_may_create(struct call *c, struct err *err)
{
    const struct access q = { .user = c->user,
                              .is_resource = true,
                              .verb = STR("create"),
                              .group = c->req.resource->group,
                              .version = c->req.resource->version,
                              .resource = c->req.resource->plural,
                              .sub = c->req.sub->name,
                              .ns = c->req.ns,
                              .name = c->req.name };
    struct str reason;
    if (!c->user || c->verb == KIND_CREATE || guard_decide(c->api->guard, c->arena, &q, &reason))
        return 0;
    return error_forbidden(err, c->req.resource, c->req.name, access_refusal(c->arena, &q));
}

/* ---- What the client wants, as an object ---- */

static int read_item(struct call *c, const struct kind_field *f, struct str text, struct value *ret,
                     struct err *err)
{
    int64_t number;
    *ret = value_string(text);
    if (f->scalar == KIND_BOOL)
        *ret = value_bool(request_flag(&c->req, f->name));
    if (f->scalar != KIND_INT32)
        return 0;
    int r = request_int(&c->req, f->name, &number, err);
    *ret = value_int(r == 1 ? number : 0);
    return r < 0 ? r : 0;
}

static int read_option(struct call *c, const struct kind_field *f, struct value *ret,
                       struct err *err)
{
    struct value list = value_array(), item;
    for (size_t i = 0; i < c->req.n_params; i++) {
        if (!str_eq(c->req.params[i].key, f->name))
            continue;
        int r = read_item(c, f, c->req.params[i].value, &item, err);
        if (r < 0)
            return r;
        if (f->shape == KIND_SINGLE) { /* the first one counts */
            value_put_new(c->arena, ret, f->name, item);
            return 0;
        }
        value_put_item(c->arena, &list, item);
    }
    if (list.n)
        value_put_new(c->arena, ret, f->name, list);
    return 0;
}

static int read_options(struct call *c, struct value *ret, struct err *err)
{
    const struct kind_type *t = c->req.sub->type;
    struct value given = value_object();
    for (size_t i = 0; i < t->n_fields; i++) {
        int r = read_option(c, &t->fields[i], &given, err);
        if (r < 0)
            return r;
    }
    if (kind_field_find(t, STR("path")) && str_eq(c->req.sub->name, STR("proxy")))
        value_put(c->arena, &given, STR("path"),
                  value_string(arena_printf(c->arena, "/" STR_FMT, STR_ARG(c->req.rest))));
    return typed_read(c->arena, t, &given, NULL, ret, err);
}

/* Plugins see what is wanted before anybody looks whether there is such a pod. */
static int admit(struct call *c, struct err *err)
{
    struct value options;
    int r = read_options(c, &options, err);
    return r < 0 ? r : registry_admit_connect(c, &options, err);
}

/* ---- On the way ---- */

enum { HEAD_MS = 60000 };

/* What the node wants to know, in its own words. */
static void add_streams(struct call *c, struct buf *query)
{
    static const struct {
        const char *name, *key;
    } flags[] = { { "stdin", "input" }, { "stdout", "output" }, { "stderr", "error" } };
    if (str_eq(c->req.sub->name, STR("exec")))
        for (size_t i = 0; i < c->req.n_params; i++)
            if (str_eq(c->req.params[i].key, STR("command")))
                connect_add_param(query, "command", c->req.params[i].value);
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (request_flag(&c->req, str_of(flags[i].name)))
            connect_add_param(query, flags[i].key, STR("1"));
    if (request_flag(&c->req, STR("tty")))
        connect_add_param(query, "tty", STR("1"));
}

static void add_ports(struct call *c, struct buf *query)
{
    autobuf ports = { 0 };
    for (size_t i = 0; i < c->req.n_params; i++)
        if (str_eq(c->req.params[i].key, STR("ports")))
            buf_printf(&ports, "%s" STR_FMT, ports.n ? "," : "", STR_ARG(c->req.params[i].value));
    if (ports.n)
        connect_add_param(query, "port", buf_str(&ports));
}

static struct str target_of(struct call *c, struct str container)
{
    const bool forwards = !container.n;
    autobuf path = { 0 }, query = { 0 };
    if (forwards)
        add_ports(c, &query);
    else
        add_streams(c, &query);
    struct str first = forwards ? STR("portForward") : c->req.sub->name;
    connect_add_path(&path, arena_printf(c->arena, "/" STR_FMT "/" STR_FMT "/" STR_FMT "%s" STR_FMT,
                                         STR_ARG(first), STR_ARG(c->req.ns), STR_ARG(c->req.name),
                                         forwards ? "" : "/", STR_ARG(container)));
    return arena_printf(c->arena, STR_FMT "%s" STR_FMT, STR_ARG(buf_str(&path)), query.n ? "?" : "",
                        STR_ARG(buf_str(&query)));
}

/* Nodes that are not said to take WebSockets know no half-closed streams, and no tunnels. */
static const struct ws_spdy_options *translation_of(struct call *c,
                                                    const struct connect_place *place)
{
    const bool forwards = str_eq(c->req.sub->name, STR("portforward"));
    struct ws_spdy_options *opt = arena_new(c->arena, struct ws_spdy_options);
    if (place->takes_websockets ||
        !ws_spdy_is_offered(c->http, forwards ? WS_SPDY_PORTS : WS_SPDY_COMMAND))
        return NULL;
    *opt = (struct ws_spdy_options){ .is_tunnel = forwards,
                                     .has_stdin = request_flag(&c->req, STR("stdin")),
                                     .has_stdout = request_flag(&c->req, STR("stdout")),
                                     .has_stderr = request_flag(&c->req, STR("stderr")),
                                     .is_tty = request_flag(&c->req, STR("tty")) };
    return opt;
}

static void pass_on(struct call *c, const struct connect_place *place, struct str target)
{
    struct connect_job *job = arena_new(c->arena, struct connect_job);
    *job = (struct connect_job){
        .call = c,
        .req = { .method = c->http->method, .target = target, .head_ms = HEAD_MS },
        .holder = connect_upgrade_holder,
        .translates = translation_of(c, place),
    };
    connect_headers(c, true, &job->req);
    connect_pass(job, place, false);
}

/* 0: it is on its way. */
static int connect_pod(struct call *c, struct err *err)
{
    struct registry_entry entry;
    struct connect_place place;
    struct str container = STR("");
    bool forwards = str_eq(c->req.sub->name, STR("portforward"));
    int r = check_may_create(c, err);
    if (r < 0)
        return r;
    r = admit(c, err);
    if (r < 0)
        return r;
    r = registry_get(c, c->req.name, &entry, err);
    if (r < 0)
        return r;
    r = forwards ? 0 : connect_find_container(c, &entry.obj, &container, err);
    if (r < 0)
        return r;
    struct str node = value_str(value_dig(&entry.obj, "spec", "nodeName"));
    if (!node.n)
        return err_set(err, ERR_BAD_REQUEST, "pod " STR_FMT " does not have a host assigned",
                       STR_ARG(c->req.name));
    r = connect_find_node(c, node, &place, err);
    if (r < 0)
        return r;
    if (!connect_is_upgrade(c))
        return err_set(err, ERR_BAD_REQUEST, "Upgrade request required");
    pass_on(c, &place, target_of(c, container));
    return 0;
}

static int go(struct call *c, struct err *err)
{
    if (!str_eq(c->req.sub->name, STR("proxy")))
        return connect_pod(c, err);
    bool is_command = str_eq(c->stored->plural, STR("nodes")) && connect_is_upgrade(c);
    int r = is_command ? check_may_create(c, err) : 0;
    if (r < 0)
        return r;
    r = admit(c, err);
    return r < 0 ? r : connect_proxy(c, err);
}

void verb_connect(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    if (go(c, &err) < 0)
        call_fail(c, &err);
}
