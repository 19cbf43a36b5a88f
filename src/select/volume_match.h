/* volume_match.h - which persistent volumes suit a claim: what the volume binder and the scheduler
 * have to say alike.
 *
 * Claims and volumes are trees (v1). Text that is returned is borrowed from them. Rules only: no
 * I/O. */
#pragma once

#include "select/labels.h"

/* The storage class; empty if there is none. */
struct str claim_class(const struct value *claim);
struct str volume_class(const struct value *volume);
/* Whether the claim says which class it wants, even if it is none at all (""). */
bool claim_has_class(const struct value *claim);
/* Whether the class leaves it to the scheduler to bind claims. */
bool class_waits_for_consumer(const struct value *class);

/* "Filesystem" or "Block", of a claim or a volume. */
struct str volume_mode(const struct value *obj);
/* Whether the volume can be used in all ways that the claim asks for. */
bool volume_has_modes(const struct value *volume, const struct value *claim);
size_t volume_count_modes(const struct value *volume); /* without repetitions */
/* Compares how much they hold: -1, 0, 1. */
int volume_cmp_size(const struct value *a, const struct value *b);
int claim_cmp_size(const struct value *a, const struct value *b); /* how much they ask for */
/* Whether the volume has room for what the claim asks for. */
bool volume_is_large_enough(const struct value *volume, const struct value *claim);
bool volume_has_attributes(const struct value *volume, const struct value *claim);
/* Whether the volume says that it is this claim's: its uid counts if it is said. */
bool volume_is_for(const struct value *volume, const struct value *claim);

enum volume_fit {
    VOLUME_UNFIT,
    VOLUME_FITS,     /* it is free */
    VOLUME_RESERVED, /* it is this claim's already */
};
/* Access modes and nodes are not looked at. `selector` is that of the claim; NULL: it has none. */
enum volume_fit volume_fit(const struct value *volume, const struct value *claim,
                           const struct labels_selector *selector);

/* The reference of spec.claimRef. Text is borrowed. */
struct value claim_reference(struct arena *a, const struct value *claim);
/* The volume says that it is the claim's. True: it did not before. */
bool volume_set_claim(struct arena *a, struct value *volume, const struct value *claim);
