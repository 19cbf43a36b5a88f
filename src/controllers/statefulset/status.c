#include "controllers/statefulset/status.h"

#include "base/idiom.h"
#include "controllers/common/fields.h"
#include "base/banned.h"

struct counts {
    int64_t created, ready, available, current, updated;
};

static void count(struct counts *c, const struct stateful_pod *pods, size_t n,
                  const struct stateful_seen *seen)
{
    for (size_t i = 0; i < n; i++) {
        const struct stateful_pod *p = &pods[i];
        const bool stays = p->is_created && !p->is_deleting;
        c->created += p->is_created;
        c->ready += p->is_ready;
        c->available += p->is_ready && p->is_available;
        c->current += stays && spn_text_eq(p->revision, seen->current);
        c->updated += stays && spn_text_eq(p->revision, seen->update);
    }
}

struct spn_value *stateful_status(struct spn_arena *a, const struct spn_value *set,
                                  const struct stateful_seen *seen)
{
    struct counts c = { 0 };
    const int64_t wanted = spec_replicas(set);
    const struct spn_value *conditions = spn_value_dig(set, "status", "conditions");
    count(&c, seen->replicas, seen->n_replicas, seen);
    count(&c, seen->condemned, seen->n_condemned, seen);
    /* What is being replaced may be of neither revision, and was not counted then. */
    c.current = c.current > seen->n_updating ? c.current - seen->n_updating : 0;
    const bool is_complete = c.updated == wanted && c.ready == wanted && c.created == wanted;
    struct spn_value *status = spn_value_new(a, SPN_OBJECT);
    spn_value_set_int(a, status, "observedGeneration", meta_generation(set));
    spn_value_set_int(a, status, "replicas", c.created);
    spn_value_set_int(a, status, "readyReplicas", c.ready);
    spn_value_set_int(a, status, "currentReplicas", is_complete ? c.updated : c.current);
    spn_value_set_int(a, status, "updatedReplicas", c.updated);
    spn_value_set_text(a, status, "currentRevision", is_complete ? seen->update : seen->current);
    spn_value_set_text(a, status, "updateRevision", seen->update);
    spn_value_set_int(a, status, "collisionCount", seen->collisions);
    if (conditions)
        spn_value_set(a, status, "conditions", spn_value_copy(a, conditions));
    spn_value_set_int(a, status, "availableReplicas", c.available);
    return status;
}

bool stateful_status_is_same(const struct spn_value *set, const struct spn_value *status)
{
    static const char *const counts[] = { "replicas", "readyReplicas", "currentReplicas",
                                          "updatedReplicas", "availableReplicas" };
    static const char *const names[] = { "currentRevision", "updateRevision" };
    const struct spn_value *old = spn_value_get(set, "status");
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        if (field_int(spn_value_get(old, counts[i]), 0) !=
            field_int(spn_value_get(status, counts[i]), 0))
            return false;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (!spn_text_eq(spn_value_text(spn_value_get(old, names[i])),
                         spn_value_text(spn_value_get(status, names[i]))))
            return false;
    return field_int(spn_value_get(status, "observedGeneration"), 0) <=
           status_int(set, "observedGeneration");
}
