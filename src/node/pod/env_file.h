/* env_file.h - a file of variables that a container wrote for another (fileKeyRef): NAME='value'
 * lines, as a shell reads them. Rules only: no I/O. */
#pragma once

#include "base/err.h"

/* Empty if the name is not there. ERR_INVALID: the file is not of that form, up to the name. */
int env_file_get(struct arena *a, struct str file, struct str name, struct str *ret,
                 struct err *err);
