/* authorizer.group('').resource('pods').check('create').allowed() and its kin (Kubernetes). What is
 * asked is put together here; the answer comes from the caller's struct cel_authorizer. Also
 * jsonpatch.escapeKey(), and equality of all opaque values. */
#include "base/idiom.h"
#include "cel/internal.h"

#include "api/ip.h"
#include "api/names.h"
#include "base/buf.h"

#include "base/banned.h"

/* An authorizer, and what has been said so far: one struct for all steps of the chain. */
struct question {
    const struct cel_authorizer *authorizer;
    struct cel_authz_check check;
};

struct cel_value cel_of_authorizer(struct arena *a, const struct cel_authorizer *authorizer)
{
    struct question *q = arena_new(a, struct question);
    q->authorizer = authorizer;
    return cel__opaque(&cel_authorizer, q);
}

struct cel_value cel_of_request_resource(struct arena *a, const struct cel_authorizer *authorizer,
                                         const struct cel_authz_check *resource)
{
    struct question *q = arena_new(a, struct question);
    q->authorizer = authorizer;
    q->check = *resource;
    q->check.is_resource = true;
    return cel__opaque(&cel__resource_check, q);
}

static struct question *copy(struct cel__eval *ev, const struct cel_value *v)
{
    return arena_dup(ev->arena, v->opaque, sizeof(struct question));
}

static bool is_blank(struct str s)
{
    return !str_trim(s).n;
}

#define FUNCTION(name) \
    static struct cel_value name(struct cel__eval *ev, const struct cel_value *args, size_t n)

FUNCTION(fn_path)
{
    (void)n;
    struct question *q = copy(ev, &args[0]);
    q->check.path = cel__str(&args[1]);
    if (is_blank(q->check.path))
        return cel__error_text("path must not be empty");
    return cel__opaque(&cel__path_check, q);
}

FUNCTION(fn_group)
{
    (void)n;
    struct question *q = copy(ev, &args[0]);
    q->check.group = cel__str(&args[1]);
    return cel__opaque(&cel__group_check, q);
}

FUNCTION(fn_service_account)
{
    (void)n;
    struct question *q = copy(ev, &args[0]);
    struct name_faults faults = { 0 };
    if (!name_check(NAME_SUBDOMAIN, cel__str(&args[2]), &faults))
        return cel__error_text("Invalid service account name");
    if (!name_check(NAME_LABEL, cel__str(&args[1]), &faults))
        return cel__error_text("Invalid service account namespace");
    q->check.service_account_namespace = cel__str(&args[1]);
    q->check.service_account = cel__str(&args[2]);
    return cel__opaque(&cel_authorizer, q);
}

FUNCTION(fn_resource)
{
    (void)n;
    struct question *q = copy(ev, &args[0]);
    q->check.is_resource = true;
    q->check.resource = cel__str(&args[1]);
    if (is_blank(q->check.resource))
        return cel__error_text("resource must not be empty");
    return cel__opaque(&cel__resource_check, q);
}

#define REFINE(fn, part)                             \
    FUNCTION(fn)                                     \
    {                                                \
        (void)n;                                     \
        struct question *q = copy(ev, &args[0]);     \
        q->check.part = cel__str(&args[1]);          \
        return cel__opaque(&cel__resource_check, q); \
    }
REFINE(fn_subresource, subresource)
REFINE(fn_namespace, namespace)
REFINE(fn_name, name)
REFINE(fn_field_selector, field_selector)
REFINE(fn_label_selector, label_selector)

FUNCTION(fn_check)
{
    (void)n;
    struct question *q = copy(ev, &args[0]);
    struct cel_authz_decision *decision = arena_new(ev->arena, struct cel_authz_decision);
    q->check.verb = cel__str(&args[1]);
    q->authorizer->decide(q->authorizer, ev->arena, &q->check, decision);
    return cel__opaque(&cel__decision, decision);
}

static const struct cel_authz_decision *decision_of(const struct cel_value *v)
{
    return v->opaque;
}

FUNCTION(fn_errored)
{
    (void)ev;
    (void)n;
    return cel_of_bool(decision_of(&args[0])->error.n);
}

FUNCTION(fn_error)
{
    (void)ev;
    (void)n;
    return cel_of_string(decision_of(&args[0])->error);
}

FUNCTION(fn_allowed)
{
    (void)ev;
    (void)n;
    return cel_of_bool(decision_of(&args[0])->allowed);
}

FUNCTION(fn_reason)
{
    (void)ev;
    (void)n;
    return cel_of_string(decision_of(&args[0])->reason);
}

FUNCTION(fn_escape_key)
{
    (void)n;
    autobuf out = { 0 };
    for (size_t i = 0; i < args[0].n; i++) {
        char c = args[0].text[i];
        if (c == '/' || c == '~')
            buf_str_add(&out, c == '/' ? STR("~1") : STR("~0"));
        else
            buf_byte(&out, c);
    }
    return cel_of_string(arena_str(ev->arena, buf_str(&out)));
}

#define ONE      CEL__COST_ONE
#define STRING   &cel_string
#define RESOURCE &cel__resource_check
#define DECISION &cel__decision

static const struct cel__overload rows[] = {
    CEL__METHOD("path", ONE, fn_path, &cel__path_check, &cel_authorizer, STRING),
    CEL__METHOD("group", ONE, fn_group, &cel__group_check, &cel_authorizer, STRING),
    CEL__METHOD("serviceAccount", ONE, fn_service_account, &cel_authorizer, &cel_authorizer, STRING,
                STRING),
    CEL__METHOD("resource", ONE, fn_resource, RESOURCE, &cel__group_check, STRING),
    CEL__METHOD("subresource", ONE, fn_subresource, RESOURCE, RESOURCE, STRING),
    CEL__METHOD("namespace", ONE, fn_namespace, RESOURCE, RESOURCE, STRING),
    CEL__METHOD("name", ONE, fn_name, RESOURCE, RESOURCE, STRING),
    CEL__METHOD("fieldSelector", CEL__COST_SELECTOR, fn_field_selector, RESOURCE, RESOURCE, STRING),
    CEL__METHOD("labelSelector", CEL__COST_SELECTOR, fn_label_selector, RESOURCE, RESOURCE, STRING),
    CEL__METHOD("check", CEL__COST_CHECK, fn_check, DECISION, &cel__path_check, STRING),
    CEL__METHOD("check", CEL__COST_CHECK, fn_check, DECISION, RESOURCE, STRING),
    CEL__METHOD("errored", ONE, fn_errored, &cel_bool, DECISION),
    CEL__METHOD("error", ONE, fn_error, STRING, DECISION),
    CEL__METHOD("allowed", ONE, fn_allowed, &cel_bool, DECISION),
    CEL__METHOD("reason", ONE, fn_reason, STRING, DECISION),
};

static const struct cel__overload json_patch_rows[] = {
    CEL__FUNCTION("jsonpatch.escapeKey", CEL__COST_TEXT_ARG, fn_escape_key, STRING, STRING),
};

const struct cel__library cel__lib_authz = { rows, ARRAY_LEN(rows), 0 };
const struct cel__library cel__lib_json_patch = { json_patch_rows, 1, CEL_ENV_JSON_PATCH };

static bool same_address(const void *x, const void *y)
{
    const struct ip *a = x, *b = y;
    return a->is_v4 == b->is_v4 && memcmp(a->bytes, b->bytes, a->is_v4 ? 4 : 16) == 0;
}

struct cel_value cel__opaque_equal(struct cel__eval *ev, const struct cel_value *x,
                                   const struct cel_value *y)
{
    (void)ev;
    if (!str_eq(x->declared->name, y->declared->name))
        return CEL__NO_OVERLOAD;
    if (x->declared == &cel_quantity)
        return cel_of_bool(cel__quantity_equal(x->opaque, y->opaque));
    if (x->declared == &cel_semver)
        return cel_of_bool(cel__semver_equal(x->opaque, y->opaque));
    if (x->declared == &cel_url)
        return cel_of_bool(cel__url_equal(x->opaque, y->opaque));
    if (x->declared == &cel_ip)
        return cel_of_bool(same_address(x->opaque, y->opaque));
    if (x->declared == &cel_cidr) {
        const struct cidr *a = x->opaque, *b = y->opaque;
        return cel_of_bool(a->bits == b->bits && same_address(&a->ip, &b->ip));
    }
    /* Those of the authorizer do not compare. */
    return x->declared == &cel__format ? cel_of_bool(x->opaque == y->opaque) : CEL__NO_OVERLOAD;
}
