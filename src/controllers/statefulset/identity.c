#include "controllers/statefulset/identity.h"

#include "base/str.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/common/pods.h"
#include "base/banned.h"

#define LABEL_POD_NAME "statefulset.kubernetes.io/pod-name"
#define LABEL_INDEX    "apps.kubernetes.io/pod-index"

/* ---- Names ---- */

/* Splits "db-0"; the ordinal is -1 if there is none. */
static struct spn_text parent_of(struct spn_text name, int64_t *ret_ordinal)
{
    size_t n = name.n;
    uint64_t ordinal;
    *ret_ordinal = -1;
    while (n && name.p[n - 1] >= '0' && name.p[n - 1] <= '9')
        n--;
    if (n == name.n || !n || name.p[n - 1] != '-')
        return (struct spn_text){ "", 0 };
    if (str_to_u64(str_skip(str_in(name), n), &ordinal) && ordinal <= INT32_MAX)
        *ret_ordinal = (int64_t)ordinal;
    return (struct spn_text){ name.p, n - 1 };
}

int64_t identity_ordinal(struct spn_text pod_name)
{
    int64_t ordinal;
    (void)parent_of(pod_name, &ordinal);
    return ordinal;
}

bool identity_is_member(const struct spn_value *set, const struct spn_value *pod)
{
    int64_t ordinal;
    return spn_text_eq(parent_of(meta_name(pod), &ordinal), meta_name(set));
}

static struct spn_text pod_name(struct spn_arena *a, const struct spn_value *set, int64_t ordinal)
{
    return spn_arena_printf(a, SPN_FMT "-%lld", SPN_ARG(meta_name(set)), (long long)ordinal);
}

/* ---- Volumes ---- */

static const struct spn_value *claim_template(const struct spn_value *set, size_t i)
{
    return spn_value_at(spn_value_dig(set, "spec", "volumeClaimTemplates"), i);
}

size_t identity_n_claims(const struct spn_value *set)
{
    return spn_value_count(spn_value_dig(set, "spec", "volumeClaimTemplates"));
}

struct spn_text identity_claim_name(struct spn_arena *a, const struct spn_value *set, size_t i,
                                    int64_t ordinal)
{
    return spn_arena_printf(a, SPN_FMT "-" SPN_FMT "-%lld",
                            SPN_ARG(meta_name(claim_template(set, i))), SPN_ARG(meta_name(set)),
                            (long long)ordinal);
}

struct spn_value *identity_new_claim(struct spn_arena *a, const struct spn_value *set, size_t i,
                                     int64_t ordinal)
{
    struct spn_value *claim = spn_value_copy(a, claim_template(set, i));
    spn_value_set_text(a, claim, "apiVersion", SPN_TEXT("v1"));
    spn_value_set_text(a, claim, "kind", SPN_TEXT("PersistentVolumeClaim"));
    struct spn_value *meta = spn_value_ensure(a, claim, "metadata");
    spn_value_set_text(a, meta, "name", identity_claim_name(a, set, i, ordinal));
    spn_value_set_text(a, meta, "namespace", meta_text(set, "namespace"));
    const struct spn_value *labels = spn_value_dig(set, "spec", "selector", "matchLabels");
    for (size_t k = 0; k < spn_value_count(labels); k++)
        spn_value_set_text(a, spn_value_ensure(a, meta, "labels"),
                           spn_arena_text(a, spn_value_key_at(labels, k)).p,
                           spn_value_text(spn_value_at(labels, k)));
    return claim;
}

static const struct spn_value *find_named(const struct spn_value *list, struct spn_text name)
{
    for (size_t i = 0; i < spn_value_count(list); i++)
        if (spn_text_eq(spn_value_text(spn_value_get(spn_value_at(list, i), "name")), name))
            return spn_value_at(list, i);
    return NULL;
}

static bool has_storage(struct spn_arena *a, const struct spn_value *set,
                        const struct spn_value *pod)
{
    const struct spn_value *volumes = spn_value_dig(pod, "spec", "volumes");
    const int64_t ordinal = identity_ordinal(meta_name(pod));
    for (size_t i = 0; i < identity_n_claims(set); i++) {
        const struct spn_value *v = find_named(volumes, meta_name(claim_template(set, i)));
        struct spn_text has =
            spn_value_text(spn_value_dig(v, "persistentVolumeClaim", "claimName"));
        if (!spn_text_eq(has, identity_claim_name(a, set, i, ordinal)))
            return false;
    }
    return true;
}

static bool is_claim_volume(const struct spn_value *set, struct spn_text volume)
{
    for (size_t i = 0; i < identity_n_claims(set); i++)
        if (spn_text_eq(meta_name(claim_template(set, i)), volume))
            return true;
    return false;
}

/* Claims come first, then what the template has beside them. */
static void set_storage(struct spn_arena *a, const struct spn_value *set, struct spn_value *pod)
{
    if (!identity_n_claims(set))
        return;
    const struct spn_value *old = spn_value_dig(pod, "spec", "volumes");
    const int64_t ordinal = identity_ordinal(meta_name(pod));
    struct spn_value *volumes = spn_value_new(a, SPN_ARRAY);
    for (size_t i = 0; i < identity_n_claims(set); i++) {
        struct spn_value *v = spn_value_new(a, SPN_OBJECT);
        spn_value_set_text(a, v, "name", meta_name(claim_template(set, i)));
        spn_value_set_text(a, spn_value_ensure(a, v, "persistentVolumeClaim"), "claimName",
                           identity_claim_name(a, set, i, ordinal));
        spn_value_push(a, volumes, v);
    }
    for (size_t i = 0; i < spn_value_count(old); i++) {
        const struct spn_value *v = spn_value_at(old, i);
        if (!is_claim_volume(set, spn_value_text(spn_value_get(v, "name"))))
            spn_value_push(a, volumes, spn_value_copy(a, v));
    }
    spn_value_set(a, spn_value_ensure(a, pod, "spec"), "volumes", volumes);
}

/* ---- Pods ---- */

static void set_labels(struct spn_arena *a, struct spn_value *pod, int64_t ordinal)
{
    struct spn_value *meta = spn_value_ensure(a, pod, "metadata");
    struct spn_value *labels = spn_value_ensure(a, meta, "labels");
    spn_value_set_text(a, labels, LABEL_POD_NAME, meta_name(pod));
    spn_value_set_text(a, labels, LABEL_INDEX, spn_arena_printf(a, "%lld", (long long)ordinal));
}

struct spn_value *identity_new_pod(struct spn_arena *a, const struct spn_value *set,
                                   const struct spn_value *template, struct spn_text revision,
                                   int64_t ordinal)
{
    struct spn_value *pod = pod_from_template(a, template, set);
    struct spn_value *meta = spn_value_ensure(a, pod, "metadata");
    spn_value_set_text(a, meta, "name", pod_name(a, set, ordinal));
    set_labels(a, pod, ordinal);
    meta = spn_value_ensure(a, pod, "metadata");
    spn_value_set_text(a, spn_value_ensure(a, meta, "labels"), LABEL_REVISION, revision);
    struct spn_value *spec = spn_value_ensure(a, pod, "spec");
    spn_value_set_text(a, spec, "hostname", meta_name(pod));
    spn_value_set_text(
        a, spec, "subdomain",
        spn_arena_text(a, spn_value_text(spn_value_dig(set, "spec", "serviceName"))));
    set_storage(a, set, pod);
    return pod;
}

bool identity_is_right(struct spn_arena *a, const struct spn_value *set,
                       const struct spn_value *pod)
{
    struct spn_text label =
        spn_value_text(spn_value_dig(pod, "metadata", "labels", LABEL_POD_NAME));
    return identity_is_member(set, pod) &&
           spn_text_eq(pod_name(a, set, identity_ordinal(meta_name(pod))), meta_name(pod)) &&
           spn_text_eq(label, meta_name(pod)) && has_storage(a, set, pod);
}

void identity_repair(struct spn_arena *a, const struct spn_value *set, struct spn_value *pod)
{
    struct spn_text label =
        spn_value_text(spn_value_dig(pod, "metadata", "labels", LABEL_POD_NAME));
    if (!spn_text_eq(label, meta_name(pod)))
        set_labels(a, pod, identity_ordinal(meta_name(pod)));
    if (!has_storage(a, set, pod))
        set_storage(a, set, pod);
}

/* ---- Who owns claims ---- */

/* A reference by name, whatever its uid. */
static bool is_named(const struct spn_value *ref, const char *api_version, const char *kind,
                     const struct spn_value *owner)
{
    return spn_text_eq(spn_value_text(spn_value_get(ref, "apiVersion")),
                       spn_text_of(api_version)) &&
           spn_text_eq(spn_value_text(spn_value_get(ref, "kind")), spn_text_of(kind)) &&
           spn_text_eq(spn_value_text(spn_value_get(ref, "name")), meta_name(owner));
}

static bool is_of_set(const struct spn_value *ref, const struct spn_value *set)
{
    return is_named(ref, "apps/v1", "StatefulSet", set);
}

static bool is_of_pod(const struct spn_value *ref, const struct spn_value *pod)
{
    return is_named(ref, "v1", "Pod", pod);
}

static bool has_uid(const struct spn_value *ref, const struct spn_value *owner)
{
    return spn_text_eq(spn_value_text(spn_value_get(ref, "uid")), meta_uid(owner));
}

static const struct spn_value *refs_of(const struct spn_value *claim)
{
    return spn_value_dig(claim, "metadata", "ownerReferences");
}

static bool is_owned_by(const struct spn_value *claim, const struct spn_value *owner)
{
    const struct spn_value *refs = refs_of(claim);
    for (size_t i = 0; i < spn_value_count(refs); i++)
        if (has_uid(spn_value_at(refs, i), owner))
            return true;
    return false;
}

/* Who should own it, by the set's policy and whether the pod is one that stays. */
struct wanted_owners {
    bool set, pod;
};

static bool deletes(const struct spn_value *set, const char *when)
{
    return spn_text_eq(
        spn_value_text(spn_value_dig(set, "spec", "persistentVolumeClaimRetentionPolicy", when)),
        SPN_TEXT("Delete"));
}

static struct wanted_owners wanted_owners(const struct spn_value *set, const struct spn_value *pod)
{
    const int64_t start = field_int(spn_value_dig(set, "spec", "ordinals", "start"), 0);
    const int64_t ordinal = identity_ordinal(meta_name(pod));
    const bool stays = ordinal >= start && ordinal < start + spec_replicas(set);
    const bool on_scale = deletes(set, "whenScaled"), on_delete = deletes(set, "whenDeleted");
    return (struct wanted_owners){ .set = on_delete && (stays || !on_scale),
                                   .pod = on_scale && !stays };
}

bool identity_claim_is_foreign(const struct spn_value *set, const struct spn_value *pod,
                               const struct spn_value *claim)
{
    const struct spn_value *refs = refs_of(claim);
    if (!deletes(set, "whenScaled") && !deletes(set, "whenDeleted"))
        return false;
    for (size_t i = 0; i < spn_value_count(refs); i++) {
        const struct spn_value *ref = spn_value_at(refs, i);
        const bool of_set = is_of_set(ref, set), of_pod = is_of_pod(ref, pod);
        if ((of_set && !has_uid(ref, set)) || (!of_set && of_pod && !has_uid(ref, pod)))
            return true;
        if (!of_set && !of_pod && spn_value_is_true(spn_value_get(ref, "controller")))
            return true;
    }
    return false;
}

/* The first reference by that name is of another uid. */
static bool is_stale(const struct spn_value *set, const struct spn_value *pod,
                     const struct spn_value *claim)
{
    const struct spn_value *refs = refs_of(claim);
    for (size_t i = 0; i < spn_value_count(refs); i++) {
        const struct spn_value *ref = spn_value_at(refs, i);
        if ((set && is_of_set(ref, set) && !has_uid(ref, set)) ||
            (pod && is_of_pod(ref, pod) && !has_uid(ref, pod)))
            return true;
    }
    return false;
}

bool identity_claim_is_stale(const struct spn_value *set, const struct spn_value *pod,
                             const struct spn_value *claim)
{
    return deletes(set, "whenScaled") && is_stale(NULL, pod, claim);
}

static bool has_loose_owner(const struct spn_value *set, const struct spn_value *pod,
                            const struct spn_value *claim)
{
    const struct spn_value *refs = refs_of(claim);
    for (size_t i = 0; i < spn_value_count(refs); i++) {
        const struct spn_value *ref = spn_value_at(refs, i);
        if ((has_uid(ref, set) || has_uid(ref, pod)) &&
            !spn_value_is_true(spn_value_get(ref, "controller")))
            return true;
    }
    return false;
}

bool identity_owns_claim_rightly(const struct spn_value *set, const struct spn_value *pod,
                                 const struct spn_value *claim)
{
    const struct wanted_owners want = wanted_owners(set, pod);
    if (is_stale(set, pod, claim))
        return true; /* it goes soon */
    if (identity_claim_is_foreign(set, pod, claim))
        return !is_owned_by(claim, set) && !is_owned_by(claim, pod);
    return !has_loose_owner(set, pod, claim) && is_owned_by(claim, set) == want.set &&
           is_owned_by(claim, pod) == want.pod;
}

static void add_owner(struct spn_arena *a, struct spn_value *refs, const char *api_version,
                      const char *kind, const struct spn_value *owner)
{
    struct spn_value *ref = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, ref, "apiVersion", spn_text_of(api_version));
    spn_value_set_text(a, ref, "kind", spn_text_of(kind));
    spn_value_set_text(a, ref, "name", meta_name(owner));
    spn_value_set_text(a, ref, "uid", meta_uid(owner));
    spn_value_set_bool(a, ref, "controller", true);
    spn_value_set_bool(a, ref, "blockOwnerDeletion", true);
    spn_value_push(a, refs, ref);
}

void identity_own_claim(struct spn_arena *a, const struct spn_value *set,
                        const struct spn_value *pod, struct spn_value *claim)
{
    const struct spn_value *old = refs_of(claim);
    const struct wanted_owners want = wanted_owners(set, pod);
    const bool is_foreign = identity_claim_is_foreign(set, pod, claim);
    struct spn_value *refs = spn_value_new(a, SPN_ARRAY);
    for (size_t i = 0; i < spn_value_count(old); i++)
        if (!is_of_set(spn_value_at(old, i), set) && !is_of_pod(spn_value_at(old, i), pod))
            spn_value_push(a, refs, spn_value_copy(a, spn_value_at(old, i)));
    if (want.set && !is_foreign)
        add_owner(a, refs, "apps/v1", "StatefulSet", set);
    if (want.pod && !is_foreign)
        add_owner(a, refs, "v1", "Pod", pod);
    spn_value_set(a, spn_value_ensure(a, claim, "metadata"), "ownerReferences", refs);
}
