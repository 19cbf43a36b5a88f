/* Paths that lead into a running pod or to a node: log, exec, attach, portforward, proxy. There is
 * no node to go on to, so these end here, after the checks that come before. */
#include "api/errors.h"
#include "api/field_errors.h"
#include "base/idiom.h"
#include "server/guard/guard.h"
#include "server/registry/registry.h"
#include "server/http/reply.h"
#include "server/verbs/verbs.h"
#include "base/banned.h"

static int no_node(struct call *c, struct err *err)
{
    return err_set(err, ERR_UNIMPLEMENTED,
                   STR_FMT "/" STR_FMT " needs a node, and this control plane has none",
                   STR_ARG(c->req.resource->plural), STR_ARG(c->req.sub->name));
}

/* A proxy's name may have a scheme in front and a port behind: "https:web:443". */
static struct str bare_name(struct str name)
{
    struct str rest = name, first = str_cut(&rest, ':');
    if (!rest.p)
        return name;
    bool scheme = !first.n || str_eq(first, STR("http")) || str_eq(first, STR("https"));
    return scheme ? str_cut(&rest, ':') : first;
}

/* ---- Logs ---- */

struct log_number {
    const char *name, *why;
    int64_t least;
    bool given;
    int64_t value;
};

enum { TAIL_LINES, LIMIT_BYTES, SINCE_SECONDS, LOG_NUMBERS };

static int read_numbers(struct call *c, struct log_number *numbers, struct err *err)
{
    for (size_t i = 0; i < LOG_NUMBERS; i++) {
        int r = request_int(&c->req, str_of(numbers[i].name), &numbers[i].value, err);
        if (r < 0)
            return r;
        numbers[i].given = r == 1;
    }
    return 0;
}

static int check_numbers(struct call *c, const struct log_number *numbers, struct err *err)
{
    struct field_errors e = FIELD_ERRORS_INIT(c->arena);
    bool both = numbers[SINCE_SECONDS].given && request_param(&c->req, STR("sinceTime")).n;
    for (size_t i = 0; i < LOG_NUMBERS; i++) {
        struct field_path path = { .name = str_of(numbers[i].name) };
        struct value shown = value_int(numbers[i].value);
        if (i == SINCE_SECONDS && both) {
            struct field_path root = { .name = STR("") };
            field_error(&e, FIELD_FORBIDDEN, &root, STR(""),
                        "at most one of `sinceTime` or `sinceSeconds` may be specified");
        } else if (numbers[i].given && numbers[i].value < numbers[i].least) {
            field_error(&e, FIELD_INVALID, &path, field_json(&e, &shown), "%s", numbers[i].why);
        }
    }
    return field_errors_report(&e, STR(""), STR("PodLogOptions"), c->req.name, err);
}

static bool has_container(const struct value *pod, struct str name)
{
    static const struct str lists[] = { STR("initContainers"), STR("containers"),
                                        STR("ephemeralContainers") };
    for (size_t l = 0; l < ARRAY_LEN(lists); l++)
        value_each_item (it, value_get(value_get(pod, STR("spec")), lists[l]))
            if (str_eq(value_text(it, "name"), name))
                return true;
    return false;
}

static struct str join_names(struct arena *a, const struct value *containers)
{
    autobuf names = { 0 };
    value_each_item (it, containers)
        buf_printf(&names, "%s" STR_FMT, names.n ? " " : "", STR_ARG(value_text(it, "name")));
    return arena_str(a, buf_str(&names));
}

static int check_container(struct call *c, const struct value *pod, struct err *err)
{
    struct str name = request_param(&c->req, STR("container"));
    const struct value *containers = value_dig(pod, "spec", "containers");
    struct str inits = join_names(c->arena, value_dig(pod, "spec", "initContainers"));
    if (name.n && !has_container(pod, name))
        return err_set(err, ERR_BAD_REQUEST, "container " STR_FMT " is not valid for pod " STR_FMT,
                       STR_ARG(name), STR_ARG(c->req.name));
    if (name.n || (value_is(containers, VALUE_ARRAY) && containers->n == 1))
        return 0;
    return err_set(err, ERR_BAD_REQUEST,
                   "a container name must be specified for pod " STR_FMT
                   ", choose one of: [" STR_FMT "]%s" STR_FMT "%s",
                   STR_ARG(c->req.name), STR_ARG(join_names(c->arena, containers)),
                   inits.n ? " or one of the init containers: [" : "", STR_ARG(inits),
                   inits.n ? "]" : "");
}

/* Nothing, if all is right: a pod that runs nowhere has said nothing. */
static int read_log(struct call *c, struct err *err)
{
    struct log_number numbers[LOG_NUMBERS] = {
        [TAIL_LINES] = { "tailLines", "must be greater than or equal to 0", 0, false, 0 },
        [LIMIT_BYTES] = { "limitBytes", "must be greater than 0", 1, false, 0 },
        [SINCE_SECONDS] = { "sinceSeconds", "must be greater than 0", 1, false, 0 },
    };
    struct registry_entry entry;
    int r = read_numbers(c, numbers, err);
    if (r < 0)
        return r;
    r = check_numbers(c, numbers, err);
    if (r < 0)
        return r;
    r = registry_get(c, c->req.name, &entry, err);
    if (r < 0)
        return r;
    r = check_container(c, &entry.obj, err);
    if (r < 0)
        return r;
    return value_str(value_dig(&entry.obj, "spec", "nodeName")).n ? no_node(c, err) : 0;
}

void verb_log(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    if (read_log(c, &err) < 0)
        call_fail(c, &err);
    else
        reply_bytes(c->x, 204, NULL, 0, STR(""));
}

/* ---- Into a pod ---- */

/* A WebSocket begins with GET, which a role that only reads has; what comes then is no reading. */
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

static int connect_pod(struct call *c, struct err *err)
{
    struct registry_entry entry;
    bool forwards = str_eq(c->req.sub->name, STR("portforward"));
    int r = check_may_create(c, err);
    if (r < 0)
        return r;
    r = registry_get(c, c->req.name, &entry, err);
    if (r < 0)
        return r;
    r = forwards ? 0 : check_container(c, &entry.obj, err);
    if (r < 0)
        return r;
    if (!value_str(value_dig(&entry.obj, "spec", "nodeName")).n)
        return err_set(err, ERR_BAD_REQUEST, "pod " STR_FMT " does not have a host assigned",
                       STR_ARG(c->req.name));
    return no_node(c, err);
}

static int connect_proxy(struct call *c, struct err *err)
{
    struct registry_entry entry;
    int r = registry_get(c, bare_name(c->req.name), &entry, err);
    if (r < 0)
        return r;
    return no_node(c, err);
}

void verb_connect(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    if (str_eq(c->req.sub->name, STR("proxy")))
        (void)connect_proxy(c, &err);
    else
        (void)connect_pod(c, &err);
    call_fail(c, &err);
}
