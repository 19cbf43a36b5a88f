/* custom_webhook.h - objects of a custom kind become those of another version by a webhook that
 * its definition names.
 *
 * A call is a ConversionReview with any number of objects. What comes back is checked in upstream's
 * words: nothing of the metadata may change but labels and annotations. These wait, for as long as
 * LIMIT_CONVERSION_MS, so only workers call them. */
#pragma once

#include "server/custom/custom.h"

struct custom_webhook;

/* What `crd` says of its webhook, in the arena; NULL if it has none. */
/* `cancel` becomes true when nobody waits for answers any more. */
struct custom_webhook *custom_webhook_build(struct arena *a, const struct value *crd,
                                            const atomic_bool *cancel);
/* Its connections. NULL will do. */
void custom_webhook_done(struct custom_webhook *w);

/* Each of `objs`, which are complete objects of one kind, as the webhook has it in the version
 * `to`; those that are of it already stay as they are. ERR_UNKNOWN in upstream's words, and then
 * `*ret_answered` says whether the webhook has answered at all, so that it makes sense to ask it
 * for the objects one by one. */
int custom_webhook_call(struct arena *a, const struct custom_version *to, struct value *objs,
                        size_t n, bool *ret_answered, struct err *err);

/* One object, made to fit the schema of `to` as well: kind_custom.convert of those kinds. */
int custom_webhook_convert(struct arena *a, const struct kind_type *from,
                           const struct kind_type *to, struct value *in, struct value *ret,
                           struct err *err);

/* The same, whether or not there is a webhook, but nothing is pruned or filled in: as upstream
 * shows an object to those who are asked about it. */
int custom_webhook_convert_bare(struct arena *a, const struct kind_type *from,
                                const struct kind_type *to, struct value *in, struct value *ret,
                                struct err *err);

/* ---- Shared by the files of this ---- */

/* Sends one review and waits for the answer. ERR_UNKNOWN with the words that follow "failed: ". */
int custom_webhook__post(struct arena *a, const struct custom *c, struct str body, struct str *ret,
                         struct err *err);
/* The first of the definition's review versions that we speak; a NULL pointer: none. */
struct str custom_webhook__review_version(const struct custom_webhook *w);
