/* POST to serviceaccounts/NAME/token: a signed token for a service account, for an audience and a
 * time, perhaps bound to a pod, a secret or a node. Nothing is stored. */
#include "api/defaults/defaults.h"
#include "api/field_errors.h"
#include "api/meta.h"
#include "base/clock.h"
#include "base/idiom.h"
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

static int check_path(struct call *c, const struct value *body, struct err *err)
{
    struct str name = value_str(value_dig(body, "metadata", "name"));
    int r = subresource_check_namespace(c, body, err);
    if (r < 0 || !name.n || str_eq(name, c->req.name))
        return r;
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

static int check_spec(struct call *c, const struct value *body, struct err *err)
{
    enum { LEAST_SEC = 600 };
    struct field_errors e = FIELD_ERRORS_INIT(c->arena);
    struct field_path spec = { .name = STR("spec") },
                      path = field_child(&spec, STR("expirationSeconds"));
    const struct value *seconds = value_dig(body, "spec", "expirationSeconds");
    int64_t n = 3600;
    (void)value_to_int(seconds, &n);
    if (n < LEAST_SEC)
        field_error(&e, FIELD_INVALID, &path, field_json(&e, seconds),
                    "may not specify a duration less than 10 minutes");
    else if (n > INT64_C(1) << 32)
        field_error(&e, FIELD_INVALID, &path, field_json(&e, seconds),
                    "may not specify a duration larger than 2^32 seconds");
    return field_errors_report(&e, group, kind, STR(""), err);
}

/* Refuses in any case: what is wrong with the request comes first. */
static int refuse(struct call *c, struct err *err)
{
    struct write_options options;
    struct registry_entry account;
    struct value body;
    int r = options_read(c, "CreateOptions", &options, err);
    if (r < 0)
        return r;
    r = decode_body(c, c->req.sub->type, options.validation, &body, err);
    if (r < 0)
        return r;
    defaults_apply(c->arena, c->req.sub->type, &body);
    r = check_path(c, &body, err);
    if (r < 0)
        return r;
    r = registry_get(c, c->req.name, &account, err);
    if (r < 0)
        return r;
    r = check_uid(c, &body, &account.obj, err);
    if (r < 0)
        return r;
    r = check_spec(c, &body, err);
    if (r < 0)
        return r;
    return err_set(err, ERR_UNIMPLEMENTED,
                   "this server has no keys to sign tokens of service accounts with");
}

void verb_token(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    (void)refuse(c, &err);
    call_fail(c, &err);
}
