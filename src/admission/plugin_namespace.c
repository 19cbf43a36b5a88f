/* NamespaceLifecycle: nothing new comes into a namespace that is not there or is being deleted, and
 * three namespaces stay. NamespaceExists asks the same of every write, and NamespaceAutoProvision
 * makes what is missing.
 *
 * These look at a moment. That a namespace has not changed since, when an object comes in, is a
 * condition of the server's transaction. */
#include "admission/plugins.h"
#include "api/errors.h"
#include "api/words.h"
#include "base/banned.h"

static bool is_namespace(const struct admission_request *req)
{
    return str_eq(req->stored->plural, STR("namespaces")) && !req->stored->group.n;
}

static bool is_inside(const struct admission_request *req)
{
    return req->ns.n && !is_namespace(req);
}

/* Of the namespace of the request: what the server has seen already, or what there is now. */
static int look(struct admission_request *req, struct err *err)
{
    struct value ns;
    if (req->ns_is != ADMISSION_NAMESPACE_UNREAD)
        return 0;
    int r = admission_read(req, STR(""), STR("namespaces"), STR(""), req->ns, &ns, err);
    if (r < 0)
        return r;
    if (r == 0)
        req->ns_is = ADMISSION_NAMESPACE_ABSENT;
    else if (value_dig(&ns, "metadata", "deletionTimestamp"))
        req->ns_is = ADMISSION_NAMESPACE_ENDING;
    else
        req->ns_is = ADMISSION_NAMESPACE_THERE;
    return 0;
}

/* ---- NamespaceLifecycle ---- */

static int refuse_ending(struct admission_request *req, const struct value *obj, struct err *err)
{
    int r = admission_forbid_as(req, obj, err,
                                "unable to create new content in namespace " STR_FMT
                                " because it is being terminated",
                                STR_ARG(req->ns));
    err_add_cause(
        err, STR("NamespaceTerminating"), STR("metadata.namespace"),
        arena_printf(req->arena, "namespace " STR_FMT " is being terminated", STR_ARG(req->ns)));
    return r;
}

static int check_delete(struct admission_request *req, struct err *err)
{
    static const struct str stay[] = { STR("default"), STR("kube-system"), STR("kube-public") };
    if (!is_namespace(req) || req->sub.n || !words_have(req->name, WORDS(stay)))
        return 0;
    return admission_forbid(req, NULL, STR("this namespace may not be deleted"), err);
}

/* Who may ask what is allowed in a namespace need not know whether it is there. As with upstream,
 * this plugin alone makes an exception of it. */
static bool is_review(const struct admission_request *req)
{
    return str_eq(req->stored->group, STR("authorization.k8s.io"));
}

static int check_create(struct admission_request *req, const struct value *obj, struct err *err)
{
    if (!is_inside(req) || is_review(req))
        return 0;
    int r = look(req, err);
    if (r < 0)
        return r;
    if (req->ns_is == ADMISSION_NAMESPACE_ABSENT)
        return error_no_namespace(err, req->ns);
    return req->ns_is == ADMISSION_NAMESPACE_ENDING ? refuse_ending(req, obj, err) : 0;
}

static int guard(struct admission_request *req, struct value *obj, struct err *err)
{
    switch (req->operation) {
    case ADMISSION_CREATE:
        return check_create(req, obj, err);
    case ADMISSION_DELETE:
        return check_delete(req, err);
    case ADMISSION_UPDATE:
    case ADMISSION_CONNECT:
        break;
    }
    return 0;
}

/* ---- The others ---- */

static int require(struct admission_request *req, const struct value *obj, struct err *err)
{
    (void)obj;
    if (!is_inside(req) || req->operation == ADMISSION_CONNECT)
        return 0;
    int r = look(req, err);
    if (r < 0)
        return r;
    return req->ns_is == ADMISSION_NAMESPACE_ABSENT ? error_no_namespace(err, req->ns) : 0;
}

static int provide(struct admission_request *req, struct value *obj, struct err *err)
{
    (void)obj;
    if (!is_inside(req) || req->operation != ADMISSION_CREATE || req->dry_run)
        return 0;
    int r = look(req, err);
    if (r < 0 || req->ns_is != ADMISSION_NAMESPACE_ABSENT || !req->cluster->make_namespace)
        return r;
    r = req->cluster->make_namespace(req->arg, req->ns, err);
    req->ns_is = ADMISSION_NAMESPACE_UNREAD;
    return r < 0 ? admission_forbid(req, obj, arena_str(req->arena, err->msg), err) : 0;
}

const struct admission_plugin plugin_namespace_lifecycle = {
    .name = "NamespaceLifecycle",
    .mutate = guard,
};
const struct admission_plugin plugin_namespace_exists = {
    .name = "NamespaceExists",
    .is_off = true,
    .validate = require,
};
const struct admission_plugin plugin_namespace_provision = {
    .name = "NamespaceAutoProvision",
    .is_off = true,
    .mutate = provide,
};
