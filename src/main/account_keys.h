/* account_keys.h - the keys of service account tokens: files, read and made.
 *
 * Without options the key is DIR/pki/sa.key, made on the first start and kept: who has it can be
 * anybody. */
#pragma once

#include "main/up_options.h"
#include "server/guard/identity.h"

/* A small file, in the arena. */
int account_text(struct arena *a, const char *path, struct str *ret, struct err *err);

/* A comma-separated list; NULL: none. */
struct identity_names account_names(const char *list);

/* Fills the keys, issuers and audiences; texts lie in the arena. DIR/pki exists. */
int account_keys_load(struct arena *a, const struct up_options *up, struct identity_options *ret,
                      struct err *err);
