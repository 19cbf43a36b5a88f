/* profile_terms.h - whether terms of node affinity in a configuration make sense. Private to this
 * folder. */
#pragma once

#include "api/field_errors.h"

/* A list of NodeSelectorTerm, in the field nodeSelectorTerms of that path; with `weighted`, a list
 * of PreferredSchedulingTerm at the path itself. Terms that say nothing are not looked at. */
void profile_terms_check(struct field_errors *e, const struct field_path *path,
                         const struct value *list, bool weighted);
