/* format.h - the clauses of a format string ("%d of %.2f"), for the function that fills them in and
 * for the check of calls whose text and arguments can be seen. Private to this folder. */
#pragma once

#include "base/buf.h"

enum { FORMAT_NO_PRECISION = -1 };

struct format_clause {
    char verb;     /* one of s d f e b x X o */
    int precision; /* or FORMAT_NO_PRECISION */
    size_t index;  /* of the argument */
};

/* NULL, or what is wrong with the value for this clause; then nothing was added to `out`. */
typedef const char *format_fill(void *self, struct format_clause clause, struct buf *out);

/* NULL, or what is wrong, in the arena or static. `*ret_used` counts the clauses. */
const char *format_run(struct arena *a, struct str format, size_t n_args, format_fill *fill,
                       void *self, struct buf *out, size_t *ret_used);

/* What is wrong with a value of this type under this verb. In the arena. */
const char *format_bad_type(struct arena *a, char verb, struct str type);
