/* kubeconfig.h - how to reach a webhook: a file in the form of a kubeconfig. Its current
 * context counts; without one, its first cluster and user. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

struct kubeconfig {
    struct str server;            /* URL */
    struct str server_name;       /* empty: that of the URL */
    struct str ca_pem;            /* empty: the system's authorities */
    struct str cert_pem, key_pem; /* empty: none */
    struct str authorization;     /* the header's value; empty: none */
    bool insecure;                /* nobody looks at its certificate */
};

/* Reads the file and those that it names, which may be relative to it. Everything lies in the
 * arena. ERR_INVALID, or what keeps a file from being read. */
int kubeconfig_read(struct arena *a, const char *path, struct kubeconfig *ret, struct err *err);
