/* POST to serviceaccounts/NAME/token: a signed token for a service account, for an audience and a
 * time, perhaps bound to a pod, a secret or a node. Nothing is stored. */
#include "api/defaults/defaults.h"
#include "api/field_errors.h"
#include "api/meta.h"
#include "api/names.h"
#include "api/words.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "server/audit/audit_event.h"
#include "server/guard/identity.h"
#include "server/registry/managers.h"
#include "server/http/decode.h"
#include "api/errors.h"
#include "server/http/options.h"
#include "server/registry/registry.h"
#include "server/verbs/subresource.h"
#include "server/verbs/verbs.h"
#include "base/banned.h"

static const struct str group = STR("authentication.k8s.io"), kind = STR("TokenRequest");

static int refuse_meta(struct call *c, const char *field, struct str value, const char *why,
                       struct err *err)
{
    struct field_errors e = FIELD_ERRORS_INIT(c->arena);
    struct field_path meta = { .name = STR("metadata") }, path = field_child(&meta, str_of(field));
    field_error(&e, FIELD_INVALID, &path, field_quoted(&e, value), "%s", why);
    return field_errors_report(&e, group, kind, c->req.name, err);
}

static int check_name(struct call *c, const struct value *body, struct err *err)
{
    struct str name = value_str(value_dig(body, "metadata", "name"));
    if (!name.n || str_eq(name, c->req.name))
        return 0;
    return refuse_meta(c, "name", name, "must match the service account name if specified", err);
}

static int check_uid(struct call *c, const struct value *body, const struct value *account,
                     struct err *err)
{
    struct str uid = value_str(value_dig(body, "metadata", "uid")),
               real = value_str(value_dig(account, "metadata", "uid"));
    struct kind_resource requests = { .group = group, .plural = kind };
    if (!uid.n || str_eq(uid, real))
        return 0;
    return error_conflict(err, &requests, c->req.name,
                          arena_printf(c->arena,
                                       "the UID in the token request (" STR_FMT
                                       ") does not match the UID of the service account (" STR_FMT
                                       ")",
                                       STR_ARG(uid), STR_ARG(real)));
}

/* ---- Attestations: for which group a webhook is asked ---- */

static bool is_of_webhooks(const struct value *ref)
{
    static const struct str kinds[] = { STR("ValidatingWebhookConfiguration"),
                                        STR("MutatingWebhookConfiguration") };
    return words_have(value_text(ref, "kind"), WORDS(kinds)) &&
           str_eq(value_text(ref, "apiVersion"), STR("admissionregistration.k8s.io/v1"));
}

static void check_group_name(struct field_errors *e, const struct field_path *path, struct str name)
{
    struct name_faults faults = { 0 };
    if (!name.n)
        field_error(e, FIELD_INVALID, path, field_quoted(e, name), "may not be an empty string");
    if (!name.n || str_eq(name, STR("*")) || name_check(NAME_SUBDOMAIN, name, &faults))
        return;
    for (size_t i = 0; i < faults.n; i++)
        field_error(e, FIELD_INVALID, path, field_quoted(e, name),
                    "must specify a valid API Group: %s%s", faults.list[i].part,
                    faults.list[i].why);
}

static void check_attestation(struct field_errors *e, const struct field_path *path, struct str key,
                              const struct value *values)
{
    static const struct str known[] = { STR("admissionReviewAPIGroups") };
    struct field_path item = field_index(path, 0);
    if (!str_eq(key, known[0]))
        field_not_supported(e, path, field_quoted(e, key), known, ARRAY_LEN(known));
    else if (!value_is(values, VALUE_ARRAY) || values->n != 1)
        field_error(e, FIELD_INVALID, path, field_json(e, values), "must specify a single value");
    else
        check_group_name(e, &item, value_str(value_at(values, 0)));
}

static void check_webhook_spec(struct field_errors *e, const struct field_path *spec_path,
                               const struct value *spec)
{
    const struct value *audiences = value_get(spec, STR("audiences")),
                       *all = value_get(spec, STR("attestations"));
    struct field_path audiences_path = field_child(spec_path, STR("audiences")),
                      path = field_child(spec_path, STR("attestations"));
    if (!value_is(audiences, VALUE_ARRAY) || audiences->n != 1)
        field_error(e, FIELD_INVALID, &audiences_path, field_json(e, audiences),
                    "must be length 1 when bound to a webhook config");
    if (!value_is(all, VALUE_OBJECT) || all->n != 1) {
        field_error(e, FIELD_INVALID, &path, field_json(e, all),
                    "webhook bound requests require exactly one admissionReviewAPIGroups "
                    "attestation");
        return;
    }
    value_each_field (f, all) {
        struct field_path at = field_key(&path, f->key);
        check_attestation(e, &at, f->key, &f->val);
    }
}

/* ---- The whole spec ---- */

static void check_expiration(struct field_errors *e, const struct field_path *spec_path,
                             const struct value *spec)
{
    enum { LEAST_SEC = 600 };
    struct field_path path = field_child(spec_path, STR("expirationSeconds"));
    const struct value *seconds = value_get(spec, STR("expirationSeconds"));
    int64_t n = 3600;
    (void)value_to_int(seconds, &n);
    if (n < LEAST_SEC)
        field_error(e, FIELD_INVALID, &path, field_json(e, seconds),
                    "may not specify a duration less than 10 minutes");
    else if (n > INT64_C(1) << 32)
        field_error(e, FIELD_INVALID, &path, field_json(e, seconds),
                    "may not specify a duration larger than 2^32 seconds");
}

static int check_spec(struct call *c, const struct value *body, struct err *err)
{
    struct field_errors e = FIELD_ERRORS_INIT(c->arena);
    const struct value *spec = value_get(body, STR("spec")),
                       *attestations = value_get(spec, STR("attestations"));
    struct field_path spec_path = { .name = STR("spec") },
                      path = field_child(&spec_path, STR("attestations"));
    bool is_bound = is_of_webhooks(value_get(spec, STR("boundObjectRef")));
    if (!is_bound && value_is(attestations, VALUE_OBJECT) && attestations->n) {
        field_error(&e, FIELD_INVALID, &path, field_json(&e, attestations),
                    "attestations may only be specified with a webhook bound object reference");
        return field_errors_report(&e, group, kind, STR(""), err);
    }
    check_expiration(&e, &spec_path, spec);
    if (is_bound)
        check_webhook_spec(&e, &spec_path, spec);
    return field_errors_report(&e, group, kind, STR(""), err);
}

/* ---- What it is bound to ---- */

/* The objects that a token can be bound to. */
static const struct {
    struct str kind;
    const char *claim, *plural;
    bool is_placed; /* in the namespace */
} bindable[] = {
    { STR("Pod"), "pod", "pods", true },
    { STR("Secret"), "secret", "secrets", true },
    { STR("Node"), "node", "nodes", false },
};

static int refuse_kind(struct call *c, const struct value *ref, struct err *err)
{
    struct str version = value_text(ref, "apiVersion"), prefix = STR("");
    for (size_t i = version.n; i-- > 0 && !prefix.n;)
        if (version.p[i] == '/')
            prefix = str_take(version, i);
    if (prefix.n)
        version = str_skip(version, prefix.n + 1);
    (void)c;
    return err_set(
        err, ERR_BAD_REQUEST,
        "cannot bind token to object of type " STR_FMT "/" STR_FMT ", Kind=" STR_FMT "%s",
        STR_ARG(prefix), STR_ARG(version), STR_ARG(value_text(ref, "kind")),
        is_of_webhooks(ref) ? " (feature gate APIServerWebhookAuthenticationToken is disabled)"
                            : "");
}

static int read_bound(struct call *c, const char *plural, bool is_placed, struct str name,
                      struct value *ret, struct err *err)
{
    struct call other = *c;
    struct registry_entry e;
    other.req.resource = other.stored = kind_stored_named(STR(""), str_of(plural));
    other.req.ns = is_placed ? c->req.ns : STR("");
    if (!name.n)
        return err_set(err, ERR_BAD_REQUEST, "Name parameter required.");
    int r = registry_get(&other, name, &e, err);
    if (r < 0)
        return r;
    *ret = e.obj;
    return 0;
}

/* A pod's token also says where it runs. */
static int bind_pod(struct call *c, const struct value *pod, struct account_grant *g,
                    struct err *err)
{
    struct str node = value_str(value_dig(pod, "spec", "nodeName"));
    if (!str_eq(value_str(value_dig(pod, "spec", "serviceAccountName")), c->req.name))
        return err_set(err, ERR_BAD_REQUEST,
                       "cannot bind token for serviceaccount \"" STR_FMT
                       "\" to pod running with different serviceaccount name.",
                       STR_ARG(c->req.name));
    struct value obj;
    struct err ignored = ERR_INIT(c->arena);
    g->node_name = node;
    if (node.n && read_bound(c, "nodes", false, node, &obj, &ignored) == 0)
        g->node_uid = value_str(value_dig(&obj, "metadata", "uid"));
    return 0;
}

static int check_bound_uid(const struct value *ref, const struct account_grant *g, struct err *err)
{
    struct str uid = value_text(ref, "uid");
    const struct kind_resource kinds = { .plural = value_text(ref, "kind") };
    if (!uid.n || str_eq(uid, g->bound_uid))
        return 0;
    return error_conflict(err, &kinds, g->bound_name,
                          arena_printf(err->arena,
                                       "the UID in the bound object reference (" STR_FMT
                                       ") does not match the UID in record. The object might have "
                                       "been deleted and then recreated",
                                       STR_ARG(uid)));
}

static int bind(struct call *c, const struct value *ref, struct account_grant *g, struct err *err)
{
    size_t i = 0;
    struct value obj;
    bool has_group = str_find(value_text(ref, "apiVersion"), '/') >= 0;
    while (i < ARRAY_LEN(bindable) && !str_eq(bindable[i].kind, value_text(ref, "kind")))
        i++;
    if (i == ARRAY_LEN(bindable) || has_group)
        return refuse_kind(c, ref, err);
    g->kind = bindable[i].claim;
    g->bound_name = value_text(ref, "name");
    int r = read_bound(c, bindable[i].plural, bindable[i].is_placed, g->bound_name, &obj, err);
    if (r < 0)
        return r;
    g->bound_uid = value_str(value_dig(&obj, "metadata", "uid"));
    if (i == 0 && (r = bind_pod(c, &obj, g, err)) < 0)
        return r;
    return check_bound_uid(ref, g, err);
}

/* ---- Signing ---- */

/* What the answer says of the request, as it is granted. */
static void complete(struct call *c, const struct value *account, int64_t now_ns,
                     struct value *body)
{
    const struct account_rules *rules = identity_accounts(api_identity(c->api));
    struct value *meta = value_ensure(c->arena, body, STR("metadata")),
                 *spec = value_ensure(c->arena, body, STR("spec"));
    char *now = arena_alloc(c->arena, CLOCK_TEXT_BYTES, 1);
    value_put(c->arena, meta, STR("name"), value_string(c->req.name));
    value_put(c->arena, meta, STR("namespace"), value_string(c->req.ns));
    value_put(c->arena, meta, STR("uid"), *value_dig(account, "metadata", "uid"));
    value_put(c->arena, meta, STR("creationTimestamp"),
              value_string(clock_format(now_ns, false, now)));
    const struct value *given = value_get(spec, STR("audiences"));
    if (value_is(given, VALUE_ARRAY) && given->n)
        return;
    struct value all = value_array();
    for (size_t i = 0; i < rules->n_audiences; i++)
        value_put_item(c->arena, &all, value_string(rules->audiences[i]));
    value_put(c->arena, spec, STR("audiences"), all);
}

/* Tokens that kubelets ask for pods, for about an hour, last a year and warn after that hour. */
static void extend(const struct account_rules *rules, struct account_grant *g)
{
    enum { ASKED_SEC = 3607, EXTENDED_SEC = 365 * 24 * 3600 };
    bool is_ours = g->audiences->n > 0;
    value_each_item (it, g->audiences) {
        bool known = false;
        for (size_t i = 0; i < rules->n_audiences; i++)
            known |= str_eq(value_str(it), rules->audiences[i]);
        is_ours &= known;
    }
    if (rules->no_extension || !is_ours || g->seconds != ASKED_SEC || !g->kind ||
        strcmp(g->kind, "pod") != 0)
        return;
    g->warn_after_sec = g->seconds;
    g->seconds = EXTENDED_SEC;
}

/* Nobody gets a token for longer than that. */
static int64_t shorten(struct call *c, int64_t max_sec, struct value *body)
{
    struct value *spec = value_ensure(c->arena, body, STR("spec"));
    int64_t asked = 0;
    (void)value_to_int(value_get(spec, STR("expirationSeconds")), &asked);
    if (!max_sec || asked <= max_sec)
        return asked;
    call_warn(c, arena_printf(c->arena,
                              "requested expiration of %lld seconds shortened to %lld seconds",
                              (long long)asked, (long long)max_sec));
    value_put(c->arena, spec, STR("expirationSeconds"), value_int(max_sec));
    return max_sec;
}

static int sign(struct call *c, const struct value *account, int64_t now_ns, struct value *body,
                struct err *err)
{
    const struct account_rules *rules = identity_accounts(api_identity(c->api));
    const struct signature_key *key = identity_signing_key(api_identity(c->api));
    const struct value *ref = value_dig(body, "spec", "boundObjectRef");
    struct account_grant g = { .ns = c->req.ns,
                               .name = c->req.name,
                               .uid = value_str(value_dig(account, "metadata", "uid")),
                               .jti = meta_new_uid(c->arena),
                               .audiences = value_dig(body, "spec", "audiences"),
                               .now_sec = now_ns / NS_PER_SEC };
    int r = value_is(ref, VALUE_OBJECT) ? bind(c, ref, &g, err) : 0;
    if (r < 0)
        return r;
    g.seconds = shorten(c, rules->max_sec, body);
    int64_t until_ns = now_ns + g.seconds * NS_PER_SEC;
    extend(rules, &g);
    struct value claims = account_token_claims(c->arena, rules->issuers[0], &g),
                 status = value_object();
    struct str token;
    r = jwt_sign(c->arena, key, &claims, &token, err);
    if (r < 0)
        return r;
    audit_event_annotate(c->audit, STR("authentication.kubernetes.io/issued-credential-id"),
                         arena_printf(c->arena, "JTI=" STR_FMT, STR_ARG(g.jti)));
    char *until = arena_alloc(c->arena, CLOCK_TEXT_BYTES, 1);
    value_put(c->arena, &status, STR("token"), value_string(token));
    value_put(c->arena, &status, STR("expirationTimestamp"),
              value_string(clock_format(until_ns, false, until)));
    value_put(c->arena, body, STR("status"), status);
    return 0;
}

static int make_token(struct call *c, struct value *body, struct err *err)
{
    struct write_options options;
    struct registry_entry account;
    int64_t now_ns = clock_wall_ns(c->api->clock);
    int r = options_read(c, "CreateOptions", &options, err);
    if (r < 0)
        return r;
    r = decode_body(c, c->req.sub->type, options.validation, body, err);
    if (r < 0)
        return r;
    defaults_apply(c->arena, c->req.sub->type, body);
    managers_update(c, managers_request(c, &options, c->req.sub->type), NULL, body);
    r = subresource_check_namespace(c, body, err);
    if (r < 0)
        return r;
    r = registry_admit_posted(c, c->req.sub->type, body, err);
    if (r < 0)
        return r;
    r = check_name(c, body, err);
    if (r < 0)
        return r;
    r = registry_get(c, c->req.name, &account, err);
    if (r < 0)
        return r;
    r = check_uid(c, body, &account.obj, err);
    if (r < 0)
        return r;
    complete(c, &account.obj, now_ns, body);
    r = check_spec(c, body, err);
    if (r < 0)
        return r;
    r = registry_admit_posted_check(c, c->req.sub->type, body, err);
    if (r < 0)
        return r;
    if (!identity_signing_key(api_identity(c->api)))
        return err_set(err, ERR_UNIMPLEMENTED,
                       "this server has no key to sign tokens of service accounts with");
    return sign(c, &account.obj, now_ns, body, err);
}

void verb_token(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    struct value body;
    if (make_token(c, &body, &err) < 0)
        call_fail(c, &err);
    else
        call_object(c, 201, c->req.sub->type, &body);
}
