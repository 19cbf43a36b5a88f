/* quota_usage.h - what an object uses of what quotas limit.
 *
 * A quota names things: "pods", "requests.cpu", "count/deployments.apps". Of each kind of object it
 * is known which of them its objects may use; an object says how much. Pods, services, claims of
 * volumes and of devices use several; objects of all other kinds, custom ones too, are counted.
 * Rules only: a tree in the storage version. */
#pragma once

#include "api/kind.h"
#include "base/value.h"

struct quota_item {
    struct arena *arena;
    struct str group, plural; /* of the stored kind */
    const struct value *obj;
    int64_t now_sec; /* wall time */
};

/* Objects of this kind are never counted. */
bool quota_ignores(struct str group, struct str plural);
/* Whether objects of this kind may use the thing of that name. */
bool quota_counts(struct str group, struct str plural, struct str name);
/* How much the object uses of the thing of that name: a quantity, in the arena or borrowed; empty:
 * nothing. */
struct str quota_usage(const struct quota_item *item, struct str name);
/* The names of all that it uses, for limits that count without a quota; at most QUOTA_NAMES_MAX. */
enum { QUOTA_NAMES_MAX = 256 };
size_t quota_usage_names(const struct quota_item *item, struct str ret[static QUOTA_NAMES_MAX]);

/* Whether an object of this kind must be read to know what it uses: else it counts as one. */
bool quota_is_measured(struct str group, struct str plural);
/* The kinds whose objects may use the thing of that name. */
enum { QUOTA_KINDS_MAX = 5 };
struct quota_kind {
    struct str group, plural;
};
size_t quota_kinds_of(struct str name, struct quota_kind ret[static QUOTA_KINDS_MAX]);

/* Whether the object is in the scope of a ScopedResourceSelectorRequirement. */
bool quota_is_in_scope(const struct quota_item *item, const struct value *requirement);
/* Whether it is in all scopes of a quota's spec. */
bool quota_is_in_scopes(const struct quota_item *item, const struct value *quota_spec);
/* Whether the kind has scopes at all. */
bool quota_has_scopes(struct str group, struct str plural);
/* All scopes of a quota's spec as requirements. */
struct value quota_scopes(struct arena *a, const struct value *quota_spec);

/* What keeps a pod from being held against a quota on these things, in upstream's words; empty:
 * nothing. `hard` is a map of them. */
struct str quota_missing(const struct quota_item *item, const struct value *hard);

/* Whether the pod ends by itself. */
bool quota_pod_is_terminating(const struct value *pod);
/* Whether a change may have made what the object uses less. */
bool quota_may_shrink(const struct quota_item *old_item, const struct value *obj);
