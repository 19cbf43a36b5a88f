/* custom_objects.h - all objects of a custom kind at once, when its definition goes. */
#pragma once

#include "server/core/api.h"

/* Deletes what can be deleted and marks the rest, whose finalizers hold it. `*ret_left` is how many
 * there still are. Waits for the store. */
int custom_objects_delete(struct api *api, const struct value *crd, size_t *ret_left,
                          struct err *err);
