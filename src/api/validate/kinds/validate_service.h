/* validate_service.h - the rules of a Service's addresses, which whoever allocates them asks for
 * before the rest of the object is looked at. */
#pragma once

#include "api/validate/validate_common.h"

/* clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy of a spec, each and together. `old_spec` is
 * NULL for a new Service. */
void validate_service_addresses(struct field_errors *e, const struct value *spec,
                                const struct value *old_spec);
