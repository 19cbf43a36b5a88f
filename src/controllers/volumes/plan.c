#include "controllers/volumes/plan.h"

#include "api/quantity.h"
#include "base/idiom.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/common/times.h"
#include "select/volume_match.h"
#include "base/banned.h"

static struct spn_text spec_text(const struct spn_value *obj, const char *key)
{
    return spn_value_text(spn_value_dig(obj, "spec", key));
}

/* ---- Claims ---- */

bool claim_was_bound(const struct spn_value *claim)
{
    return meta_annotation(claim, NOTE_BIND_COMPLETED).p;
}

/* Fewer modes first, then what is reserved, then the smallest. */
static bool is_better(const struct spn_value *a, bool a_is_ours, const struct spn_value *b,
                      bool b_is_ours)
{
    size_t x = volume_count_modes(value_in(a)), y = volume_count_modes(value_in(b));
    if (x != y)
        return x < y;
    if (a_is_ours != b_is_ours)
        return a_is_ours;
    return volume_cmp_size(value_in(a), value_in(b)) < 0;
}

/* The volume that suits best; NULL: none does. What waits for its first consumer only takes what
 * is reserved for it. */
static int find_best(struct spn_arena *a, const struct claim_facts *f, bool waits,
                     struct spn_value **ret, struct spn_err *err)
{
    const struct value *claim = value_in(f->claim);
    const struct value *wish = value_dig(claim, "spec", "selector");
    struct labels_selector selector;
    struct err why = ERR_INIT(arena_in(a));
    bool is_ours = false;
    *ret = NULL;
    if (wish && labels_from_value(arena_in(a), wish, &selector, &why) < 0)
        return spn_err_set(err, SPN_INVALID,
                           "error creating internal label selector for claim: " STR_FMT,
                           STR_ARG(why.msg));
    for (size_t i = 0; i < f->n_volumes; i++) {
        const struct value *v = value_in(f->volumes[i]);
        enum volume_fit fit = volume_fit(v, claim, wish ? &selector : NULL);
        if (fit == VOLUME_UNFIT || (fit == VOLUME_FITS && waits) || !volume_has_modes(v, claim))
            continue;
        if (*ret && !is_better(f->volumes[i], fit == VOLUME_RESERVED, *ret, is_ours))
            continue;
        *ret = f->volumes[i];
        is_ours = fit == VOLUME_RESERVED;
    }
    return 0;
}

static struct volume_say say_waits(struct spn_arena *a, const struct claim_facts *f)
{
    struct volume_say say = { SPN_NORMAL, "WaitForFirstConsumer",
                              SPN_TEXT("waiting for first consumer to be created before binding") };
    if (!f->n_pods)
        return say;
    struct spn_text names = f->pods[0];
    for (size_t i = 1; i < f->n_pods; i++)
        names = spn_arena_printf(a, SPN_FMT "," SPN_FMT, SPN_ARG(names), SPN_ARG(f->pods[i]));
    say.reason = "WaitForPodScheduled";
    say.message = spn_arena_printf(a, "waiting for pod%s " SPN_FMT " to be scheduled",
                                   f->n_pods > 1 ? "s" : "", SPN_ARG(names));
    return say;
}

/* It takes what there is. */
static int decide_open(struct spn_arena *a, const struct claim_facts *f, struct claim_plan *ret,
                       struct spn_err *err)
{
    const struct value *claim = value_in(f->claim);
    bool waits = class_waits_for_consumer(value_in(f->class));
    int r = find_best(a, f, waits, &ret->volume, err);
    if (r < 0)
        return r;
    if (ret->volume) {
        ret->step = CLAIM_BIND;
    } else if (!claim_has_class(claim) && f->usual_class) {
        ret->step = CLAIM_SET_CLASS;
        ret->class = f->usual_class;
    } else if (waits && !meta_annotation(f->claim, NOTE_SELECTED_NODE).p) {
        ret->say = say_waits(a, f);
    } else if (claim_class(claim).n) {
        ret->step = CLAIM_PROVISION;
        ret->class = f->class;
    } else {
        ret->say = (struct volume_say){
            SPN_NORMAL, "FailedBinding",
            SPN_TEXT(
                "no persistent volumes available for this claim and no storage class is set")
        };
    }
    return 0;
}

/* Why a volume that was asked for by name cannot be had; empty: it can. */
static struct spn_text why_not(struct spn_arena *a, const struct spn_value *volume,
                               const struct spn_value *claim)
{
    const struct value *v = value_in(volume), *c = value_in(claim);
    if (meta_is_deleting(volume))
        return spn_arena_printf(a, "the volume is marked for deletion \"" SPN_FMT "\"",
                                SPN_ARG(meta_name(volume)));
    if (!volume_is_large_enough(v, c))
        return SPN_TEXT("requested PV is too small");
    if (!str_eq(volume_class(v), claim_class(c)))
        return SPN_TEXT("storageClassName does not match");
    if (!volume_has_attributes(v, c))
        return SPN_TEXT("volumeAttributesClassName does not match");
    if (!str_eq(volume_mode(v), volume_mode(c)))
        return SPN_TEXT("incompatible volumeMode");
    return volume_has_modes(v, c) ? SPN_TEXT("") : SPN_TEXT("incompatible accessMode");
}

/* It asks for a volume by its name. */
static void decide_named(struct spn_arena *a, const struct claim_facts *f, struct claim_plan *ret)
{
    if (!f->named)
        return;
    struct spn_text name = meta_name(f->named);
    bool is_free = !spn_value_dig(f->named, "spec", "claimRef");
    struct spn_text why = is_free ? why_not(a, f->named, f->claim) : SPN_TEXT("");
    if (why.n) {
        ret->say = (struct volume_say){
            SPN_WARNING, "VolumeMismatch",
            spn_arena_printf(a, "Cannot bind to requested volume \"" SPN_FMT "\": " SPN_FMT,
                             SPN_ARG(name), SPN_ARG(why))
        };
    } else if (is_free || volume_is_for(value_in(f->named), value_in(f->claim))) {
        ret->step = CLAIM_BIND;
        ret->volume = f->named;
    } else {
        ret->say = (struct volume_say){
            SPN_WARNING, "FailedBinding",
            spn_arena_printf(a, "volume \"" SPN_FMT "\" already bound to a different claim.",
                             SPN_ARG(name))
        };
        if (meta_annotation(f->claim, NOTE_BY_CONTROLLER).p)
            ret->step = CLAIM_REFUSED;
    }
}

static void decide_bound(const struct claim_facts *f, struct claim_plan *ret)
{
    const struct spn_value *ref = spn_value_dig(f->named, "spec", "claimRef");
    *ret = (struct claim_plan){ .step = CLAIM_LOST, .say = { SPN_WARNING, "ClaimLost" } };
    if (!spec_text(f->claim, "volumeName").n) {
        ret->say.message = SPN_TEXT(
            "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!");
    } else if (!f->named) {
        ret->say.message =
            SPN_TEXT("Bound claim has lost its PersistentVolume. Data on the volume is lost!");
    } else if (!ref || spn_text_eq(spn_value_text(spn_value_get(ref, "uid")), meta_uid(f->claim))) {
        *ret = (struct claim_plan){ .step = CLAIM_BIND, .volume = f->named };
    } else {
        ret->say.reason = "ClaimMisbound";
        ret->say.message =
            SPN_TEXT("Two claims are bound to the same volume, this one is bound incorrectly");
    }
}

int claim_decide(struct spn_arena *a, const struct claim_facts *f, struct claim_plan *ret,
                 struct spn_err *err)
{
    *ret = (struct claim_plan){ .step = CLAIM_PENDING };
    if (claim_was_bound(f->claim)) {
        decide_bound(f, ret);
        return 0;
    }
    if (!spec_text(f->claim, "volumeName").n)
        return decide_open(a, f, ret, err);
    decide_named(a, f, ret);
    return 0;
}

/* ---- Classes ---- */

static bool is_marked(const struct spn_value *class, const char *note)
{
    return spn_text_eq(meta_annotation(class, note), SPN_TEXT("true"));
}

static int64_t created_at(const struct spn_value *obj)
{
    int64_t ns = 0;
    (void)time_read(spn_value_dig(obj, "metadata", "creationTimestamp"), &ns);
    return ns;
}

const struct spn_value *class_usual(const struct spn_value *const *classes, size_t n)
{
    const struct spn_value *best = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!is_marked(classes[i], "storageclass.kubernetes.io/is-default-class") &&
            !is_marked(classes[i], "storageclass.beta.kubernetes.io/is-default-class"))
            continue;
        int64_t x = created_at(classes[i]), y = best ? created_at(best) : 0;
        if (!best || x > y ||
            (x == y && str_cmp(str_in(meta_name(classes[i])), str_in(meta_name(best))) < 0))
            best = classes[i];
    }
    return best;
}

/* ---- Volumes ---- */

enum volume_step volume_decide(const struct spn_value *volume, const struct spn_value *claim)
{
    const struct spn_value *ref = spn_value_dig(volume, "spec", "claimRef");
    if (!ref || !spn_value_text(spn_value_get(ref, "uid")).n)
        return VOLUME_AVAILABLE;
    if (!claim)
        return VOLUME_RELEASED;
    struct spn_text name = spec_text(claim, "volumeName");
    if (!name.n)
        return str_eq(volume_mode(value_in(claim)), volume_mode(value_in(volume)))
                   ? VOLUME_WAITS
                   : VOLUME_MISMATCHED;
    if (spn_text_eq(name, meta_name(volume)))
        return VOLUME_BOUND;
    /* One that was made for the claim is of no use to others. */
    bool is_made =
        meta_annotation(volume, NOTE_PROVISIONED_BY).p &&
        spn_text_eq(spec_text(volume, "persistentVolumeReclaimPolicy"), SPN_TEXT("Delete"));
    return is_made ? VOLUME_RELEASED : VOLUME_UNBIND;
}

/* ---- Who makes and removes volumes ---- */

#define HOST_PATH "kubernetes.io/host-path"
#define NFS       "kubernetes.io/nfs"

struct spn_text provisioner_driver(struct spn_text old_name)
{
    static const struct {
        struct spn_text old_name, driver;
    } drivers[] = {
        { SPN_TEXT("kubernetes.io/aws-ebs"), SPN_TEXT("ebs.csi.aws.com") },
        { SPN_TEXT("kubernetes.io/azure-disk"), SPN_TEXT("disk.csi.azure.com") },
        { SPN_TEXT("kubernetes.io/azure-file"), SPN_TEXT("file.csi.azure.com") },
        { SPN_TEXT("kubernetes.io/cinder"), SPN_TEXT("cinder.csi.openstack.org") },
        { SPN_TEXT("kubernetes.io/gce-pd"), SPN_TEXT("pd.csi.storage.gke.io") },
        { SPN_TEXT("kubernetes.io/portworx-volume"), SPN_TEXT("pxd.portworx.com") },
        { SPN_TEXT("kubernetes.io/vsphere-volume"), SPN_TEXT("csi.vsphere.vmware.com") },
    };
    for (size_t i = 0; i < ARRAY_LEN(drivers); i++)
        if (spn_text_eq(old_name, drivers[i].old_name))
            return drivers[i].driver;
    return SPN_TEXT("");
}

/* By the name of a plugin; what is not of this project is done outside. */
static struct volume_by by_name(struct spn_arena *a, struct spn_text name, const char *cannot)
{
    if (spn_text_eq(name, SPN_TEXT(HOST_PATH)))
        return (struct volume_by){ .who = MAKER_HOST_PATH, .name = name };
    if (!str_starts(str_in(name), STR("kubernetes.io/")))
        return (struct volume_by){ .who = MAKER_ELSEWHERE, .name = name };
    return (struct volume_by){
        .who = MAKER_NONE,
        .why = spn_text_eq(name, SPN_TEXT(NFS))
                   ? spn_text_of(cannot)
                   : spn_arena_printf(a, "no volume plugin matched name: " SPN_FMT, SPN_ARG(name))
    };
}

struct volume_by claim_provisioner(struct spn_arena *a, const struct spn_value *claim,
                                   const struct spn_value *class)
{
    struct spn_text name = spn_value_text(spn_value_get(class, "provisioner"));
    struct spn_text driver = provisioner_driver(name);
    if (!class)
        return (struct volume_by){ .who = MAKER_NONE,
                                   .why = spn_arena_printf(
                                       a, "storageclass.storage.k8s.io \"" STR_FMT "\" not found",
                                       STR_ARG(claim_class(value_in(claim)))) };
    if (driver.n)
        return (struct volume_by){ .who = MAKER_ELSEWHERE, .name = driver };
    return by_name(a, name, "no provisionable volume plugin matched");
}

struct volume_by volume_deleter(struct spn_arena *a, const struct spn_value *volume)
{
    static const char cannot[] = "no deletable volume plugin matched";
    struct spn_text by = meta_annotation(volume, NOTE_PROVISIONED_BY);
    if (by.n)
        return by_name(a, by, cannot);
    if (meta_annotation(volume, NOTE_MIGRATED_TO).p || spn_value_dig(volume, "spec", "csi"))
        return (struct volume_by){ .who = MAKER_ELSEWHERE };
    if (spn_value_dig(volume, "spec", "hostPath"))
        return (struct volume_by){ .who = MAKER_HOST_PATH };
    return (struct volume_by){
        .who = MAKER_NONE,
        .why = spn_arena_printf(
            a, "error getting deleter volume plugin for volume \"" SPN_FMT "\": %s",
            SPN_ARG(meta_name(volume)),
            spn_value_dig(volume, "spec", "nfs") ? cannot : "no volume plugin matched")
    };
}

/* ---- Recycling ---- */

/* Larger volumes get more time. */
static int64_t recycle_seconds(const struct spn_value *volume, int64_t least)
{
    enum { SECONDS_PER_GI = 30, GI_SHIFT = 30 };
    struct str size = str_in(spn_value_text(spn_value_dig(volume, "spec", "capacity", "storage")));
    int64_t bytes = 0;
    if (!size.n || !quantity_units(size, false, &bytes))
        return least;
    int64_t wish = (bytes >> GI_SHIFT) * SECONDS_PER_GI;
    return wish > least ? wish : least;
}

struct spn_value *volume_recycler(struct spn_arena *a, const struct spn_value *volume)
{
    static const char text[] =
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"default\"},"
        "\"spec\":{\"restartPolicy\":\"Never\",\"volumes\":[{\"name\":\"vol\"}],"
        "\"containers\":[{\"name\":\"pv-recycler\","
        "\"image\":\"registry.k8s.io/build-image/debian-base:bookworm-v1.0.6\","
        "\"command\":[\"/bin/sh\"],\"args\":[\"-c\",\"test -e /scrub && find /scrub -mindepth 1 "
        "-delete && test -z \\\"$(ls -A /scrub)\\\" || exit 1\"],"
        "\"volumeMounts\":[{\"name\":\"vol\",\"mountPath\":\"/scrub\"}]}]}}";
    enum { LEAST_HOST_PATH = 60, LEAST_NFS = 300 };
    const struct spn_value *path = spn_value_dig(volume, "spec", "hostPath", "path");
    const struct spn_value *nfs = spn_value_dig(volume, "spec", "nfs");
    struct spn_value *pod;
    if ((!path && !nfs) || spn_value_read_json(a, spn_text_of(text), &pod, NULL) < 0)
        return NULL;
    spn_value_set_text(a, spn_value_edit(a, pod, "metadata"), "name",
                       spn_arena_printf(a, "recycler-for-" SPN_FMT, SPN_ARG(meta_name(volume))));
    struct spn_value *spec = spn_value_edit(a, pod, "spec");
    spn_value_set_int(a, spec, "activeDeadlineSeconds",
                      recycle_seconds(volume, path ? LEAST_HOST_PATH : LEAST_NFS));
    struct spn_value *vol = spn_value_edit_at(a, spn_value_edit(a, spec, "volumes"), 0);
    if (path)
        spn_value_set(a, spn_value_ensure(a, vol, "hostPath"), "path", spn_value_copy(a, path));
    else
        spn_value_set(a, vol, "nfs", spn_value_copy(a, nfs));
    return pod;
}
