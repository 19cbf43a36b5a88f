/* patch_many.h - patches of several objects that are under way at once, while one thread waits.
 *
 * For those who have much to say at the same moment. All requests leave together and are answered
 * together, so they cost a few wake-ups instead of some for each. */
#pragma once

#include <sampan/client.h>

struct patch_one {
    struct spn_target at;
    struct spn_text patch;
    int result; /* 0, or a negative code */
};

/* Each is what spn_client_patch() would be. Waits for all. Memory is of the arena. */
void client_patch_many(struct spn_client *c, enum spn_patch_kind kind, struct patch_one *all,
                       size_t n, const struct spn_call *how, struct spn_arena *a);
