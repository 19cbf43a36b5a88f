/* DELETE of one object. */
#include "server/audit/audit_event.h"
#include "server/registry/registry.h"
#include "server/verbs/verbs.h"
#include "base/banned.h"

static int delete_one(struct call *c, struct value *ret, bool *ret_gone, struct err *err)
{
    struct delete_options options;
    int r = options_read_delete(c, &options, err);
    if (r < 0)
        return r;
    if (options.ignore_read_error)
        audit_event_annotate(c->audit, STR("apiserver.k8s.io/unsafe-delete-ignore-read-error"),
                             STR(""));
    return registry_delete(c, c->req.name, &options, ret, ret_gone, err);
}

static bool is_namespace(const struct kind_resource *r)
{
    return !r->group.n && str_eq(r->plural, STR("namespaces"));
}

void verb_delete(struct call *c)
{
    struct err err = ERR_INIT(c->arena);
    struct value obj;
    bool gone = false;
    if (delete_one(c, &obj, &gone, &err) < 0)
        call_fail(c, &err);
    else if (value_is(&obj, VALUE_NULL))
        call_deleted_unread(c, c->req.name);
    else if (!gone || kind_shows_deleted(c->stored) || is_namespace(c->stored))
        call_object(c, 200, c->stored->type, &obj);
    else
        call_success(c, c->req.name, value_str(value_dig(&obj, "metadata", "uid")));
}
