/* schema_format.h - the formats of strings that custom resources may name. */
#pragma once

#include "base/regexp.h"

struct schema_format;

/* NULL where `name` means nothing for these types (enum schema_type). Dashes do not count. */
const struct schema_format *schema_format_find(struct str name, unsigned types);
/* What the text must match, compiled; NULL: nothing. */
const struct regexp *schema_format_pattern(struct arena *a, const struct schema_format *f);
/* Whether it is a format of strings: those of numbers are checked elsewhere. */
bool schema_format_is_text(const struct schema_format *f);
/* `pattern` is what schema_format_pattern() gave. */
bool schema_format_fits(struct arena *a, const struct schema_format *f,
                        const struct regexp *pattern, struct str text);
