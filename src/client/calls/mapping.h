/* mapping.h - the resources of a server at one moment, from its discovery documents. Private to
 * this folder.
 *
 * A mapping is filled by one thread and never changes after that; it is shared by reference. No
 * I/O. */
#pragma once

#include <sampan/mapper.h>

#include "base/value.h"

struct mapping;

struct mapping *mapping_new(void);
struct mapping *mapping_ref(struct mapping *m);
struct mapping *mapping_unref(struct mapping *m);
struct arena *mapping_arena(struct mapping *m); /* documents must lie in it */

/* An APIGroupDiscoveryList: all resources of its groups. */
void mapping_add_aggregated(struct mapping *m, const struct value *doc);
/* An APIResourceList of one version. */
void mapping_add_version(struct mapping *m, struct str group, struct str version,
                         const struct value *doc);
/* It exists, but what is in it is not known. */
void mapping_add_missing(struct mapping *m, struct str group, struct str version);

/* What a user or an object asks for. */
struct mapping_query {
    struct str name;           /* as it was written */
    struct str group, version; /* an empty version: any */
    bool has_group;
    bool is_kind; /* the name is a kind, and the group is whole */
};
const struct spn_resource *mapping_find(const struct mapping *m, const struct mapping_query *q);
/* Whether something of that query may be in a part that is missing. */
bool mapping_may_miss(const struct mapping *m, const struct mapping_query *q);

/* Each resource once, of one category or all (empty). */
struct spn_resources mapping_list(const struct mapping *m, struct str category, struct arena *a);
struct spn_texts mapping_missing(const struct mapping *m, struct arena *a);
struct spn_resource mapping_copy(const struct spn_resource *r, struct arena *a);
