/* review.h - an AdmissionReview: what a webhook is asked, and what it answers.
 *
 * Reading follows upstream's decoder and its checks, word for word; a webhook is somebody outside
 * whom nothing obliges to make sense. Rules only: no I/O. */
#pragma once

#include "admission/dynamic/view.h"
#include "base/buf.h"

/* `version` is v1 or v1beta1. `rest` is what review_rest() has made. */
void review_write(struct buf *out, struct admission_request *req, const struct view *v,
                  struct str version, struct str uid, struct str rest);
/* The objects and options, which are the same for all webhooks that see this view. */
struct str review_rest(struct admission_request *req, const struct view *v);

struct review_answer {
    bool allowed;
    const struct value *status;      /* NULL: none */
    const struct value *annotations; /* for auditors; NULL: none */
    const struct value *warnings;    /* a list; NULL: none */
    struct str patch;                /* bytes; empty: none */
    struct str patch_type;
};

/* Into the arena; `body` must live as long. ERR_UNKNOWN with what follows `failed calling webhook
 * "x": `. */
int review_read(struct arena *a, struct str body, struct str version, struct str uid,
                bool is_mutating, struct review_answer *ret, struct err *err);
/* The operations; an empty list is none. The same errors. */
int review_patch(struct arena *a, const struct review_answer *answer, struct value *ret,
                 struct err *err);

/* Why the webhook has refused the request: a Status. In the arena; `err` gets it as its answer. */
int review_refusal(struct arena *a, struct str webhook, const struct value *status,
                   struct err *err);
