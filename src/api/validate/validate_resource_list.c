#include "api/validate/validate_resource_list.h"

#include <stdlib.h>

#include "api/quantity.h"
#include "api/text_set.h"
#include "base/buf.h"
#include "base/banned.h"

#define REQUESTS STR("requests.")

static bool has_slash(struct str name)
{
    return str_find(name, '/') >= 0;
}

static bool contains(struct str text, struct str part)
{
    return text.n >= part.n && memmem(text.p, text.n, part.p, part.n);
}

bool validate_resource_is_native(struct str name)
{
    return !has_slash(name) || contains(name, STR("kubernetes.io/"));
}

bool validate_resource_is_extended(struct str name)
{
    if (validate_resource_is_native(name) || str_starts(name, REQUESTS))
        return false;
    /* A quota says "requests." in front of it, which counts against the prefix's length. */
    struct name_faults f = { 0 };
    size_t slash = (size_t)str_find(name, '/');
    return name_check(NAME_QUALIFIED, name, &f) && slash + REQUESTS.n <= NAME_SUBDOMAIN_MAX;
}

static bool is_standard(struct str name)
{
    static const struct str names[] = {
        STR("cpu"),
        STR("memory"),
        STR("ephemeral-storage"),
        STR("requests.cpu"),
        STR("requests.memory"),
        STR("requests.ephemeral-storage"),
        STR("limits.cpu"),
        STR("limits.memory"),
        STR("limits.ephemeral-storage"),
        STR("pods"),
        STR("resourcequotas"),
        STR("services"),
        STR("replicationcontrollers"),
        STR("secrets"),
        STR("configmaps"),
        STR("persistentvolumeclaims"),
        STR("storage"),
        STR("requests.storage"),
        STR("services.nodeports"),
        STR("services.loadbalancers"),
    };
    return words_have(name, WORDS(names)) || resource_is_huge_page(name) ||
           str_starts(name, STR("requests.hugepages-"));
}

static bool is_counted(struct str name)
{
    static const struct str names[] = {
        STR("pods"),
        STR("resourcequotas"),
        STR("services"),
        STR("replicationcontrollers"),
        STR("secrets"),
        STR("configmaps"),
        STR("persistentvolumeclaims"),
        STR("services.nodeports"),
        STR("services.loadbalancers"),
    };
    return words_have(name, WORDS(names)) || validate_resource_is_extended(name);
}

bool validate_resource_name(struct field_errors *e, const struct field_path *path, struct str name)
{
    if (!validate_name(e, path, NAME_QUALIFIED, name))
        return false;
    return has_slash(name) || is_standard(name) ||
           fault_text(e, path, name, "must be a standard resource type or fully qualified");
}

bool validate_container_resource(struct field_errors *e, const struct field_path *path,
                                 struct str name)
{
    static const struct str standard[] = { STR("cpu"), STR("memory"), STR("ephemeral-storage") };
    if (words_have(name, WORDS(standard)))
        return true;
    bool good = validate_resource_name(e, path, name);
    if (!has_slash(name))
        return resource_is_huge_page(name)
                   ? good
                   : fault_text(e, path, name, "must be a standard resource for containers");
    if (!validate_resource_is_native(name) && !validate_resource_is_extended(name))
        return fault_text(e, path, name, "doesn't follow extended resource name standard");
    return good;
}

static bool check_pod_resource(struct field_errors *e, const struct field_path *path,
                               struct str name)
{
    static const struct str supported[] = { STR("cpu"), STR("hugepages-"), STR("memory") };
    if (resource_is_cpu_or_memory(name))
        return true;
    if (!validate_resource_name(e, path, name))
        return false;
    return resource_is_huge_page(name) || validate_one_of(e, path, name, WORDS(supported));
}

bool validate_resource_quantity(struct field_errors *e, const struct field_path *path,
                                struct str name, struct str quantity)
{
    bool good = validate_nonnegative_quantity(e, path, quantity);
    if (!resource_is_cpu_or_memory(name) && is_counted(name) && quantity.n &&
        !quantity_is_whole(quantity))
        return fault_text(e, path, quantity, "must be an integer");
    return good;
}

bool validate_resource_is_divisible(struct str name, struct str quantity)
{
    struct str page = str_skip(name, RESOURCE_HUGE_PAGES.n), canonical;
    struct arena none = { 0 };
    arena_init(&none);
    bool good = quantity_canonical(&none, page, &canonical, NULL) == 0;
    arena_done(&none);
    int64_t page_bytes = 0, bytes = 0;
    good = good && quantity_sign(page) > 0 && quantity_is_whole(page) &&
           quantity_units(page, false, &page_bytes);
    return good &&
           (!quantity.n || (quantity_units(quantity, false, &bytes) && bytes % page_bytes == 0));
}

struct requirements {
    const struct field_path *limits_path, *requests_path;
    const struct value *limits, *requests;
    bool base, huge; /* cpu or memory, and huge pages, are among them */
    unsigned flags;
};

static void check_entry(struct field_errors *e, const struct field_path *path,
                        struct requirements *r, struct str name, struct str quantity)
{
    if (r->flags & RESOURCES_OF_POD)
        (void)check_pod_resource(e, path, name);
    else
        (void)validate_container_resource(e, path, name);
    (void)validate_resource_quantity(e, path, name, quantity);
    r->base = r->base || resource_is_cpu_or_memory(name);
    r->huge = r->huge || resource_is_huge_page(name);
}

static void check_hugepages(struct field_errors *e, const struct field_path *path, unsigned flags,
                            struct str name, struct str quantity)
{
    if (resource_is_huge_page(name) && !(flags & RESOURCES_ANY_HUGEPAGES) &&
        !validate_resource_is_divisible(name, quantity))
        fault_text(e, path, quantity, STR_FMT " is not positive integer multiple of " STR_FMT,
                   STR_ARG(quantity), STR_ARG(name));
}

static int compare(struct str a, struct str b)
{
    return quantity_cmp(a.n ? a : STR("0"), b.n ? b : STR("0"));
}

/* A request against its limit. */
static void check_pair(struct field_errors *e, const struct requirements *r, struct str name,
                       struct str request)
{
    bool overcommits = validate_resource_is_native(name) && !resource_is_huge_page(name);
    const struct value *limit = validate_map_member(r->limits, name);
    if (!limit) {
        if (!overcommits)
            fault_required(e, r->limits_path, "Limit must be set for non overcommitable resources");
        return;
    }
    if (str_eq(request, value_str(limit)))
        return;
    int order = compare(request, value_str(limit));
    if (order && !overcommits)
        fault_text(e, r->requests_path, request, "must be equal to " STR_FMT " limit of " STR_FMT,
                   STR_ARG(name), STR_ARG(value_str(limit)));
    else if (order > 0)
        fault_text(e, r->requests_path, request,
                   "must be less than or equal to " STR_FMT " limit of " STR_FMT, STR_ARG(name),
                   STR_ARG(value_str(limit)));
}

/* ---- Claims ---- */

static void fault_unknown_claim(struct field_errors *e, const struct field_path *path,
                                struct str name, const struct value *claims)
{
    autobuf list = { 0 };
    struct str *names = arena_array(e->arena, struct str, validate__count(claims) + 1);
    size_t n = 0;
    value_each_item (it, claims)
        if (value_text(it, "name").n)
            names[n++] = value_text(it, "name");
    qsort(names, n, sizeof(names[0]), words_compare);
    for (size_t i = 0; i < n; i++)
        if (!i || !str_eq(names[i], names[i - 1]))
            buf_printf(&list, "%s" STR_FMT, list.n ? ", " : "", STR_ARG(names[i]));
    field_error(e, FIELD_NOT_FOUND, path, field_quoted(e, name),
                "must be one of the names in pod.spec.resourceClaims%s" STR_FMT,
                list.n ? ": " : " which is empty", STR_ARG(buf_str(&list)));
}

/* Whether a name, or a name with its request, was there before. */
static bool claim_repeats(const struct value *used, const struct value *claim, bool *ret_whole)
{
    struct str name = value_text(claim, "name"), request = value_text(claim, "request");
    *ret_whole = false;
    value_each_item (it, used) {
        if (it == claim)
            break;
        if (!str_eq(value_text(it, "name"), name))
            continue;
        struct str other = value_text(it, "request");
        *ret_whole = !other.n || !request.n;
        if (*ret_whole || str_eq(other, request))
            return true;
    }
    return false;
}

enum { CLAIMS_LOOKED_AT = 1000 }; /* upstream's search is as long; nobody uses ten */

static void check_claims(struct field_errors *e, const struct field_path *path,
                         const struct value *used, const struct value *claims)
{
    autoset declared;
    text_set_init(&declared);
    value_each_item (it, claims)
        if (value_text(it, "name").n)
            (void)text_set_add(&declared, value_text(it, "name"), it);
    size_t i = 0;
    value_each_item (it, used) {
        const struct field_path *at = path_item(path, i++);
        struct str name = value_text(it, "name"), request = value_text(it, "request");
        bool whole = false;
        if (!name.n) {
            fault_required(e, at, "");
            continue;
        }
        if (request.n)
            (void)validate_name(e, path_at(at, "request"), NAME_LABEL, request);
        if (i < CLAIMS_LOOKED_AT && claim_repeats(used, it, &whole))
            fault_duplicate(e, at,
                            whole ? name
                                  : arena_printf(e->arena, STR_FMT "/" STR_FMT, STR_ARG(name),
                                                 STR_ARG(request)));
        if (!text_set_has(&declared, name))
            fault_unknown_claim(e, at, name, claims);
    }
}

void validate_resource_requirements(struct field_errors *e, const struct field_path *path,
                                    const struct value *resources, const struct value *claims,
                                    unsigned flags)
{
    struct requirements r = {
        .limits_path = path_at(path, "limits"),
        .requests_path = path_at(path, "requests"),
        .limits = value_get(resources, STR("limits")),
        .requests = value_get(resources, STR("requests")),
        .flags = flags,
    };
    value_each_field (f, r.limits) {
        const struct field_path *at = path_key(r.limits_path, f->key);
        check_entry(e, at, &r, f->key, value_str(&f->val));
        check_hugepages(e, at, flags, f->key, value_str(&f->val));
    }
    value_each_field (f, r.requests) {
        const struct field_path *at = path_key(r.requests_path, f->key);
        check_entry(e, at, &r, f->key, value_str(&f->val));
        check_pair(e, &r, f->key, value_str(&f->val));
        check_hugepages(e, at, flags, f->key, value_str(&f->val));
    }
    if (!r.base && r.huge)
        fault_forbidden(e, path, "HugePages require cpu or memory");
    const struct value *used = value_get(resources, STR("claims"));
    if (validate__count(used))
        check_claims(e, path_at(path, "claims"), used, claims);
}
