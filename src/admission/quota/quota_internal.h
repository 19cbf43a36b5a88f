/* quota_internal.h - shared by the files that know what objects use. */
#pragma once

#include "admission/quota/quota_usage.h"

/* Of pods. */
bool quota__pod_counts(struct str name);
struct str quota__pod_usage(const struct quota_item *item, struct str name);
size_t quota__pod_names(const struct quota_item *item, struct str *ret);
bool quota__pod_in_scope(const struct value *pod, const struct value *requirement);
/* Whether it is neither done nor long deleted. */
bool quota__pod_is_alive(const struct quota_item *item);

/* Whether a class, or none, is one of those that a requirement names. */
bool quota__selects(const struct value *requirement, struct str class);
