/* indexes.h - sets of completion indexes, as a Job's status writes them: "1,3-5,7". In an arena. */
#pragma once

#include <sampan/base.h>

struct span {
    int64_t first, last;
};

struct spans { /* in order, none touches the next */
    struct span *items;
    size_t n;
};

/* Only those below `completions`. What cannot be read is left out. */
struct spans spans_parse(struct spn_arena *a, struct spn_text text, int64_t completions);
struct spn_text spans_text(struct spn_arena *a, struct spans s);
struct spans spans_merge(struct spn_arena *a, struct spans x, struct spans y);
/* With these, too, which are in any order; they are sorted. */
struct spans spans_with(struct spn_arena *a, struct spans s, int64_t *indexes, size_t n);
int64_t spans_total(struct spans s);
bool spans_has(struct spans s, int64_t index);
/* How many indexes are in both. */
int64_t spans_common(struct spans x, struct spans y);
/* The first `max` indexes below `completions` that are not in `s`. */
size_t spans_missing(struct spans s, int64_t completions, int64_t *ret, size_t max);
