/* resource_name.h - the names of what containers ask for, as far as rules go by them. */
#pragma once

#include "base/str.h"

#define RESOURCE_HUGE_PAGES STR("hugepages-") /* followed by the size of a page */

static inline bool resource_is_huge_page(struct str name)
{
    return str_starts(name, RESOURCE_HUGE_PAGES);
}

static inline bool resource_is_cpu_or_memory(struct str name)
{
    return str_eq(name, STR("cpu")) || str_eq(name, STR("memory"));
}

/* What a pod can ask for as a whole. */
static inline bool resource_is_pod_level(struct str name)
{
    return resource_is_cpu_or_memory(name) || resource_is_huge_page(name);
}
