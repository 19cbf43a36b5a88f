/* legacy_plan.h - tokens in Secrets that were made by the way and that nobody uses any more: first
 * they are said to be invalid, later they go. Rules only: no I/O.
 *
 * Days are text, "2026-11-16", so they compare as text. */
#pragma once

#include <sampan/value.h>

#define LEGACY_INVALID_SINCE "kubernetes.io/legacy-token-invalid-since"

enum legacy_step { LEGACY_STAYS, LEGACY_BECOMES_INVALID, LEGACY_GOES };

/* Whether the server has noted the use of tokens for so long; `map` is the ConfigMap where it says
 * since when. */
bool legacy_is_tracked(const struct spn_value *map, int64_t now_ns, int64_t period_ns);

/* Whether the Secret has not been used since `limit_ns`, as far as it says so itself. */
bool legacy_is_unused(const struct spn_value *secret, int64_t limit_ns);
/* Whether the account names it, as it does with tokens that were made by the way. NULL: no. */
bool legacy_is_generated(const struct spn_value *secret, const struct spn_value *account);
/* Whether the pod names it. */
bool legacy_is_in_pod(const struct spn_value *pod, struct spn_text secret_name);
/* Of one that is unused, generated and in no pod. */
enum legacy_step legacy_step(const struct spn_value *secret, int64_t limit_ns);
/* In the arena. */
struct spn_text legacy_day(struct spn_arena *a, int64_t ns);
