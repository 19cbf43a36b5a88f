#include "controllers/accounts/legacy_plan.h"

#include <stdio.h>

#include "api/go/gotime.h"
#include "base/clock.h"
#include "base/idiom.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/common/times.h"
#include "base/banned.h"

#define LAST_USED "kubernetes.io/legacy-token-last-used"
#define UID_NOTE  "kubernetes.io/service-account.uid"
enum { DAY_BYTES = 10, DAY_SECONDS = 86400 };

/* ---- Days ---- */

/* False: it is none. */
static bool day_read(struct spn_text day, int64_t *ret_ns)
{
    char text[DAY_BYTES + sizeof("T00:00:00Z")];
    if (day.n != DAY_BYTES)
        return false;
    (void)snprintf(text, sizeof(text), SPN_FMT "T00:00:00Z", SPN_ARG(day));
    return gotime_read_ns(str_of(text), ret_ns);
}

struct spn_text legacy_day(struct spn_arena *a, int64_t ns)
{
    struct spn_text text = time_text(a, ns);
    text.n = DAY_BYTES;
    return text;
}

/* A day that is whole before the day of the limit. */
static bool is_day_before(struct spn_text day, int64_t limit_ns)
{
    int64_t ns;
    return day_read(day, &ns) && ns + DAY_SECONDS * NS_PER_SEC <= limit_ns;
}

bool legacy_is_tracked(const struct spn_value *map, int64_t now_ns, int64_t period_ns)
{
    int64_t since_ns;
    return day_read(spn_value_text(spn_value_dig(map, "data", "since")), &since_ns) &&
           since_ns + DAY_SECONDS * NS_PER_SEC + period_ns <= now_ns;
}

/* ---- Secrets ---- */

bool legacy_is_unused(const struct spn_value *secret, int64_t limit_ns)
{
    int64_t created_ns;
    const struct spn_value *used = spn_value_dig(secret, "metadata", "labels", LAST_USED);
    if (meta_is_deleting(secret) ||
        !time_read(spn_value_dig(secret, "metadata", "creationTimestamp"), &created_ns) ||
        created_ns >= limit_ns)
        return false;
    return !used || is_day_before(spn_value_text(used), limit_ns);
}

bool legacy_is_generated(const struct spn_value *secret, const struct spn_value *account)
{
    struct spn_text uid = meta_annotation(secret, UID_NOTE);
    const struct spn_value *all = spn_value_get(account, "secrets");
    if (uid.n && !spn_text_eq(uid, meta_uid(account)))
        return false;
    for (size_t i = 0; i < spn_value_count(all); i++)
        if (spn_text_eq(spn_value_text(spn_value_get(spn_value_at(all, i), "name")),
                        meta_name(secret)))
            return true;
    return false;
}

enum legacy_step legacy_step(const struct spn_value *secret, int64_t limit_ns)
{
    int64_t ns;
    struct spn_text since =
        spn_value_text(spn_value_dig(secret, "metadata", "labels", LEGACY_INVALID_SINCE));
    if (!day_read(since, &ns))
        return LEGACY_BECOMES_INVALID;
    return is_day_before(since, limit_ns) ? LEGACY_GOES : LEGACY_STAYS;
}

/* ---- Secrets of pods ---- */

static bool has_name(const struct spn_value *ref, const char *key, struct spn_text name)
{
    return name.n && spn_text_eq(spn_value_text(spn_value_get(ref, key)), name);
}

static bool is_in_container(const struct spn_value *container, struct spn_text name)
{
    const struct spn_value *from = spn_value_get(container, "envFrom");
    const struct spn_value *env = spn_value_get(container, "env");
    for (size_t i = 0; i < spn_value_count(from); i++)
        if (has_name(spn_value_get(spn_value_at(from, i), "secretRef"), "name", name))
            return true;
    for (size_t i = 0; i < spn_value_count(env); i++)
        if (has_name(spn_value_dig(spn_value_at(env, i), "valueFrom", "secretKeyRef"), "name",
                     name))
            return true;
    return false;
}

static bool is_projected(const struct spn_value *volume, struct spn_text name)
{
    const struct spn_value *sources = spn_value_dig(volume, "projected", "sources");
    for (size_t i = 0; i < spn_value_count(sources); i++)
        if (has_name(spn_value_get(spn_value_at(sources, i), "secret"), "name", name))
            return true;
    return false;
}

static bool is_in_volume(const struct spn_value *volume, struct spn_text name)
{
    static const char *const kinds[] = { "cephfs", "cinder",  "flexVolume", "rbd",
                                         "iscsi",  "scaleIO", "storageos" };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (has_name(spn_value_dig(volume, kinds[i], "secretRef"), "name", name))
            return true;
    return has_name(spn_value_get(volume, "secret"), "secretName", name) ||
           has_name(spn_value_get(volume, "azureFile"), "secretName", name) ||
           has_name(spn_value_dig(volume, "csi", "nodePublishSecretRef"), "name", name) ||
           is_projected(volume, name);
}

bool legacy_is_in_pod(const struct spn_value *pod, struct spn_text secret_name)
{
    static const char *const kinds[] = { "initContainers", "containers", "ephemeralContainers" };
    const struct spn_value *spec = spn_value_get(pod, "spec");
    const struct spn_value *pulls = spn_value_get(spec, "imagePullSecrets");
    const struct spn_value *volumes = spn_value_get(spec, "volumes");
    for (size_t i = 0; i < spn_value_count(pulls); i++)
        if (has_name(spn_value_at(pulls, i), "name", secret_name))
            return true;
    for (size_t i = 0; i < spn_value_count(volumes); i++)
        if (is_in_volume(spn_value_at(volumes, i), secret_name))
            return true;
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        const struct spn_value *all = spn_value_get(spec, kinds[k]);
        for (size_t i = 0; i < spn_value_count(all); i++)
            if (is_in_container(spn_value_at(all, i), secret_name))
                return true;
    }
    return false;
}
