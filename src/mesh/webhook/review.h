/* review.h - the webhook as the API server speaks to it: an AdmissionReview in, one out. Pure. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

/* ERR_BAD_REQUEST: it is no AdmissionReview. */
int review_answer(struct arena *a, struct str body, struct buf *ret, struct err *err);
