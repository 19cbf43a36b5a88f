/* text_diff.h - two texts as a unified diff with three lines of context and no header, in the very
 * form that upstream's messages have (Python's difflib): the longest run of equal lines first, then
 * what is left and right of it. In texts of 200 lines and more, lines that are common in the second
 * one do not start a run. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"

/* Nothing is added where the texts are equal, or one has more than LIMIT_DIFF_LINES lines. The
 * arena holds what is needed on the way. */
void text_diff(struct buf *out, struct arena *a, struct str before, struct str after);
