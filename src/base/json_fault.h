/* json_fault.h - what is wrong with text that json_read() refused, in the words of Go's scanner,
 * which Kubernetes clients and people have learnt: "invalid character 'x' after object key". */
#pragma once

#include "base/arena.h"

/* Empty if Go's scanner would have found no fault. In the arena or static. No I/O. */
struct str json_fault(struct arena *a, struct str text);
