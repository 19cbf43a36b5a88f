/* cni.h - the files that tell CNI how pods get onto a network.
 *
 * One file for each bridge, "90-BRIDGE.conflist", in a folder that container runtimes or a meta
 * plugin read. A file is complete or not there: it is written beside and renamed. */
#pragma once

#include <sampan/err.h>

#include "plan.h"

/* What belongs into the file: bridge, address range, gateway, MTU. In the arena. */
struct spn_text cni_text(struct spn_arena *a, struct spn_text key, const struct plan_want *want);

/* 1: it was written; 0: it was there already, word by word. SPN_FILE: it cannot be written. */
int cni_write(const char *folder, const char *bridge, struct spn_text text, struct spn_err *err);
int cni_remove(const char *folder, const char *bridge, struct spn_err *err); /* not there: done */

/* Names of bridges that have a file, each lent during the call. No such folder: none. */
int cni_each_bridge(const char *folder, void (*fn)(void *arg, const char *bridge), void *arg,
                    struct spn_err *err);
