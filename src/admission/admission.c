#include "admission/admission.h"

#include "admission/plugins.h"
#include "api/errors.h"
#include "base/idiom.h"
#include "base/banned.h"

/* In upstream's order. */
static const struct admission_plugin *const plugins[] = {
    &plugin_node_taint,     &plugin_pod_security,       &plugin_priority,
    &plugin_priority_class, &plugin_toleration_seconds, &plugin_storage_protection,
    &plugin_claim_resize,   &plugin_runtime_class,      &plugin_certificate_subject,
    &plugin_topology,
};

static bool is_for(const struct admission_plugin *p, struct admission_request *req)
{
    for (const struct admission_target *t = p->targets; t->operations; t++) {
        if (!(t->operations & req->operation) || !str_eq(t->plural, req->stored->plural) ||
            !str_eq(t->group, req->stored->group))
            continue;
        req->target = t;
        return true;
    }
    return false;
}

int admission_mutate(struct admission_request *req, struct value *obj, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(plugins); i++) {
        bool is_asked = plugins[i]->mutate && is_for(plugins[i], req);
        int r = is_asked ? plugins[i]->mutate(req, obj, err) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

int admission_validate(struct admission_request *req, const struct value *obj, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(plugins); i++) {
        bool is_asked = plugins[i]->validate && is_for(plugins[i], req);
        int r = is_asked ? plugins[i]->validate(req, obj, err) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

int admission_forbid(struct admission_request *req, const struct value *obj, struct str why,
                     struct err *err)
{
    return error_forbidden(err, req->resource, value_str(value_dig(obj, "metadata", "name")), why);
}

int admission_read(struct admission_request *req, struct str group, struct str plural,
                   struct str ns, struct str name, struct value *ret, struct err *err)
{
    return req->cluster->read(req->arg, group, plural, ns, name, ret, err);
}

int admission_each(struct admission_request *req, struct str group, struct str plural,
                   struct str mark, admission_take *take, void *to, struct err *err)
{
    return req->cluster->each(req->arg, group, plural, mark, take, to, err);
}
