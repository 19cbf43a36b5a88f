#include "controllers/deployment/sets.h"

#include <stdlib.h>

#include "base/str.h"
#include "client/bridge.h"
#include "controllers/common/fields.h"
#include "controllers/common/times.h"
#include "controllers/deployment/revision.h"
#include "base/banned.h"

static int64_t annotation_int(const struct spn_value *set, const char *key, int64_t otherwise)
{
    uint64_t n;
    return str_to_u64(str_in(meta_annotation(set, key)), &n) && n <= INT32_MAX ? (int64_t)n
                                                                               : otherwise;
}

struct deployment_set deployment_set_of(struct spn_value *object)
{
    struct deployment_set s = {
        .object = object,
        .name = meta_name(object),
        .uid = meta_uid(object),
        .replicas = spec_replicas(object),
        .n_actual = status_int(object, "replicas"),
        .n_ready = status_int(object, "readyReplicas"),
        .n_available = status_int(object, "availableReplicas"),
        .n_terminating = field_int(spn_value_dig(object, "status", "terminatingReplicas"), -1),
        .observed_generation = status_int(object, "observedGeneration"),
        .generation = meta_generation(object),
        .revision = revision_of(object),
        .wanted = annotation_int(object, ANNOTATION_DESIRED, -1),
        .max_before = annotation_int(object, ANNOTATION_MAX, -1),
        .is_deleting = meta_is_deleting(object),
    };
    (void)time_read(spn_value_dig(object, "metadata", "creationTimestamp"), &s.created_ns);
    return s;
}

static int by_age(const void *a, const void *b)
{
    const struct deployment_set *x = a, *y = b;
    if (x->created_ns != y->created_ns)
        return x->created_ns < y->created_ns ? -1 : 1;
    return str_cmp(str_in(x->name), str_in(y->name));
}

static int by_revision(const void *a, const void *b)
{
    const struct deployment_set *x = a, *y = b;
    if (x->revision != y->revision)
        return x->revision < y->revision ? -1 : 1;
    return by_age(a, b);
}

void deployment_sets_sort(struct deployment_set *sets, size_t n)
{
    if (n)
        qsort(sets, n, sizeof(*sets), by_age);
}

void deployment_sets_sort_by_revision(struct deployment_set *sets, size_t n)
{
    if (n)
        qsort(sets, n, sizeof(*sets), by_revision);
}

int64_t deployment_sets_replicas(const struct deployment_set *sets, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += sets[i].replicas;
    return sum;
}

int64_t deployment_sets_available(const struct deployment_set *sets, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += sets[i].n_available;
    return sum;
}
