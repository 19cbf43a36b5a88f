/* quantity.h - resource quantities: "500m", "1.5Gi", "1e3", exact.
 *
 * A quantity is a decimal number with one of three suffix families, which it keeps when written:
 * binary (Ki to Ei), decimal (n u m, none, k to E) or an exponent (e3, E3). Values are bounded as
 * upstream bounds them: below 2^63-1 in magnitude, and rounded up to whole nanos. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

/* The canonical text: no fraction, the largest suffix that loses nothing. In the arena, or `text`
 * itself if it is canonical. ERR_BAD_REQUEST with upstream's words. */
int quantity_canonical(struct arena *a, struct str text, struct str *ret, struct err *err);

/* Compares two texts that are quantities: below, equal, above as -1, 0, 1. */
int quantity_cmp(struct str a, struct str b);
/* -1, 0 or 1: the sign of a text that is a quantity. */
int quantity_sign(struct str text);
