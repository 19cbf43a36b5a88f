/* share.h - numbers that may be given as a part of a whole: 2 or "25%". */
#pragma once

#include <sampan/value.h>

/* A part of `total` is rounded up or down. What is neither is 0. */
int64_t share_of(const struct spn_value *v, int64_t total, bool is_up);
