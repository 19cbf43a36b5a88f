/* sysctls.h - which kernel parameters a pod may set: those that are its own and safe, and those
 * that the node allows. Rules only: no I/O. */
#pragma once

#include "base/err.h"
#include "node/pod/node_facts.h"

/* ERR_FORBIDDEN in upstream's words. */
int sysctls_check(struct arena *a, const struct node_facts *node, const struct value *pod,
                  struct err *err);
