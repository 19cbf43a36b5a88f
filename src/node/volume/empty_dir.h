/* empty_dir.h - folders that live as long as their pod: on disk, in memory, or in huge pages. */
#pragma once

#include "node/volume/payload.h"

/* Makes the folder unless it is ready. `source` is the volume's emptyDir; NULL: of a volume that
 * shows objects, in memory if `in_memory`. `name` is the one that its mark has. */
int empty_dir_make(struct arena *a, const struct payload_case *c, struct str name, struct str path,
                   const struct value *source, bool in_memory, struct err *err);
