/* exec_plugin.h - credentials from a program, by the rules of client.authentication.k8s.io. */
#pragma once

#include <sampan/config.h>

struct exec_credential {
    struct spn_text token, cert, key; /* in the arena */
    int64_t expires_ns;               /* since 1970; INT64_MAX: never */
};

/* Waits for the program. `ca` is what the program is told of the cluster's authority, as PEM.
 * SPN_UNAUTHORIZED, in the words of client-go. */
int exec_plugin_run(const struct spn_config *cfg, struct spn_text ca, struct spn_arena *a,
                    struct exec_credential *ret, struct spn_err *err);
/* Understands what it has written. */
int exec_plugin_read(const struct spn_exec *exec, struct spn_text output, struct spn_arena *a,
                     struct exec_credential *ret, struct spn_err *err);
