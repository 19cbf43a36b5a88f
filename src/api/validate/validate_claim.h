/* validate_claim.h - the spec of a claim for a volume, wherever it stands: in a
 * PersistentVolumeClaim, in an ephemeral volume, in a StatefulSet. */
#pragma once

#include "api/validate/validate_common.h"

enum claim_flags {
    CLAIM_ANY_SELECTOR_VALUES = 1, /* an old object had label values that are none */
    CLAIM_ANY_API_GROUP = 2,       /* and a group in its data source */
};
void validate_claim_spec(struct field_errors *e, const struct field_path *path,
                         const struct value *spec, unsigned flags);
/* Metadata and spec of a template; only labels and annotations may be set. */
void validate_claim_template(struct field_errors *e, const struct field_path *path,
                             const struct value *template);
