/* gofloat.h - a double as Go's JSON encoder writes it. */
#pragma once

#include "base/arena.h"

/* The shortest digits that read back as `d` (finite): plain, or with an exponent below 1e-6 and
 * from 1e21 on. In the arena, or static. */
struct str gofloat_text(struct arena *a, double d);
