/* access_review.h - a question to an authorizer as the spec of a SubjectAccessReview. Texts are
 * borrowed from the question. Rules only: no I/O. */
#pragma once

#include "auth/access.h"
#include "base/value.h"

/* As it is sent: without what is empty. v1beta1 spells one field in another way. */
struct value access_review_spec(struct arena *a, const struct access *q, bool is_v1);
/* As match conditions see it (v1): every text is there. */
struct value access_review_request(struct arena *a, const struct access *q);
