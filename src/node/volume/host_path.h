/* host_path.h - paths of the node, checked for what the pod expects there. */
#pragma once

#include "base/err.h"
#include "base/value.h"

/* `source` is a hostPath. Makes what is to be made. The messages are those of events. */
int host_path_check(struct arena *a, const struct value *source, struct err *err);
/* "File", "Directory", "Socket", "CharDevice", "BlockDevice"; empty with an error. */
int host_path_type(struct arena *a, struct str path, struct str *ret, struct err *err);
