/* POST to deployments/NAME/rollback, which the first versions of Deployments have: back to an
 * earlier revision. What is stored is the wish; the controller of Deployments grants it, and takes
 * it away again. Today's version has no field for it, but an annotation. */
#include "api/field_errors.h"
#include "api/keys.h"
#include "api/meta.h"
#include "server/http/decode.h"
#include "server/registry/managers.h"
#include "server/http/options.h"
#include "server/registry/registry.h"
#include "server/verbs/subresource.h"
#include "server/verbs/verbs.h"
#include "base/banned.h"

struct rollback {
    struct call *deployments; /* the call as if it were of today's */
    struct value wish;        /* a DeploymentRollback */
};

static int64_t revision_of(const struct value *wish)
{
    int64_t revision = 0;
    (void)value_to_int(value_dig(wish, "rollbackTo", "revision"), &revision);
    return revision;
}

static int validate(struct call *c, const struct value *wish, struct err *err)
{
    struct field_errors e = FIELD_ERRORS_INIT(c->arena);
    struct field_path annotations = { .name = STR("updatedAnnotations") },
                      name = { .name = STR("name") }, to = { .name = STR("rollback") };
    struct field_path revision = field_child(&to, STR("version"));
    meta_check_annotations(&e, &annotations, value_get(wish, STR("updatedAnnotations")));
    if (!value_text(wish, "name").n)
        field_error(&e, FIELD_REQUIRED, &name, STR(""), "name is required");
    if (revision_of(wish) < 0)
        field_error(&e, FIELD_INVALID, &revision,
                    arena_printf(c->arena, "%lld", (long long)revision_of(wish)),
                    "must be greater than or equal to 0");
    return field_errors_report(&e, c->req.sub->type->group, c->req.sub->type->name,
                               value_text(wish, "name"), err);
}

static int set_wish(struct registry_update *u, const struct registry_entry *now, struct value *ret,
                    struct err *err)
{
    const struct rollback *rb = u->arg;
    struct arena *a = rb->deployments->arena;
    *ret = value_borrow(&now->obj);
    struct value *annotations =
        value_ensure(a, value_ensure(a, ret, STR("metadata")), STR("annotations"));
    value_each_field (f, value_get(&rb->wish, STR("updatedAnnotations")))
        value_put(a, annotations, f->key, value_borrow(&f->val));
    value_put(a, annotations, STR(KEY_ROLLBACK_TO),
              value_string(arena_printf(a, "%lld", (long long)revision_of(&rb->wish))));
    int r = registry_settle(rb->deployments, ret, err);
    if (r < 0)
        return r;
    managers_update(rb->deployments, managers_own_request(rb->deployments, STR("")), &now->obj,
                    ret);
    return 0;
}

static int roll_back(struct call *c, struct err *err)
{
    struct write_options options;
    struct call deployments = subresource_call(c, STR("apps"), STR("deployments"));
    struct rollback rb = { .deployments = &deployments };
    struct value deployment;
    int r = options_read(c, "CreateOptions", &options, err);
    if (r < 0)
        return r;
    r = decode_body(c, c->req.sub->type, options.validation, &rb.wish, err);
    if (r < 0)
        return r;
    r = registry_admit_posted(c, c->req.sub->type, &rb.wish, err);
    if (r < 0)
        return r;
    if (!str_eq(value_text(&rb.wish, "name"), c->req.name))
        return err_set(err, ERR_BAD_REQUEST,
                       "name in URL does not match name in DeploymentRollback object");
    r = validate(c, &rb.wish, err);
    if (r < 0)
        return r;
    r = registry_admit_posted_check(c, c->req.sub->type, &rb.wish, err);
    if (r < 0)
        return r;
    struct registry_update u = {
        .change = set_wish, .arg = &rb, .dry_run = options.dry_run, .tries_again = true
    };
    return registry_update(&deployments, c->req.name, &u, &deployment, err);
}

void verb_rollback(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    if (roll_back(c, &err) < 0)
        call_fail(c, &err);
    else
        subresource_success_with(
            c, 200,
            arena_printf(c->arena, "rollback request for deployment \"" STR_FMT "\" succeeded",
                         STR_ARG(c->req.name)));
}
