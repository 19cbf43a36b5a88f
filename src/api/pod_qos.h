/* pod_qos.h - the quality of service of a pod: "Guaranteed" where all that it asks for is bounded
 * by the same, "BestEffort" where it asks for nothing, else "Burstable". */
#pragma once

#include "base/value.h"

/* What the spec says, whatever the status says. */
struct str pod_qos_class(const struct value *spec);
