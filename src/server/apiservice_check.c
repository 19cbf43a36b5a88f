#include "server/apiservice_check.h"

#include "server/apiservice/apiservice_explore.h"
#include "server/registry/managers.h"
#include "server/registry/registry.h"
#include "base/banned.h"

/* ---- What speaks against it ---- */

static void refuse(struct apiservice_verdict *v, struct str reason, struct str message)
{
    *v = (struct apiservice_verdict){ STR("False"), reason, message, STR("") };
}

/* An error of our own: nobody knows. */
static void doubt(struct call *c, struct apiservice_verdict *v, struct str reason, const char *what,
                  const struct apiservice *s, const struct err *why)
{
    *v = (struct apiservice_verdict){
        STR("Unknown"), reason,
        arena_printf(c->arena,
                     "%s/" STR_FMT " in \"" STR_FMT "\" cannot be checked due to: " STR_FMT, what,
                     STR_ARG(s->service_name), STR_ARG(s->service_ns), STR_ARG(why->msg)),
        STR("")
    };
}

static struct str about(struct call *c, const struct apiservice *s, const char *before,
                        const char *after)
{
    return arena_printf(c->arena, "%sservice/" STR_FMT " in \"" STR_FMT "\"%s", before,
                        STR_ARG(s->service_name), STR_ARG(s->service_ns), after);
}

/* ---- Its Service ---- */

static int read_service(struct call *c, const struct apiservice *s, struct registry_entry *ret,
                        struct err *err)
{
    struct call services = *c;
    services.stored = services.req.resource = kind_stored_named(STR(""), STR("services"));
    services.req.ns = s->service_ns;
    return registry_find(&services, s->service_name, ret, err);
}

static bool find_port(const struct apiservice *s, const struct value *service, struct str *ret)
{
    int64_t number;
    value_each_item (it, value_dig(service, "spec", "ports"))
        if (value_to_int(value_get(it, STR("port")), &number) && number == s->service_port) {
            *ret = value_text(it, "name");
            return true;
        }
    return false;
}

/* ---- Its endpoints ---- */

struct search {
    const struct apiservice *service;
    struct str port_name;
    size_t n_slices;
    bool has_address;
};

static bool has_port(const struct value *slice, struct str name)
{
    value_each_item (it, value_get(slice, STR("ports")))
        if (str_eq(value_text(it, "name"), name))
            return true;
    return false;
}

static bool has_ready(const struct value *slice)
{
    value_each_item (it, value_get(slice, STR("endpoints"))) {
        const struct value *ready = value_dig(it, "conditions", "ready");
        if (value_at(value_get(it, STR("addresses")), 0) &&
            !(value_is(ready, VALUE_BOOL) && !ready->b))
            return true;
    }
    return false;
}

static int look_into_slice(void *arg, const struct value *slice)
{
    struct search *f = arg;
    const struct value *labels = value_dig(slice, "metadata", "labels");
    if (!str_eq(value_text(labels, "kubernetes.io/service-name"), f->service->service_name))
        return 0;
    f->n_slices++;
    f->has_address |= has_port(slice, f->port_name) && has_ready(slice);
    return 0;
}

/* True: nothing speaks against it. */
static bool check_endpoints(struct call *c, const struct apiservice *s, struct str port_name,
                            struct apiservice_verdict *v)
{
    struct search f = { .service = s, .port_name = port_name };
    struct err err = ERR_INIT(c->arena);
    int r = registry_each_in(c, STR("discovery.k8s.io"), STR("endpointslices"), s->service_ns,
                             look_into_slice, &f, &err);
    if (r < 0)
        doubt(c, v, STR("EndpointsAccessError"), "endpointslices for service", s, &err);
    else if (!f.n_slices)
        refuse(v, STR("EndpointsNotFound"), about(c, s, "cannot find endpointslices for ", ""));
    else if (!f.has_address)
        refuse(v, STR("MissingEndpoints"),
               arena_printf(c->arena, STR_FMT " have no addresses with port name \"" STR_FMT "\"",
                            STR_ARG(about(c, s, "endpointslices for ", "")), STR_ARG(port_name)));
    else
        return true;
    return false;
}

static bool check_service(struct call *c, const struct apiservice *s, struct apiservice_verdict *v)
{
    struct registry_entry service;
    struct err err = ERR_INIT(c->arena);
    struct str port_name;
    int r = read_service(c, s, &service, &err);
    if (r < 0)
        doubt(c, v, STR("ServiceAccessError"), "service", s, &err);
    else if (r == 0)
        refuse(v, STR("ServiceNotFound"), about(c, s, "", " is not present"));
    else if (!str_eq(value_str(value_dig(&service.obj, "spec", "type")), STR("ClusterIP")))
        return true;
    else if (!find_port(s, &service.obj, &port_name))
        refuse(v, STR("ServicePortError"),
               arena_printf(c->arena, STR_FMT " is not listening on port %lld",
                            STR_ARG(about(c, s, "", "")), (long long)s->service_port));
    else
        return check_endpoints(c, s, port_name, v);
    return false;
}

/* ---- Itself ---- */

void apiservice_check(struct call *c, const struct apiservice *s, struct apiservice_verdict *ret)
{
    struct err err = ERR_INIT(c->arena);
    struct str address;
    if (!check_service(c, s, ret))
        return;
    int r =
        registry_find_service(c, s->service_ns, s->service_name, s->service_port, &address, &err);
    if (r < 0) {
        refuse(ret, STR("FailedDiscoveryCheck"), arena_str(c->arena, err.msg));
        return;
    }
    r = apiservice_probe(c->arena, s, address, &err);
    if (r < 0) {
        refuse(ret, STR("FailedDiscoveryCheck"),
               arena_printf(c->arena, "failing or missing response from " STR_FMT ": " STR_FMT,
                            STR_ARG(apiservice_url(c->arena, s, address)), STR_ARG(err.msg)));
        return;
    }
    *ret = (struct apiservice_verdict){ STR("True"), STR("Passed"), STR("all checks passed"),
                                        address };
}

/* ---- Saying so ---- */

struct note {
    struct call *call;
    const struct apiservice *service;
    const struct apiservice_verdict *verdict;
};

static struct value condition_of(const struct note *n, const struct value *old)
{
    struct arena *a = n->call->arena;
    const struct apiservice_verdict *v = n->verdict;
    struct value condition = value_object();
    bool is_same = str_eq(value_text(old, "status"), v->status);
    value_put(a, &condition, STR("type"), value_string(STR("Available")));
    value_put(a, &condition, STR("status"), value_string(v->status));
    value_put(
        a, &condition, STR("lastTransitionTime"),
        value_string(is_same ? value_text(old, "lastTransitionTime") : registry_now(n->call)));
    value_put(a, &condition, STR("reason"), value_string(v->reason));
    value_put(a, &condition, STR("message"), value_string(v->message));
    return condition;
}

/* One that was changed since it was looked at is looked at again; that is not ours to say. */
static int set_condition(struct registry_update *u, const struct registry_entry *now,
                         struct value *ret, struct err *err)
{
    const struct note *n = u->arg;
    struct arena *a = n->call->arena;
    const struct value *old = value_dig(&now->obj, "status", "conditions");
    struct value conditions = value_array(), known = value_null();
    (void)err;
    *ret = value_borrow(&now->obj);
    if (now->rev != n->service->rev)
        return 0;
    value_each_item (it, old) {
        if (str_eq(value_text(it, "type"), STR("Available")))
            known = value_borrow(it);
        else
            value_put_item(a, &conditions, value_borrow(it));
    }
    value_put_item(a, &conditions, condition_of(n, &known));
    value_put(a, value_ensure(a, ret, STR("status")), STR("conditions"), conditions);
    managers_update(n->call, managers_own_request(n->call, u->sub), &now->obj, ret);
    return 0;
}

int apiservice_note(struct call *c, const struct apiservice *s, const struct apiservice_verdict *v,
                    struct err *err)
{
    struct note n = { c, s, v };
    struct registry_update u = {
        .change = set_condition, .arg = &n, .sub = STR("status"), .tries_again = true
    };
    struct value result;
    int r = registry_update(c, s->name, &u, &result, err);
    return r == -ERR_NOT_FOUND ? 0 : r;
}
