/* flow_dangling.h - the condition Dangling of a FlowSchema: whether its priority level is there, in
 * upstream's words. */
#pragma once

#include "server/registry/registry.h"

/* False if `schema` says so already; else `*ret` is the status that it should have. */
bool flow_dangling_status(struct call *c, const struct value *schema, bool has_level,
                          struct value *ret);
