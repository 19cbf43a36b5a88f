#include "admission/admission.h"

#include <assert.h>
#include <stdarg.h>

#include "admission/plugins.h"
#include "admission/xray.h"
#include "api/errors.h"
#include "api/go/quote.h"
#include "api/validate/initializers.h"
#include "base/buf.h"
#include "base/idiom.h"
#include "base/banned.h"

/* In upstream's order, one a line. */
/* clang-format off */
static const struct admission_plugin *const plugins[] = {
    &plugin_always_admit,
    &plugin_namespace_provision,
    &plugin_namespace_lifecycle,
    &plugin_namespace_exists,
    &plugin_anti_affinity,
    &plugin_pod_preset,
    &plugin_limit_ranger,
    &plugin_service_account,
    &plugin_node_restriction,
    &plugin_node_taint,
    &plugin_pull_images,
    &plugin_image_policy,
    &plugin_pod_security,
    &plugin_node_selector,
    &plugin_priority,
    &plugin_priority_class,
    &plugin_toleration_seconds,
    &plugin_toleration_restriction,
    &plugin_event_rate,
    &plugin_resource_toleration,
    &plugin_storage_class,
    &plugin_storage_protection,
    &plugin_pod_group,
    &plugin_owner_rights,
    &plugin_claim_resize,
    &plugin_runtime_class,
    &plugin_certificate_approval,
    &plugin_certificate_signing,
    &plugin_trust_bundle,
    &plugin_certificate_subject,
    &plugin_ingress_class,
    &plugin_external_ips,
    &plugin_topology,
    &plugin_declared_features,
    &plugin_pod_resize,
    &plugin_mutating_policy,
    &plugin_webhook_mutating,
    &plugin_initializers,
    &plugin_validating_policy,
    &plugin_webhook_validating,
    &plugin_resource_quota,
    &plugin_always_deny,
};
/* clang-format on */
static_assert(ARRAY_LEN(plugins) <= ADMISSION_PLUGINS_MAX, "a choice has a bit for each");

const struct admission_plugin *admission_plugin_at(size_t plugin)
{
    return plugin < ARRAY_LEN(plugins) ? plugins[plugin] : NULL;
}

const struct admission_memo *admission_memo_of(size_t plugin)
{
    return plugin < ARRAY_LEN(plugins) ? plugins[plugin]->memo : NULL;
}

/* ---- Which are asked ---- */

/* The bits of the plugins of that name; 0: there is none. */
static uint64_t bits_of(struct str name)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < ARRAY_LEN(plugins); i++)
        if (str_eq(name, str_of(plugins[i]->name)))
            bits |= UINT64_C(1) << i;
    return bits;
}

/* A plugin may stand in the list twice. */
static bool is_first(size_t i)
{
    return (bits_of(str_of(plugins[i]->name)) & ((UINT64_C(1) << i) - 1)) == 0;
}

static int refuse_name(struct str name, struct err *err)
{
    autobuf known = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(plugins); i++)
        if (is_first(i))
            buf_printf(&known, "%s%s", known.n ? ", " : "", plugins[i]->name);
    return err_set(err, ERR_INVALID,
                   "there is no admission plugin '" STR_FMT "'; there are " STR_FMT, STR_ARG(name),
                   STR_ARG(buf_str(&known)));
}

int admission_choose(struct admission_choice *choice, struct str names, bool is_on, struct err *err)
{
    do {
        struct str name = str_cut(&names, ',');
        uint64_t bits = bits_of(name);
        if (!bits)
            return refuse_name(name, err);
        *(is_on ? &choice->on : &choice->off) |= bits;
        if (choice->on & choice->off)
            return err_set(err, ERR_INVALID,
                           "the admission plugin " STR_FMT " is both enabled and disabled",
                           STR_ARG(name));
    } while (names.p);
    return 0;
}

bool admission_is_chosen(size_t i, const struct admission_choice *choice)
{
    uint64_t bit = UINT64_C(1) << i;
    return (choice->on & bit) || !(plugins[i]->is_off || (choice->off & bit));
}

static bool is_at(const struct admission_target *t, const struct admission_request *req)
{
    return (t->operations & req->operation) && str_eq(t->plural, req->stored->plural) &&
           str_eq(t->group, req->stored->group) &&
           (str_eq(t->sub, req->sub) || str_eq(t->sub, ADMISSION_ANY_PATH));
}

static bool is_for(size_t i, struct admission_request *req)
{
    req->plugin = i;
    req->target = NULL;
    if (!plugins[i]->targets)
        return admission_is_chosen(i, &req->choice);
    for (const struct admission_target *t = plugins[i]->targets; t->operations; t++) {
        if (!is_at(t, req))
            continue;
        req->target = t;
        return admission_is_chosen(i, &req->choice);
    }
    return false;
}

/* ---- All of them ---- */

static int mutate_once(struct admission_request *req, struct value *obj, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(plugins); i++) {
        if (!plugins[i]->mutate || !is_for(i, req))
            continue;
        xray_stage(req->xray, "mutating", str_of(plugins[i]->name), obj);
        int r = plugins[i]->mutate(req, obj, err);
        if (r < 0)
            return r;
    }
    return 0;
}

int admission_mutate(struct admission_request *req, struct value *obj, struct err *err)
{
    int r = mutate_once(req, obj, err);
    if (r < 0 || !req->rounds.is_wanted)
        return r;
    req->rounds.is_second = true;
    return mutate_once(req, obj, err);
}

int admission_validate(struct admission_request *req, const struct value *obj, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(plugins); i++) {
        if (!plugins[i]->validate || !is_for(i, req))
            continue;
        xray_stage(req->xray, "validating", str_of(plugins[i]->name), obj);
        int r = plugins[i]->validate(req, obj, err);
        if (r < 0)
            return r;
    }
    return 0;
}

int admission_charge(struct admission_request *req, const struct value *obj, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(plugins); i++) {
        if (!plugins[i]->charges || !is_for(i, req))
            continue;
        int r = plugins[i]->validate(req, obj, err);
        if (r < 0)
            return r;
    }
    return 0;
}

int admission_forbid(struct admission_request *req, const struct value *obj, struct str why,
                     struct err *err)
{
    struct str name = value_str(value_dig(obj, "metadata", "name")),
               base = value_str(value_dig(obj, "metadata", "generateName"));
    if (req->name.n)
        name = req->name;
    else if (!name.n)
        name = base.n ? base : STR("Unknown");
    return error_forbidden(err, req->resource, name, why);
}

int admission_forbid_as(struct admission_request *req, const struct value *obj, struct err *err,
                        const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct str why = arena_vprintf(req->arena, fmt, ap);
    va_end(ap);
    return admission_forbid(req, obj, why, err);
}

bool admission_is_in_the_making(const struct admission_request *req)
{
    return req->operation == ADMISSION_CREATE || initializers_are_pending(req->old_obj);
}

const char *admission_quoted(struct admission_request *req, struct str text)
{
    autobuf out = { 0 };
    quote_go(&out, text);
    return str_cstr(req->arena, buf_str(&out));
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

int admission_each_in(struct admission_request *req, struct str group, struct str plural,
                      struct str ns, admission_take *take, void *to, struct err *err)
{
    return req->cluster->each_in(req->arg, group, plural, ns, take, to, err);
}

int admission_each_quota(struct admission_request *req, admission_take *take, void *to,
                         struct err *err)
{
    uint64_t rev = 0;
    int r = req->cluster->each_quota
                ? req->cluster->each_quota(req->arg, req->ns, take, to, &rev, err)
                : 0;
    if (req->charging) {
        req->charging->is_asked = true;
        req->charging->quotas_rev = rev;
    }
    return r;
}

bool admission_allows(struct admission_request *req, const struct access *q)
{
    return !q->user || req->cluster->allows(req->arg, q);
}

void admission_warn(struct admission_request *req, struct str text)
{
    if (req->cluster->warn)
        req->cluster->warn(req->arg, text);
}

void admission_annotate(struct admission_request *req, struct str key, struct str value)
{
    if (req->cluster->annotate)
        req->cluster->annotate(req->arg, key, value);
}
