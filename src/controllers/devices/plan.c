#include "controllers/devices/plan.h"

#include "base/str.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/common/pods.h"
#include "base/banned.h"

enum { RESERVED_MAX = 256, NAME_BASE_MAX = 57 };

static struct spn_text text_at(const struct spn_value *v, const char *key)
{
    return spn_value_text(spn_value_get(v, key));
}

/* ---- The claims of a pod ---- */

enum device_claim device_claim_of(const struct spn_value *pod, const struct spn_value *pod_claim,
                                  struct spn_text *ret_name)
{
    const struct spn_value *all = spn_value_dig(pod, "status", "resourceClaimStatuses");
    *ret_name = text_at(pod_claim, "resourceClaimName");
    if (ret_name->p)
        return DEVICE_NAMED;
    for (size_t i = 0; i < spn_value_count(all); i++) {
        const struct spn_value *status = spn_value_at(all, i);
        if (!spn_text_eq(text_at(status, "name"), text_at(pod_claim, "name")))
            continue;
        *ret_name = text_at(status, "resourceClaimName");
        return ret_name->p ? DEVICE_MADE : DEVICE_NOT_NEEDED;
    }
    return DEVICE_ABSENT;
}

/* Room is left for what the server adds; of two long names, each is cut in proportion. */
static struct spn_text name_base(struct spn_arena *a, struct spn_text pod, struct spn_text name)
{
    size_t n = pod.n + name.n + 2;
    if (n <= NAME_BASE_MAX)
        return spn_arena_printf(a, SPN_FMT "-" SPN_FMT "-", SPN_ARG(pod), SPN_ARG(name));
    pod.n = pod.n * NAME_BASE_MAX / n;
    name.n = name.n * NAME_BASE_MAX / n;
    return spn_arena_printf(a, SPN_FMT "-" SPN_FMT, SPN_ARG(pod), SPN_ARG(name));
}

static void add_owner(struct spn_arena *a, struct spn_value *meta, const struct spn_value *pod)
{
    struct spn_value *owner = spn_value_new(a, SPN_OBJECT), *list = spn_value_new(a, SPN_ARRAY);
    spn_value_set_text(a, owner, "apiVersion", SPN_TEXT("v1"));
    spn_value_set_text(a, owner, "kind", SPN_TEXT("Pod"));
    spn_value_set_text(a, owner, "name", meta_name(pod));
    spn_value_set_text(a, owner, "uid", meta_uid(pod));
    spn_value_set_bool(a, owner, "controller", true);
    spn_value_push(a, list, owner);
    spn_value_set(a, meta, "ownerReferences", list);
}

struct spn_value *device_claim_make(struct spn_arena *a, const struct spn_value *pod,
                                    struct spn_text name, const struct spn_value *template)
{
    const struct spn_value *labels = spn_value_dig(template, "spec", "metadata", "labels");
    const struct spn_value *notes = spn_value_dig(template, "spec", "metadata", "annotations");
    const struct spn_value *spec = spn_value_dig(template, "spec", "spec");
    struct spn_value *claim = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, claim, "apiVersion", SPN_TEXT("resource.k8s.io/v1"));
    spn_value_set_text(a, claim, "kind", SPN_TEXT("ResourceClaim"));
    struct spn_value *meta = spn_value_ensure(a, claim, "metadata");
    spn_value_set_text(a, meta, "generateName", name_base(a, meta_name(pod), name));
    spn_value_set_text(a, meta, "namespace", meta_text(pod, "namespace"));
    if (labels)
        spn_value_set(a, meta, "labels", spn_value_copy(a, labels));
    if (notes)
        spn_value_set(a, meta, "annotations", spn_value_copy(a, notes));
    spn_value_set_text(a, spn_value_ensure(a, meta, "annotations"), DEVICE_NOTE, name);
    add_owner(a, meta, pod);
    if (spec)
        spn_value_set(a, claim, "spec", spn_value_copy(a, spec));
    return claim;
}

static struct spn_value *new_status(struct spn_arena *a, struct spn_text name,
                                    struct spn_text claim)
{
    struct spn_value *status = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, status, "name", name);
    spn_value_set_text(a, status, "resourceClaimName", claim);
    return status;
}

struct spn_value *device_statuses(struct spn_arena *a, const struct spn_value *statuses,
                                  struct spn_text name, struct spn_text claim)
{
    struct spn_value *list = spn_value_new(a, SPN_ARRAY);
    bool is_in = false;
    for (size_t i = 0; i < spn_value_count(statuses); i++) {
        const struct spn_value *s = spn_value_at(statuses, i);
        int order = str_cmp(str_in(name), str_in(text_at(s, "name")));
        if (!is_in && order <= 0) {
            spn_value_push(a, list, new_status(a, name, claim));
            is_in = true;
        }
        if (order != 0 && text_at(s, "resourceClaimName").p)
            spn_value_push(a, list, spn_value_copy(a, s));
    }
    if (!is_in)
        spn_value_push(a, list, new_status(a, name, claim));
    return list;
}

/* ---- Who has a right to it ---- */

bool device_pod_is_done(const struct spn_value *pod)
{
    return pod_is_terminal(pod) ||
           (meta_is_deleting(pod) && !spn_value_text(spn_value_dig(pod, "spec", "nodeName")).n);
}

bool device_should_reserve(const struct spn_value *claim, const struct spn_value *pod)
{
    const struct spn_value *all = spn_value_dig(claim, "status", "reservedFor");
    if (!spn_value_dig(claim, "status", "allocation") || spn_value_count(all) >= RESERVED_MAX)
        return false;
    for (size_t i = 0; i < spn_value_count(all); i++)
        if (spn_text_eq(text_at(spn_value_at(all, i), "uid"), meta_uid(pod)))
            return false;
    return true;
}

void device_reserve(struct spn_arena *a, struct spn_value *claim, const struct spn_value *pod)
{
    struct spn_value *status = spn_value_ensure(a, claim, "status");
    struct spn_value *entry = spn_value_new(a, SPN_OBJECT);
    if (!spn_value_get(status, "reservedFor"))
        spn_value_set(a, status, "reservedFor", spn_value_new(a, SPN_ARRAY));
    spn_value_set_text(a, entry, "resource", SPN_TEXT("pods"));
    spn_value_set_text(a, entry, "name", meta_name(pod));
    spn_value_set_text(a, entry, "uid", meta_uid(pod));
    spn_value_push(a, spn_value_edit(a, status, "reservedFor"), entry);
}

bool device_is_for_pod(const struct spn_value *entry)
{
    return !text_at(entry, "apiGroup").n &&
           spn_text_eq(text_at(entry, "resource"), SPN_TEXT("pods"));
}
