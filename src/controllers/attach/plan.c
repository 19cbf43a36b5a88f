#include "controllers/attach/plan.h"

#include <sampan/meta.h>

#include "base/clock.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/common/times.h"
#include "net/crypto/digest.h"
#include "base/banned.h"

#define PREFIX "kubernetes.io/csi/"
static const int64_t longest_unmount = 360 * NS_PER_SEC;

static struct spn_text text_at(const struct spn_value *v, const char *key)
{
    return spn_value_text(spn_value_get(v, key));
}

/* ---- Volumes ---- */

bool attach_is_managed(const struct spn_value *node)
{
    return meta_annotation(node, "volumes.kubernetes.io/controller-managed-attach-detach").p;
}

bool attach_is_needed(const struct spn_value *volume, const struct spn_value *driver)
{
    const struct spn_value *said = spn_value_dig(driver, "spec", "attachRequired");
    return spn_value_dig(volume, "spec", "csi") && (!said || spn_value_is_true(said));
}

bool attach_may_be_shared(const struct spn_value *volume)
{
    const struct spn_value *modes = spn_value_dig(volume, "spec", "accessModes");
    for (size_t i = 0; i < spn_value_count(modes); i++) {
        struct spn_text mode = spn_value_text(spn_value_at(modes, i));
        if (spn_text_eq(mode, SPN_TEXT("ReadWriteMany")) ||
            spn_text_eq(mode, SPN_TEXT("ReadOnlyMany")))
            return true;
    }
    return !spn_value_count(modes);
}

/* ---- Names ---- */

struct spn_text attach_name(struct spn_arena *a, const struct spn_value *volume,
                            struct spn_text node)
{
    static const char digits[] = "0123456789abcdef";
    const struct spn_value *csi = spn_value_dig(volume, "spec", "csi");
    unsigned char hash[DIGEST_SHA256_BYTES];
    char hex[2 * DIGEST_SHA256_BYTES];
    struct spn_text what =
        spn_arena_printf(a, SPN_FMT SPN_FMT SPN_FMT, SPN_ARG(text_at(csi, "volumeHandle")),
                         SPN_ARG(text_at(csi, "driver")), SPN_ARG(node));
    digest_sha256(str_in(what), hash);
    for (size_t i = 0; i < sizeof(hash); i++) {
        hex[2 * i] = digits[hash[i] >> 4];
        hex[2 * i + 1] = digits[hash[i] & 15];
    }
    return spn_arena_printf(a, "csi-%.*s", (int)sizeof(hex), hex);
}

struct spn_text attach_volume_name(struct spn_arena *a, const struct spn_value *volume)
{
    const struct spn_value *csi = spn_value_dig(volume, "spec", "csi");
    return spn_arena_printf(a, PREFIX SPN_FMT "^" SPN_FMT, SPN_ARG(text_at(csi, "driver")),
                            SPN_ARG(text_at(csi, "volumeHandle")));
}

struct spn_value *attach_make(struct spn_arena *a, const struct spn_value *volume,
                              struct spn_text node)
{
    struct spn_value *attachment = spn_value_new(a, SPN_OBJECT);
    spn_value_set_text(a, attachment, "apiVersion", SPN_TEXT("storage.k8s.io/v1"));
    spn_value_set_text(a, attachment, "kind", SPN_TEXT("VolumeAttachment"));
    spn_value_set_text(a, spn_value_ensure(a, attachment, "metadata"), "name",
                       attach_name(a, volume, node));
    struct spn_value *spec = spn_value_ensure(a, attachment, "spec");
    spn_value_set_text(a, spec, "attacher",
                       spn_value_text(spn_value_dig(volume, "spec", "csi", "driver")));
    spn_value_set_text(a, spec, "nodeName", node);
    spn_value_set_text(a, spn_value_ensure(a, spec, "source"), "persistentVolumeName",
                       meta_name(volume));
    return attachment;
}

/* ---- What is ---- */

bool attach_is_done(const struct spn_value *attachment)
{
    return !meta_is_deleting(attachment) &&
           spn_value_is_true(spn_value_dig(attachment, "status", "attached"));
}

/* Not ready for so long that it is not waited for any more. */
static bool is_lost(const struct spn_value *node, int64_t now_ns)
{
    const struct spn_value *ready = spn_condition_get(node, "Ready");
    int64_t since = 0;
    if (spn_text_eq(text_at(ready, "status"), SPN_TEXT("True")))
        return false;
    (void)time_read(spn_value_get(ready, "lastTransitionTime"), &since);
    return since && now_ns - since > longest_unmount;
}

static bool is_out_of_service(const struct spn_value *node)
{
    const struct spn_value *taints = spn_value_dig(node, "spec", "taints");
    for (size_t i = 0; i < spn_value_count(taints); i++)
        if (spn_text_eq(text_at(spn_value_at(taints, i), "key"),
                        SPN_TEXT("node.kubernetes.io/out-of-service")))
            return true;
    return false;
}

bool attach_is_in_use(const struct spn_value *node, struct spn_text volume_name, int64_t now_ns)
{
    const struct spn_value *used = spn_value_dig(node, "status", "volumesInUse");
    if (!node || is_out_of_service(node) || is_lost(node, now_ns))
        return false;
    for (size_t i = 0; i < spn_value_count(used); i++)
        if (spn_text_eq(spn_value_text(spn_value_at(used, i)), volume_name))
            return true;
    return false;
}

/* ---- What the node is told ---- */

bool attach_is_reported(const struct spn_value *node, struct spn_text volume_name)
{
    const struct spn_value *all = spn_value_dig(node, "status", "volumesAttached");
    for (size_t i = 0; i < spn_value_count(all); i++)
        if (spn_text_eq(text_at(spn_value_at(all, i), "name"), volume_name))
            return true;
    return false;
}

static bool is_among(struct spn_text name, const struct spn_text *volumes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (spn_text_eq(volumes[i], name))
            return true;
    return false;
}

struct spn_value *attach_report(struct spn_arena *a, const struct spn_value *node,
                                const struct spn_text *volumes, size_t n)
{
    const struct spn_value *was = spn_value_dig(node, "status", "volumesAttached");
    struct spn_value *list = spn_value_new(a, SPN_ARRAY);
    for (size_t i = 0; i < spn_value_count(was); i++) {
        struct spn_text name = text_at(spn_value_at(was, i), "name");
        if (!str_starts(str_in(name), STR(PREFIX)) || is_among(name, volumes, n))
            spn_value_push(a, list, spn_value_copy(a, spn_value_at(was, i)));
    }
    bool is_same = spn_value_count(list) == spn_value_count(was);
    for (size_t i = 0; i < n; i++) {
        if (attach_is_reported(node, volumes[i]))
            continue;
        struct spn_value *entry = spn_value_new(a, SPN_OBJECT);
        spn_value_set_text(a, entry, "name", volumes[i]);
        spn_value_set_text(a, entry, "devicePath", SPN_TEXT(""));
        spn_value_push(a, list, entry);
        is_same = false;
    }
    return is_same ? NULL : list;
}
