/* message_duration.h - durations as the JSON form of protobuf has them: "1.5s", "-0.000000001s". */
#pragma once

#include "base/arena.h"

/* The whole of it; both parts have the same sign. At most nine digits behind the point, and some
 * 10,000 years. False: it is none. */
bool message_duration_read(struct str text, int64_t *ret_seconds, int32_t *ret_nanos);
struct str message_duration_text(struct arena *a, int64_t seconds, int32_t nanos);
