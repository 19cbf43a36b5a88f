/* history.h - ControllerRevisions: templates that an owner had, by number and by hash.
 *
 * The data of a revision is a patch that brings the template back. It is compared as a tree; its
 * hash is of the bytes that upstream would write: sorted keys, with Go's escapes. */
#pragma once

#include <sampan/controller.h>

/* The patch: {"spec":{"template":{..., "$patch":"replace"}}}. */
struct spn_value *history_data(struct spn_arena *a, const struct spn_value *owner);
/* The template in a patch. */
struct spn_value *history_template(struct spn_arena *a, const struct spn_value *revision);
/* `collisions` below zero: none. */
struct spn_text history_hash(struct spn_arena *a, const struct spn_value *data, int64_t collisions);

/* By number, then by age and name. */
void history_sort(struct spn_value **revisions, size_t n);
int64_t history_number(const struct spn_value *revision);
bool history_is_equal(const struct spn_value *revision, const struct spn_value *data);

/* A revision of the owner's template, not made yet: named and labelled by its hash, annotated as
 * the owner is. */
struct spn_value *history_new(struct spn_arena *a, const struct spn_value *owner, int64_t number,
                              int64_t collisions);

/* The revision of the owner's template, found among `revisions` (sorted), numbered anew if it is an
 * older one, or made. `*collisions` grows where a hash is taken. */
int history_current(struct spn_work *w, const struct spn_value *owner, struct spn_value **revisions,
                    size_t n, int64_t *collisions, struct spn_value **ret, struct spn_err *err);
/* Deletes the oldest of those that are not alive, but for `limit` of them. */
int history_truncate(struct spn_work *w, struct spn_value **revisions, size_t n,
                     bool (*is_alive)(void *arg, struct spn_text name), void *arg, int64_t limit,
                     struct spn_err *err);
