/* goduration.h - durations as Go writes them: "1h30m", "1.5s", "300ms". */
#pragma once

#include "base/err.h"

/* ERR_BAD_REQUEST in the words of Go's time.ParseDuration. */
int goduration_parse(struct str text, int64_t *ret_nanos, struct err *err);
