#include "server/verbs/dispatch.h"

#include "admission/xray.h"
#include "api/go/goduration.h"
#include "base/idiom.h"
#include "base/limits.h"
#include "api/errors.h"
#include "api/words.h"
#include "server/audit/audit_event.h"
#include "server/filter/filter.h"
#include "server/guard/guard.h"
#include "server/http/fresh.h"
#include "server/http/reply.h"
#include "server/verbs/verbs.h"
#include "server/watch/watch.h"
#include "base/banned.h"

/* ---- Which verb ---- */

typedef void verb_fn(struct call *c);

static void verb_not_here(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    bool sub = c->req.sub;
    (void)err_set(&err, ERR_UNIMPLEMENTED, "%s" STR_FMT "%s" STR_FMT " is not served yet",
                  c->verb == KIND_PATCH ? "patch of " : "", STR_ARG(c->req.resource->plural),
                  sub ? "/" : "", STR_ARG(sub ? c->req.sub->name : STR("")));
    call_fail(c, &err);
}

static const struct {
    const char *sub; /* "" for the resource itself */
    unsigned verb;   /* bits of enum kind_verb */
    verb_fn *run;
    bool waits; /* runs on a worker */
} verbs[] = {
    { "", KIND_GET, verb_get, false },
    { "", KIND_LIST_VERB, verb_list, false },
    { "", KIND_WATCH, verb_watch, false },
    { "", KIND_CREATE, verb_create, true },
    { "", KIND_UPDATE, verb_update, true },
    { "", KIND_PATCH, verb_patch, true },
    { "", KIND_DELETE, verb_delete, true },
    { "", KIND_DELETE_COLLECTION, verb_delete_collection, true },
    { "status", KIND_GET, verb_get, false },
    { "status", KIND_UPDATE, verb_update, true },
    { "status", KIND_PATCH, verb_patch, true },
    { "finalize", KIND_UPDATE, verb_update, true },
    { "scale", KIND_GET, verb_scale_get, true },
    { "scale", KIND_UPDATE, verb_scale_update, true },
    { "scale", KIND_PATCH, verb_scale_patch, true },
    { "approval", KIND_GET, verb_get, false },
    { "approval", KIND_UPDATE, verb_update, true },
    { "approval", KIND_PATCH, verb_patch, true },
    { "ephemeralcontainers", KIND_GET, verb_get, false },
    { "ephemeralcontainers", KIND_UPDATE, verb_update, true },
    { "ephemeralcontainers", KIND_PATCH, verb_patch, true },
    { "resize", KIND_GET, verb_get, false },
    { "resize", KIND_UPDATE, verb_update, true },
    { "resize", KIND_PATCH, verb_patch, true },
    { "binding", KIND_CREATE, verb_binding, true },
    { "eviction", KIND_CREATE, verb_eviction, true },
    { "rollback", KIND_CREATE, verb_rollback, true },
    { "token", KIND_CREATE, verb_token, true },
    { "log", KIND_GET, verb_log, true },
    { "exec", KIND_GET | KIND_CREATE, verb_connect, true },
    { "attach", KIND_GET | KIND_CREATE, verb_connect, true },
    { "portforward", KIND_GET | KIND_CREATE, verb_connect, true },
    { "proxy", KIND_GET | KIND_CREATE | KIND_UPDATE | KIND_PATCH | KIND_DELETE, verb_connect,
      true },
};

/* Resources that are not stored. */
static const struct {
    const char *resource;
    unsigned verb;
    verb_fn *run;
    bool waits;
} unstored[] = {
    { "bindings", KIND_CREATE, verb_binding, true },
    { "componentstatuses", KIND_GET, verb_component_status, false },
    { "componentstatuses", KIND_LIST_VERB, verb_component_statuses, false },
    { "subjectaccessreviews", KIND_CREATE, verb_access_review, true },
    { "selfsubjectaccessreviews", KIND_CREATE, verb_access_review, true },
    { "localsubjectaccessreviews", KIND_CREATE, verb_access_review, true },
    { "selfsubjectrulesreviews", KIND_CREATE, verb_rules_review, true },
    { "selfsubjectreviews", KIND_CREATE, verb_self_review, true },
    { "tokenreviews", KIND_CREATE, verb_token_review, true },
};

static verb_fn *find_unstored(const struct call *c, bool *ret_waits)
{
    for (size_t i = 0; i < ARRAY_LEN(unstored); i++) {
        if (unstored[i].verb != c->verb ||
            !str_eq(c->req.resource->plural, str_of(unstored[i].resource)))
            continue;
        *ret_waits = unstored[i].waits;
        return unstored[i].run;
    }
    return verb_not_here;
}

static verb_fn *find_verb(const struct call *c, bool *ret_waits)
{
    struct str sub = c->req.sub ? c->req.sub->name : STR("");
    *ret_waits = false;
    if (!c->req.resource->etcd_prefix.n)
        return find_unstored(c, ret_waits);
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        if (!(verbs[i].verb & c->verb) || !str_eq(sub, str_of(verbs[i].sub)))
            continue;
        *ret_waits = verbs[i].waits;
        return verbs[i].run;
    }
    return verb_not_here;
}

/* ---- Serving ---- */

/* Requests that last as long as the client likes, by upstream's list. */
static bool is_long(const struct call *c)
{
    static const struct str subs[] = { STR("attach"), STR("exec"), STR("proxy"), STR("log"),
                                       STR("portforward") };
    return c->verb == KIND_WATCH || (c->req.sub && words_have(c->req.sub->name, WORDS(subs)));
}

/* `timeout=` may shorten the time that a request has. */
static int set_time(struct call *c, struct err *err)
{
    struct str text = request_param(&c->req, STR("timeout"));
    int64_t ns = 0;
    if (is_long(c)) {
        http_set_time(c->x, 0);
        return 0;
    }
    if (text.n && goduration_parse(text, &ns, err) < 0)
        return err_set(err, ERR_BAD_REQUEST,
                       "invalid timeout specified in the request URL - " STR_FMT,
                       STR_ARG(err->msg));
    if (ns > 0 && ns < LIMIT_REQUEST_MS * NS_PER_MS)
        http_set_time(c->x, (ns + NS_PER_MS - 1) / NS_PER_MS);
    return 0;
}

struct job {
    bool waits; /* for the store, or somebody else: a worker runs it */
    struct call *call;
    verb_fn *run;
};

/* ---- Those who want to see the way of their write ---- */

static bool may_look(struct call *c, struct err *err)
{
    const struct access q = { .user = c->user, .verb = STR("get"), .path = STR("/sampan/v1/xray") };
    struct str reason;
    if (!c->xray || !c->api->guard || guard_decide(c->api->guard, c->arena, &q, &reason))
        return true;
    c->xray = NULL;
    (void)err_set(err, ERR_FORBIDDEN, "forbidden: " STR_FMT, STR_ARG(access_refusal(c->arena, &q)));
    return false;
}

/* It comes as JSON, whatever else is accepted. */
static void look_at(struct call *c)
{
    c->xray =
        c->verb & (KIND_CREATE | KIND_UPDATE | KIND_PATCH | KIND_DELETE) ? filter_xray(c->x) : NULL;
    if (!c->xray)
        return;
    c->format = (struct format){ .media = FORMAT_JSON, .managers = c->format.managers };
    xray_stage(c->xray, "route",
               arena_printf(c->arena, STR_FMT " " STR_FMT "%s" STR_FMT, STR_ARG(c->http->method),
                            STR_ARG(c->req.resource->plural), c->req.sub ? "/" : "",
                            STR_ARG(c->req.sub ? c->req.sub->name : STR(""))),
               NULL);
    xray_stage(c->xray, "worker", STR("waits for one"), NULL);
}

static void run_on_worker(struct http_exchange *x, void *arg)
{
    struct job *job = arg;
    struct err err = ERR_INIT(job->call->arena);
    (void)x;
    if (arena_spent(job->call->arena)) {
        (void)allowance_error(job->call->arena->allowance, &err);
        call_fail(job->call, &err);
    } else if (!may_look(job->call, &err)) {
        call_fail(job->call, &err);
    } else {
        job->run(job->call);
    }
}

static bool is_review(verb_fn *run)
{
    return run == verb_access_review || run == verb_rules_review || run == verb_self_review ||
           run == verb_token_review;
}

static enum format_endpoint endpoint_of(const struct call *c, verb_fn *run)
{
    if (run == verb_log || run == verb_connect)
        return FORMAT_OF_ANYTHING;
    if (c->verb == KIND_WATCH)
        return FORMAT_OF_WATCH;
    return c->verb == KIND_LIST_VERB ? FORMAT_OF_COLLECTION : FORMAT_OF_ONE;
}

/* Names of nodes are looked up, which may take long: never by those who serve others. */
static struct workers *workers_for(struct call *c, verb_fn *run)
{
    return run == verb_log || run == verb_connect ? c->api->hook_workers : call_workers(c);
}

/* The text names the version without it, if one is settled: "... unavailable in v1.16+ ...". */
static void note_deprecated(struct call *c)
{
    struct str text = c->req.resource->deprecation, before = STR("unavailable in v");
    const char *at = memmem(text.p, text.n, before.p, before.n);
    audit_event_annotate(c->audit, STR("k8s.io/deprecated"), STR("true"));
    if (!at)
        return;
    struct str release = str_skip(text, (size_t)(at - text.p) + before.n);
    audit_event_annotate(c->audit, STR("k8s.io/removed-release"), str_cut(&release, '+'));
}

/* Reads may ask for what is there (0) or for a revision. All else goes by what anybody was told
 * before: a list that goes on where another server has begun it, and also a write, because what it
 * is held against must be the newest. */
static bool must_be_fresh(const struct call *c)
{
    if (!c->req.resource->etcd_prefix.n)
        return false;
    if (!(c->verb & (KIND_GET | KIND_LIST_VERB | KIND_WATCH)))
        return true;
    return !request_param(&c->req, STR("resourceVersion")).n;
}

static void run_job(struct http_exchange *x, void *arg)
{
    struct job *job = arg;
    if (!job->waits) {
        job->run(job->call);
        return;
    }
    look_at(job->call);
    (void)http_to_worker(x, workers_for(job->call, job->run), run_on_worker, job);
}

static void serve(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    struct str accept = http_header_get(c->http, STR("accept"));
    const struct kind_type *type = c->req.sub ? c->req.sub->type : c->req.resource->type;
    bool has_proto = !type || !type->custom, waits;
    struct job *job = arena_new(c->arena, struct job);
    *job = (struct job){ .call = c, .run = find_verb(c, &waits) };
    enum format_endpoint endpoint = endpoint_of(c, job->run);
    if ((!c->req.custom && format_route(accept, endpoint, &err) < 0) ||
        (is_review(job->run)
             ? format_choose_plain(c->arena, accept, &c->format, &err)
             : format_choose(c->arena, accept, endpoint, has_proto, &c->format, &err)) < 0) {
        reply_error(c->x, &err);
        return;
    }
    if (c->format.managers == FORMAT_MANAGERS_UNSAID && c->api->hides_managers)
        c->format.managers = FORMAT_MANAGERS_HIDDEN;
    c->format.pretty |= format_pretty(request_param(&c->req, STR("pretty")),
                                      http_header_get(c->http, STR("user-agent")));
    if (set_time(c, &err) < 0) {
        call_fail(c, &err);
        return;
    }
    if (c->req.resource->deprecation.n) {
        call_warn(c, c->req.resource->deprecation);
        note_deprecated(c);
    }
    if (c->req.no_sub) {
        (void)error_not_found(&err, c->req.resource, c->req.name);
        call_fail(c, &err);
        return;
    }
    /* Nothing is written whose answer would be refused; those who read look at it later. */
    bool reads_stored = !waits && c->req.resource->etcd_prefix.n;
    struct str include = request_param(&c->req, STR("includeObject"));
    if (!reads_stored && c->format.as == FORMAT_TABLE &&
        encode_include_parse(include, &c->include, &err) < 0)
        call_fail(c, &err);
    else {
        job->waits = waits;
        if (must_be_fresh(c))
            fresh_then(c->x, c->api->store, run_job, job);
        else
            run_job(c->x, job);
    }
}

/* A path over all namespaces is there for those who list. */
static bool is_no_path(const struct request *req)
{
    return !req->custom && req->resource->namespaced && !req->ns.p && req->resource->verbs &&
           !(req->resource->verbs & KIND_LIST_VERB);
}

/* Upstream's router knows the methods of built-in kinds only. */
static void refuse_method(struct call *c)
{
    static const struct method {
        struct str word;
        const char *verb;
    } methods[] = {
        { STR("POST"), "create" },   { STR("PUT"), "update" }, { STR("PATCH"), "patch" },
        { STR("DELETE"), "delete" }, { STR("GET"), "get" },    { STR("HEAD"), "get" },
    };
    struct err err = ERR_INIT(c->arena);
    if (!c->req.custom) {
        reply_method_not_allowed(c->x);
        return;
    }
    const struct method *method = words_row(c->http->method, methods);
    (void)error_method(&err, c->req.resource, method ? method->verb : "");
    call_fail(c, &err);
}

static void serve_found(struct api *api, struct http_exchange *x, const struct request *req,
                        const struct user *user, struct audit_event *audit)
{
    struct call *c = arena_new(http_arena(x), struct call);
    *c = (struct call){
        .api = api,
        .x = x,
        .http = http_request_of(x),
        .arena = http_arena(x),
        .req = *req,
        .user = user,
        .stored = kind_stored(req->resource),
        .warnings = arena_new(http_arena(x), struct call_warnings),
        .audit = audit,
    };
    /* One without verbs only lends its paths to what is stored: extensions/v1beta1 has the scale of
     * ReplicationControllers, but not these themselves. */
    if (!req->resource->verbs)
        c->req.resource = c->stored;
    c->verb = req->no_sub ? KIND_GET : request_verb(c->http, &c->req);
    bool nameless = !req->name.p && c->verb & (KIND_UPDATE | KIND_PATCH);
    if (is_no_path(req))
        reply_refusal(x, ERR_NOT_FOUND, "the server could not find the requested resource");
    else if (nameless)
        reply_refusal(x, ERR_BAD_REQUEST, "name must be provided");
    else if (c->verb)
        serve(c);
    else if (req->custom && req->resource->namespaced && !req->ns.p)
        reply_text(x, 404, STR("404 page not found\n"));
    else
        refuse_method(c);
}

bool dispatch_serve(struct api *api, struct http_exchange *x, enum request_place place,
                    const struct request *req, const struct user *user, struct audit_event *audit)
{
    switch (place) {
    case REQUEST_FOUND:
        serve_found(api, x, req, user, audit);
        return true;
    case REQUEST_NO_RESOURCE:
        reply_refusal(x, ERR_NOT_FOUND, "the server could not find the requested resource");
        return true;
    case REQUEST_BAD_ENCODING:
        reply_refusal(x, ERR_BAD_REQUEST, "the path or the query is not properly encoded");
        return true;
    case REQUEST_NO_GROUP:
    case REQUEST_ELSEWHERE:
        return false;
    }
    return false;
}
