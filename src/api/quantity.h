/* quantity.h - resource quantities: "500m", "1.5Gi", "1e3", exact.
 *
 * A quantity is a decimal number with one of three suffix families, which it keeps when written:
 * binary (Ki to Ei), decimal (n u m, none, k to E) or an exponent (e3, E3). As upstream has it:
 * what is finer than a nano is rounded away from zero, binary values end at 2^63-1, decimal ones
 * have no end, and a short text that already has the right suffix stays as it was typed ("+5",
 * "1.500"). Rules only: no I/O. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

/* Bounds where upstream has none: the text, and the power of ten it may name. */
enum { QUANTITY_BYTES_MAX = 1024, QUANTITY_EXPONENT_MAX = 1000000000 };

/* The text that upstream would write: no fraction, the largest suffix that loses nothing, or `text`
 * itself where upstream keeps it. In the arena, or `text`. ERR_BAD_REQUEST with upstream's words.
 */
int quantity_canonical(struct arena *a, struct str text, struct str *ret, struct err *err);

/* The text that upstream would write after rounding up (away from zero) to whole millis; `text`
 * itself where it has nothing finer, or is no quantity. In the arena, or `text`. */
struct str quantity_round_milli(struct arena *a, struct str text);

/* Compares two texts that are quantities: below, equal, above as -1, 0, 1. */
int quantity_cmp(struct str a, struct str b);
/* The sum of two texts that are quantities and not below zero, in the suffix family of the first
 * that is not zero; at most 2^63-1. A negative one counts as nothing. In the arena, or one of the
 * texts. */
struct str quantity_add(struct arena *a, struct str text, struct str more);
/* What is left of a text when the other is taken away, both not below zero: zero if that is more.
 * In the arena, or the text. */
struct str quantity_subtract(struct arena *a, struct str text, struct str less);
/* -1, 0 or 1: the sign of a text that is a quantity. */
int quantity_sign(struct str text);
/* The number of ones or, with `milli`, of thousandths that a text which is a quantity stands for,
 * rounded away from zero. False if that is beyond an int64_t. */
bool quantity_units(struct str text, bool milli, int64_t *ret);

/* Whether a text that is a quantity has no fraction. */
bool quantity_is_whole(struct str text);
/* The value, for rules that compare ratios; not exact, as with upstream. */
double quantity_double(struct str text);
