#include "api/errors.h"

#include "base/banned.h"

/* "deployments.apps", or "pods" for the core group; for STR_FMT "%s" STR_FMT. */
#define RESOURCE_FMT    STR_FMT "%s" STR_FMT
#define RESOURCE_ARG(r) STR_ARG((r)->plural), (r)->group.n ? "." : "", STR_ARG((r)->group)

static int about(struct err *err, int result, const struct kind_resource *r, struct str name)
{
    if (err)
        err->about = (struct err_about){ .name = name, .group = r->group, .kind = r->plural };
    return result;
}

int error_not_found(struct err *err, const struct kind_resource *r, struct str name)
{
    return about(err,
                 err_set(err, ERR_NOT_FOUND, RESOURCE_FMT " \"" STR_FMT "\" not found",
                         RESOURCE_ARG(r), STR_ARG(name)),
                 r, name);
}

int error_exists(struct err *err, const struct kind_resource *r, struct str name)
{
    return about(err,
                 err_set(err, ERR_EXISTS, RESOURCE_FMT " \"" STR_FMT "\" already exists",
                         RESOURCE_ARG(r), STR_ARG(name)),
                 r, name);
}

int error_none_generated(struct err *err, const struct kind_resource *r, struct str name)
{
    int result = error_exists(err, r, name);
    err->msg = arena_printf(err->arena,
                            STR_FMT ", the server was not able to generate a unique name for the "
                                    "object",
                            STR_ARG(err->msg));
    err->about.retry_after_sec = 1;
    return result;
}

int error_try_again(struct err *err, const struct kind_resource *r, struct str verb)
{
    int result = about(err,
                       err_set(err, ERR_SERVER_TIMEOUT,
                               "The " STR_FMT " operation against " RESOURCE_FMT
                               " could not be completed at this time, please try again.",
                               STR_ARG(verb), RESOURCE_ARG(r)),
                       r, STR(""));
    err->about.retry_after_sec = 1;
    return result;
}

int error_crowded(struct err *err)
{
    int result =
        err_set(err, ERR_TOO_MANY_REQUESTS,
                "too many answers of this client are not read yet, please try again later");
    err->about.retry_after_sec = 1;
    return result;
}

int error_conflict(struct err *err, const struct kind_resource *r, struct str name, struct str why)
{
    return about(err,
                 err_set(err, ERR_CONFLICT,
                         "Operation cannot be fulfilled on " RESOURCE_FMT " \"" STR_FMT
                         "\": " STR_FMT,
                         RESOURCE_ARG(r), STR_ARG(name), STR_ARG(why)),
                 r, name);
}

int error_conflict_of(struct err *err, const struct kind_resource *r, struct str name,
                      struct str why)
{
    struct kind_resource by_kind = *r;
    by_kind.plural = r->type->name;
    return error_conflict(err, &by_kind, name, why);
}

int error_other_uid(struct err *err, const struct kind_resource *r, struct str name, struct str key,
                    struct str uid, struct str now_uid)
{
    return error_conflict(err, r, name,
                          arena_printf(err->arena,
                                       "StorageError: invalid object, Code: 4, Key: " STR_FMT
                                       ", ResourceVersion: 0, AdditionalErrorMsg: Precondition "
                                       "failed: UID in precondition: " STR_FMT
                                       ", UID in object meta: " STR_FMT,
                                       STR_ARG(key), STR_ARG(uid), STR_ARG(now_uid)));
}

int error_modified(struct err *err, const struct kind_resource *r, struct str name)
{
    return error_conflict(err, r, name,
                          STR("the object has been modified; please apply your changes to the "
                              "latest version and try again"));
}

int error_forbidden(struct err *err, const struct kind_resource *r, struct str name, struct str why)
{
    int code = !r->plural.n ? err_set(err, ERR_FORBIDDEN, "forbidden: " STR_FMT, STR_ARG(why))
               : name.n     ? err_set(err, ERR_FORBIDDEN,
                                      RESOURCE_FMT " \"" STR_FMT "\" is forbidden: " STR_FMT,
                                      RESOURCE_ARG(r), STR_ARG(name), STR_ARG(why))
                            : err_set(err, ERR_FORBIDDEN, RESOURCE_FMT " is forbidden: " STR_FMT,
                                      RESOURCE_ARG(r), STR_ARG(why));
    return about(err, code, r, name);
}

int error_method(struct err *err, const struct kind_resource *r, const char *verb)
{
    return about(err,
                 err_set(err, ERR_METHOD_NOT_ALLOWED,
                         "%s is not supported on resources of kind \"" RESOURCE_FMT "\"", verb,
                         RESOURCE_ARG(r)),
                 r, STR(""));
}

int error_no_namespace(struct err *err, struct str ns)
{
    int r = err_set(err, ERR_NOT_FOUND, "namespaces \"" STR_FMT "\" not found", STR_ARG(ns));
    if (err)
        err->about = (struct err_about){ .name = ns, .kind = STR("namespaces") };
    return r;
}
