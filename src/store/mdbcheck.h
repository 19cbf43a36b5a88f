/* mdbcheck.h - is this file a sound LMDB tree? Asked before LMDB sees it.
 *
 * LMDB maps its file and follows page numbers and offsets without looking twice: a damaged page
 * can crash the process or hand out other memory. This reads the same file on its own, read-only,
 * and follows everything reachable: the two meta pages, each tree down to the sizes of its nodes,
 * the order of keys, large values, the list of free pages. Values are not summed here; the view
 * does that when it reads them. Knows the format of LMDB 0.9 (data version 1) on little-endian
 * 64-bit machines. */
#pragma once

#include "base/err.h"

/* ERR_DAMAGED names the file and the page. The file must not be open for writing elsewhere. */
int mdbcheck_file(const char *path, struct err *err);
/* The same for bytes in memory; `name` is used in messages. */
int mdbcheck_bytes(struct str bytes, const char *name, struct err *err);
