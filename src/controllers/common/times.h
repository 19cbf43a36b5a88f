/* times.h - times in objects, in nanoseconds since 1970. */
#pragma once

#include <sampan/value.h>

/* "2026-11-16T10:00:00Z"; one that is too far away is as far as gotime_read_ns() goes. False: it is
 * none. */
bool time_read(const struct spn_value *v, int64_t *ret_ns);
/* In the arena, whole seconds. */
struct spn_text time_text(struct spn_arena *a, int64_t wall_ns);
int64_t time_now(void);
