/* annotated_marker.h - what markers in comments say. */
#pragma once

#include "generate/annotated.h"

/* Takes "key=value" from the front of what stands behind a marker's name; the comma between two is
 * dropped. The value loses its quotes (" or `) in the arena. False at the end. */
bool annotated_next(struct arena *a, struct str *rest, struct str *ret_key, struct str *ret_value);
/* "a;b" or "{a,b}" as a list of texts. */
struct value annotated_list(struct arena *a, struct str text);
/* Without quotes, if it has some. */
struct str annotated_unquoted(struct arena *a, struct str text);
/* What stands behind "kubebuilder:printcolumn:"; .p is NULL if it is another marker. */
struct str annotated_behind(const struct annotated_marker *m, struct str prefix);

/* Puts what the markers of a member say into its schema: validation, defaults, kinds of lists.
 * ERR_INVALID with the line. */
int annotated_validation(struct annotated *in, const struct annotated_marker *markers,
                         struct value *schema, struct err *err);
