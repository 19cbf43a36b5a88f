#include "controllers/storage_versions/plan.h"

#include <sampan/meta.h>

#include "controllers/common/fields.h"
#include "controllers/common/times.h"
#include "base/banned.h"

/* The version in which all of them write; NULL: they differ. */
static const struct spn_value *common_version(const struct spn_value *servers)
{
    const struct spn_value *first = spn_value_get(spn_value_at(servers, 0), "encodingVersion");
    for (size_t i = 1; i < spn_value_count(servers); i++)
        if (!spn_value_eq(first, spn_value_get(spn_value_at(servers, i), "encodingVersion")))
            return NULL;
    return first;
}

static void set_condition(struct spn_arena *a, struct spn_value *version, bool is_equal)
{
    const struct spn_condition c = {
        .type = "AllEncodingVersionsEqual",
        .status = is_equal ? "True" : "False",
        .reason = is_equal ? "CommonEncodingVersionSet" : "CommonEncodingVersionUnset",
        .message = is_equal ? "Common encoding version set" : "Common encoding version unset",
        .observed_generation = meta_generation(version),
    };
    (void)spn_condition_set(a, version, &c);
}

/* One that is another now has changed now, even if there was one before. */
static void touch_condition(struct spn_arena *a, struct spn_value *version, int64_t now_ns)
{
    struct spn_value *all = spn_value_edit(a, spn_value_ensure(a, version, "status"), "conditions");
    for (size_t i = 0; i < spn_value_count(all); i++) {
        struct spn_value *c = spn_value_edit_at(a, all, i);
        if (spn_text_eq(spn_value_text(spn_value_get(c, "type")),
                        SPN_TEXT("AllEncodingVersionsEqual")))
            spn_value_set_text(a, c, "lastTransitionTime", time_text(a, now_ns));
    }
}

static void agree(struct spn_arena *a, struct spn_value *version, int64_t now_ns)
{
    struct spn_value *status = spn_value_ensure(a, version, "status");
    const struct spn_value *before =
        spn_value_copy(a, spn_value_get(status, "commonEncodingVersion"));
    const struct spn_value *now = common_version(spn_value_get(status, "storageVersions"));
    spn_value_remove(a, status, "commonEncodingVersion");
    if (now)
        spn_value_set(a, status, "commonEncodingVersion", spn_value_copy(a, now));
    set_condition(a, version, now != NULL);
    if (before && now && !spn_value_eq(before, now))
        touch_condition(a, version, now_ns);
}

enum storage_versions_rest storage_versions_trim(struct spn_arena *a, struct spn_value *version,
                                                 storage_versions_is_live *is_live, void *arg,
                                                 int64_t now_ns)
{
    struct spn_value *servers =
        spn_value_edit(a, spn_value_ensure(a, version, "status"), "storageVersions");
    const size_t n = spn_value_count(servers);
    for (size_t i = n; i-- > 0;)
        if (!is_live(arg, spn_value_text(spn_value_get(spn_value_at(servers, i), "apiServerID"))))
            spn_value_remove_at(a, servers, i);
    if (spn_value_count(servers) == n)
        return STORAGE_VERSIONS_SAME;
    if (!spn_value_count(servers))
        return STORAGE_VERSIONS_NONE;
    agree(a, version, now_ns);
    return STORAGE_VERSIONS_FEWER;
}
