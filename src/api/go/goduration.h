/* goduration.h - durations as Go writes them: "1h30m", "1.5s", "300ms". */
#pragma once

#include "base/buf.h"
#include "base/err.h"

/* ERR_BAD_REQUEST in the words of Go's time.ParseDuration. */
int goduration_parse(struct str text, int64_t *ret_nanos, struct err *err);

/* "1m2.5s", as Go shows it. */
void goduration_write(struct buf *out, int64_t nanos);
