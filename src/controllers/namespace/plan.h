/* plan.h - what is left of a namespace that is being deleted, and what its conditions say of it.
 *
 * Rules only: no I/O, no clock. Memory is the arena's. */
#pragma once

#include <sampan/mapper.h>

/* Names with how often each was seen. */
struct namespace_count {
    struct spn_text name;
    int64_t n;
};
struct namespace_counts {
    struct namespace_count *items;
    size_t n;
};

/* What one pass has found. All zero: nothing yet. */
struct namespace_pass {
    struct spn_texts missing;           /* parts of the API that did not answer: "group/version" */
    struct spn_texts failures;          /* messages */
    struct namespace_counts resources;  /* "pods." */
    struct namespace_counts finalizers; /* of what remains */
    int64_t estimate_sec;               /* until it is worth while to look again; 0: none */
};

/* The longest time that any pod may take to end; 0 if that has passed since the deletion. */
int64_t namespace_grace(const struct spn_value *pods, int64_t so_far);
int64_t namespace_grace_left(int64_t grace, int64_t deleted_sec, int64_t now_sec);

/* `items` of a resource are still there, and `finalizers` are theirs. True: it was to be expected,
 * because they end gracefully (`grace` is not 0) or wait for somebody. */
bool namespace_remain(struct spn_arena *a, struct namespace_pass *p, const struct spn_resource *r,
                      int64_t items, const struct namespace_counts *finalizers, int64_t grace);
void namespace_count_finalizers(struct spn_arena *a, const struct spn_value *items,
                                struct namespace_counts *counts);

/* Sets status.conditions. True: something has changed. Totals are only told once everything was
 * looked at (`is_whole`). */
bool namespace_conditions(struct spn_arena *a, struct spn_value *ns, struct namespace_pass *p,
                          bool is_whole);

/* Without our finalizer; for the subresource "finalize". */
void namespace_finalize(struct spn_arena *a, struct spn_value *ns);
