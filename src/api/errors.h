/* errors.h - what API requests are refused with, in upstream's words and with its details. Each
 * returns the negative code. */
#pragma once

#include "api/kind.h"
#include "base/err.h"

int error_not_found(struct err *err, const struct kind_resource *r, struct str name);
int error_exists(struct err *err, const struct kind_resource *r, struct str name);
/* The same where the server might have chosen another name. */
int error_none_generated(struct err *err, const struct kind_resource *r, struct str name);
/* Others were faster all the time; `verb` was not done. */
int error_try_again(struct err *err, const struct kind_resource *r, struct str verb);
/* The client has asked for more than it takes. */
int error_crowded(struct err *err);
/* "Operation cannot be fulfilled on ...: WHY" */
int error_conflict(struct err *err, const struct kind_resource *r, struct str name, struct str why);
/* The same, named by kind instead of by resource. */
int error_conflict_of(struct err *err, const struct kind_resource *r, struct str name,
                      struct str why);
/* The object of that key is not the one that the request is about; `now_uid` is empty if there is
 * none. */
int error_other_uid(struct err *err, const struct kind_resource *r, struct str name, struct str key,
                    struct str uid, struct str now_uid);
int error_modified(struct err *err, const struct kind_resource *r, struct str name);
int error_forbidden(struct err *err, const struct kind_resource *r, struct str name,
                    struct str why);
/* What custom kinds say of a method that they do not have; `verb` is empty for one that nobody has.
 */
int error_method(struct err *err, const struct kind_resource *r, const char *verb);
/* The namespace of a request does not exist. */
int error_no_namespace(struct err *err, struct str ns);
