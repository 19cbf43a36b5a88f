/* convert_internal.h - kinds whose versions differ in more than names. */
#pragma once

#include "api/convert.h"

/* Each changes `obj`, of another version, so that it reads as one of `to`; fields that `to` does
 * not have may be left, they are dropped afterwards. */
void convert__autoscaler(struct arena *a, const struct kind_type *to, struct value *obj);
