/* token_file.h - static tokens: a file of lines TOKEN,USER,UID[,"GROUP,GROUP..."] with Go's rules
 * for comma-separated values. Sealed once read; any thread may ask. */
#pragma once

#include "auth/user.h"
#include "base/err.h"

struct token_file;

/* `name` is for messages. ERR_INVALID. */
int token_file_read(struct str text, struct str name, struct token_file **ret, struct err *err);
struct token_file *token_file_free(struct token_file *f);

/* Who has this token; NULL: nobody. Groups include system:authenticated. */
const struct user *token_file_user(const struct token_file *f, struct str token);
