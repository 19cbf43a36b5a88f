/* POST to pods/NAME/eviction: a pod is deleted, if its disruption budget allows it.
 *
 * A budget is counted down before the pod goes; its controller counts again what really went. */
#include "api/field_errors.h"
#include "api/pod_phase.h"
#include "select/labels.h"
#include "server/http/decode.h"
#include "api/errors.h"
#include "server/registry/managers.h"
#include "server/http/options.h"
#include "server/registry/registry.h"
#include "server/object/stored.h"
#include "server/verbs/subresource.h"
#include "server/verbs/verbs.h"
#include "base/banned.h"

enum { EVICTION_TRIES = 20, DISRUPTED_MAX = 2000, RETRY_SEC = 10 };

struct eviction {
    struct call *call;
    struct str name;
    struct delete_options options;
    struct registry_entry pod; /* as it was when it was decided on */
    struct str budget;         /* name; empty: none covers the pod */
    struct call budgets;       /* the call as if it were of those */
};

/* ---- The request ---- */

/* policy/v1beta1 is taken too: old clients drain nodes with it. */
static int decode(struct call *c, enum decode_validation validation,
                  const struct kind_type **ret_type, struct value *ret, struct err *err)
{
    struct err why = ERR_INIT(c->arena);
    int r = decode_body(c, c->req.sub->type, validation, ret, err);
    const struct kind_type *beta = kind_type_find(STR("policy"), STR("v1beta1"), STR("Eviction"));
    *ret_type = c->req.sub->type;
    if (r != -ERR_BAD_REQUEST || !beta || decode_body(c, beta, validation, ret, &why) < 0)
        return r;
    err_clear(err);
    *ret_type = beta;
    return 0;
}

static int refuse_option(struct call *c, struct err *err)
{
    struct field_errors e = FIELD_ERRORS_INIT(c->arena);
    struct field_path root = { .name = STR("deleteOptions") };
    struct field_path path =
        field_child(&root, STR("ignoreStoreReadErrorWithClusterBreakingPotential"));
    field_error(&e, FIELD_INVALID, &path, STR("true"),
                "can not be set for pod eviction, try after removing the option");
    return field_errors_report(&e, STR("policy"), STR("Eviction"), c->req.name, err);
}

static int read_request(struct call *c, struct eviction *ev, struct err *err)
{
    struct write_options options;
    const struct kind_type *type;
    struct value body;
    int r = options_read(c, "CreateOptions", &options, err);
    if (r < 0)
        return r;
    r = decode(c, options.validation, &type, &body, err);
    if (r < 0)
        return r;
    r = subresource_check_namespace(c, &body, err);
    if (r < 0)
        return r;
    managers_update(c, managers_request(c, &options, type), NULL, &body);
    r = registry_admit_posted(c, type, &body, err);
    if (r < 0)
        return r;
    if (!str_eq(value_str(value_dig(&body, "metadata", "name")), c->req.name))
        return err_set(err, ERR_BAD_REQUEST, "name in URL does not match name in Eviction object");
    r = options_delete_of(c, value_get(&body, STR("deleteOptions")), &ev->options, err);
    if (r < 0)
        return r;
    if (ev->options.ignore_read_error)
        return refuse_option(c, err);
    ev->options.dry_run |= options.dry_run;
    return registry_admit_posted_check(c, type, &body, err);
}

/* ---- Deleting ---- */

static int add_condition(struct registry_update *u, const struct registry_entry *now,
                         struct value *ret, struct err *err)
{
    const struct eviction *ev = u->arg;
    struct arena *a = ev->call->arena;
    int r = registry_check_preconditions(ev->call, ev->name, &ev->options, now, err);
    if (r < 0)
        return r;
    *ret = value_borrow(&now->obj);
    subresource_set_condition(
        ev->call, value_ensure(a, ret, STR("status")),
        &(struct subresource_condition){ .type = STR("DisruptionTarget"),
                                         .status = STR("True"),
                                         .reason = STR("EvictionByEvictionAPI"),
                                         .message = STR("Eviction API: evicting") });
    return 0;
}

/* Whoever watches the pod learns why it goes. */
static int delete_pod(struct eviction *ev, struct err *err)
{
    struct delete_options options = ev->options;
    struct value pod;
    bool gone;
    struct registry_update u = {
        .change = add_condition, .arg = ev, .sub = STR("status"), .tries_again = true
    };
    int r = options.dry_run ? 0 : registry_update(ev->call, ev->name, &u, &pod, err);
    if (r < 0)
        return r;
    if (options.revision.p && !options.dry_run)
        options.revision = value_str(value_dig(&pod, "metadata", "resourceVersion"));
    return registry_delete(ev->call, ev->name, &options, &pod, &gone, err);
}

static struct str phase_of(const struct eviction *ev)
{
    return value_str(value_dig(&ev->pod.obj, "status", "phase"));
}

/* It disrupts nothing any more. */
static bool is_over(const struct eviction *ev)
{
    return pod_phase_is_final(phase_of(ev)) ||
           value_dig(&ev->pod.obj, "metadata", "deletionTimestamp");
}

/* Only as it was seen, so that it cannot have become ready meanwhile. */
static int delete_as_seen(struct eviction *ev, struct err *err)
{
    struct str said = ev->options.revision;
    if (!said.p)
        ev->options.revision = value_str(value_dig(&ev->pod.obj, "metadata", "resourceVersion"));
    int r = delete_pod(ev, err);
    ev->options.revision = said;
    return r;
}

/* ---- Budgets ---- */

static int too_many(struct str cause, uint32_t retry_sec, struct err *err)
{
    int r = err_set(err, ERR_TOO_MANY_REQUESTS,
                    "Cannot evict pod as it would violate the pod's disruption budget.");
    err_add_cause(err, STR("DisruptionBudget"), STR(""), cause);
    err->about.retry_after_sec = retry_sec;
    return r;
}

static int still_processed(const struct eviction *ev, struct err *err)
{
    return too_many(arena_printf(ev->call->arena,
                                 "The disruption budget " STR_FMT
                                 " is still being processed by the server.",
                                 STR_ARG(ev->budget)),
                    RETRY_SEC, err);
}

static int64_t number(const struct value *obj, const char *field)
{
    int64_t n = 0;
    (void)value_to_int(value_get(obj, str_of(field)), &n);
    return n;
}

static int forbid(const struct eviction *ev, const char *why, const char *cause, struct err *err)
{
    struct kind_resource budgets = { .group = STR("policy"), .plural = STR("poddisruptionbudget") };
    struct arena *a = ev->call->arena;
    int r = error_forbidden(err, &budgets, ev->budget, str_of(why));
    err_add_cause(err, STR("DisruptionBudget"), STR(""),
                  arena_printf(a,
                               "The disruption budget " STR_FMT
                               " does not allow evicting pods currently: %s",
                               STR_ARG(ev->budget), cause));
    return r;
}

/* Why nothing may be disrupted now. */
static struct str why_exhausted(const struct eviction *ev, const struct value *status)
{
    struct arena *a = ev->call->arena;
    const struct value *condition = NULL;
    value_each_item (it, value_get(status, STR("conditions")))
        if (str_eq(value_text(it, "type"), STR("DisruptionAllowed")))
            condition = it;
    struct str reason = value_text(condition, "reason"), message = value_text(condition, "message");
    bool told = message.n && str_eq(value_text(condition, "status"), STR("False"));
    if (told && str_eq(reason, STR("SyncFailed")))
        return arena_printf(a,
                            "The disruption budget " STR_FMT
                            " does not allow evicting pods currently because it failed "
                            "sync: " STR_FMT,
                            STR_ARG(ev->budget), STR_ARG(message));
    if (number(status, "currentHealthy") <= number(status, "desiredHealthy"))
        return arena_printf(
            a, "The disruption budget " STR_FMT " needs %lld healthy pods and has %lld currently",
            STR_ARG(ev->budget), (long long)number(status, "desiredHealthy"),
            (long long)number(status, "currentHealthy"));
    if (told)
        return arena_printf(a,
                            "The disruption budget " STR_FMT
                            " does not allow evicting pods currently (" STR_FMT "): " STR_FMT,
                            STR_ARG(ev->budget), STR_ARG(reason), STR_ARG(message));
    return arena_printf(a,
                        "The disruption budget " STR_FMT " does not allow evicting pods currently",
                        STR_ARG(ev->budget));
}

static int check_budget(const struct eviction *ev, const struct value *budget, struct err *err)
{
    const struct value *status = value_get(budget, STR("status")),
                       *disrupted = value_get(status, STR("disruptedPods"));
    int64_t allowed = number(status, "disruptionsAllowed");
    if (number(status, "observedGeneration") <
        number(value_get(budget, STR("metadata")), "generation"))
        return still_processed(ev, err);
    if (allowed < 0)
        return forbid(ev, "pdb disruptions allowed is negative",
                      "pdb disruptions allowed is negative", err);
    if (value_is(disrupted, VALUE_OBJECT) && disrupted->n > DISRUPTED_MAX)
        return forbid(ev,
                      "DisruptedPods map too big - too many evictions not confirmed by PDB "
                      "controller",
                      "too many pending evictions not confirmed by PDB controller", err);
    if (allowed == 0)
        return too_many(why_exhausted(ev, status), 0, err);
    return 0;
}

static int count_down(struct registry_update *u, const struct registry_entry *now,
                      struct value *ret, struct err *err)
{
    struct eviction *ev = u->arg;
    struct arena *a = ev->call->arena;
    int r = check_budget(ev, &now->obj, err);
    if (r < 0)
        return r;
    *ret = value_borrow(&now->obj);
    struct value *status = value_ensure(a, ret, STR("status"));
    int64_t allowed = number(status, "disruptionsAllowed") - 1;
    value_put(a, status, STR("disruptionsAllowed"), value_int(allowed));
    if (allowed == 0)
        subresource_set_condition(
            ev->call, status,
            &(struct subresource_condition){ .type = STR("DisruptionAllowed"),
                                             .status = STR("False"),
                                             .reason = STR("InsufficientPods"),
                                             .observed_generation =
                                                 number(status, "observedGeneration") });
    value_put(a, value_ensure(a, status, STR("disruptedPods")), ev->name,
              value_string(registry_now(ev->call)));
    r = registry_settle(&ev->budgets, ret, err);
    if (r < 0)
        return r;
    managers_update(&ev->budgets, managers_own_request(&ev->budgets, STR("status")), &now->obj,
                    ret);
    return 0;
}

static int take_from_budget(struct eviction *ev, struct err *err)
{
    ev->budgets = subresource_call(ev->call, STR("policy"), STR("poddisruptionbudgets"));
    struct registry_update u = {
        .change = count_down,
        .arg = ev,
        .sub = STR("status"),
        .dry_run = ev->options.dry_run,
        .tries_again = true,
    };
    struct value budget;
    return registry_update(&ev->budgets, ev->budget, &u, &budget, err);
}

/* The budgets that cover the pod: how many, and one of them in `ret`. */
static int find_budgets(struct eviction *ev, struct value *ret, struct err *err)
{
    struct call *c = ev->call;
    const struct kind_resource *budgets =
        kind_stored_named(STR("policy"), STR("poddisruptionbudgets"));
    const struct value *labels = value_dig(&ev->pod.obj, "metadata", "labels");
    struct store_snap *snap;
    struct store_entry e;
    int n = 0, r = store_snap_begin(c->api->store, 0, &snap, err);
    if (r < 0)
        return r;
    store_range_begin(snap, stored_key(c->arena, budgets, c->req.ns, STR("")), STR(""));
    while ((r = store_range_next(snap, &e, err)) == 1) {
        struct value budget;
        struct labels_selector selector;
        r = stored_read(c->arena, budgets->type, &e, &budget, err);
        if (r < 0)
            break;
        if (labels_from_value(c->arena, value_dig(&budget, "spec", "selector"), &selector, NULL) ==
                0 &&
            labels_match_value(&selector, labels)) {
            *ret = budget;
            n++;
        }
    }
    store_snap_end(snap);
    return r < 0 ? r : n;
}

static bool is_ready(const struct value *pod)
{
    value_each_item (it, value_dig(pod, "status", "conditions"))
        if (str_eq(value_text(it, "type"), STR("Ready")))
            return str_eq(value_text(it, "status"), STR("True"));
    return false;
}

/* Whether the pod may go without being counted: it is not healthy itself, and the others are
 * enough, or nobody cares. */
static bool goes_uncounted(const struct eviction *ev, const struct value *budget)
{
    const struct value *status = value_get(budget, STR("status"));
    int64_t desired = number(status, "desiredHealthy");
    if (is_ready(&ev->pod.obj))
        return false;
    return str_eq(value_str(value_dig(budget, "spec", "unhealthyPodEvictionPolicy")),
                  STR("AlwaysAllow")) ||
           (desired > 0 && number(status, "currentHealthy") >= desired);
}

static int evict_covered(struct eviction *ev, const struct value *budget, struct err *err)
{
    ev->budget = value_str(value_dig(budget, "metadata", "name"));
    if (!goes_uncounted(ev, budget)) {
        int r = take_from_budget(ev, err);
        return r < 0 ? r : delete_pod(ev, err);
    }
    int r = delete_as_seen(ev, err);
    if (r != -ERR_CONFLICT || ev->options.revision.p)
        return r;
    err_clear(err);
    return still_processed(ev, err);
}

static int evict_running(struct eviction *ev, struct err *err)
{
    struct value budget;
    int n = find_budgets(ev, &budget, err);
    if (n < 0)
        return n;
    if (n > 1)
        return err_set(err, ERR_UNKNOWN,
                       "This pod has more than one PodDisruptionBudget, which the eviction "
                       "subresource does not support.");
    return n == 1 ? evict_covered(ev, &budget, err) : delete_pod(ev, err);
}

static int evict(struct eviction *ev, struct err *err)
{
    int r = -ERR_CONFLICT;
    for (int i = 0; r == -ERR_CONFLICT && i < EVICTION_TRIES; i++) {
        err_clear(err);
        r = registry_get(ev->call, ev->name, &ev->pod, err);
        if (r < 0)
            return r;
        if (is_over(ev))
            r = delete_pod(ev, err);
        else if (str_eq(phase_of(ev), STR("Pending")))
            r = delete_as_seen(ev, err);
        else
            return evict_running(ev, err);
        if (ev->options.revision.p)
            return r; /* the client has said which one it means */
    }
    return r;
}

void verb_eviction(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    struct eviction ev = { .call = c, .name = c->req.name };
    if (read_request(c, &ev, &err) < 0 || evict(&ev, &err) < 0)
        call_fail(c, &err);
    else
        subresource_success(c);
}
