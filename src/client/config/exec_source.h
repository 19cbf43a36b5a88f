/* exec_source.h - what a credential plugin has said, for all who have configured it alike for the
 * same cluster. So it runs once for all clients of a program, and asks its user once. Any thread.
 */
#pragma once

#include "client/config/exec_plugin.h"

struct exec_source;

/* The one for this configuration, which has a plugin; shared with those who have an equal one. */
struct exec_source *exec_source_ref(const struct spn_config *cfg);
struct exec_source *exec_source_unref(struct exec_source *s);

struct exec_question {
    const struct spn_config *cfg;
    struct spn_text ca; /* what the plugin is told of the cluster's authority, as PEM */
    int64_t now_ns;     /* since 1970 */
    uint64_t refused;   /* the serial of what the server has refused; 0: nothing */
};

/* What it says now. The plugin runs if nothing is known, or if that has expired or was refused.
 * `*ret_serial` is above 0 and grows each time the plugin runs. May wait for the plugin. The texts
 * are in the arena. */
int exec_source_get(struct exec_source *s, const struct exec_question *q, struct spn_arena *a,
                    struct exec_credential *ret, uint64_t *ret_serial, struct spn_err *err);
