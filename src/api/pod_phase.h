/* pod_phase.h - status.phase of a pod, as far as rules go by it. */
#pragma once

#include "api/words.h"

/* Whether all containers of the pod have ended, and none will start again. */
static inline bool pod_phase_is_final(struct str phase)
{
    static const struct str final[] = { STR("Succeeded"), STR("Failed") };
    return words_have(phase, WORDS(final));
}
