/* go_dump_quantity.h - the inside of Go's resource.Quantity, as its parser leaves it. */
#pragma once

#include "base/buf.h"

/* "{i:(resource.int64Amount){...} d:... s:(string)100m Format:(resource.Format)DecimalSI}".
 * Empty text is a quantity that is not there. */
void go_dump_quantity(struct buf *out, struct str text);
