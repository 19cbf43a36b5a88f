/* owners.h - by which selectors Services and owners know pods: pods of one of them are spread.
 *
 * Selectors are read once. The owner's lock guards all of it. Rules only: no I/O. */
#pragma once

#include "base/map.h"
#include "scheduler/pod_facts.h"

enum owner_kind {
    OWNER_SERVICE,
    OWNER_REPLICATION_CONTROLLER,
    OWNER_REPLICA_SET,
    OWNER_STATEFUL_SET
};

/* All zero is empty and valid. */
struct owners {
    struct map by_key; /* kind and key */
};

void owners_done(struct owners *o);
void owners_set(struct owners *o, enum owner_kind kind, const struct value *obj);
void owners_remove(struct owners *o, enum owner_kind kind, struct str key);
/* All of what selects the pod, together. False: nobody does. Good until the next change. */
bool owners_selector(const struct owners *o, struct arena *a, const struct pod_facts *f,
                     struct labels_selector *ret);
