/* suite_auth.h - shared by the tests of src/auth: trees from short texts. */
#pragma once

#include "base/value.h"

/* JSON with single quotes. */
struct value suite_tree(struct arena *a, const char *text);
