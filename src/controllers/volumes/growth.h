/* growth.h - claims that ask for more room than they have. Rules only: no I/O. */
#pragma once

#include "controllers/volumes/plan.h"

#define NOTE_BEFORE_RESIZE "volume.alpha.kubernetes.io/pre-resize-capacity"

/* Whether a bound claim asks for more, or has got more, than before; `old_claim` may be NULL. */
bool claim_has_grown(const struct spn_value *old_claim, const struct spn_value *claim);
/* Whether its volume, which says that it is the claim's, is smaller than it should be. */
bool claim_should_grow(const struct spn_value *claim, const struct spn_value *volume);
/* The plugin that volumes of this kind had before there were drivers; empty: none. */
struct spn_text volume_old_plugin(const struct spn_value *volume);
