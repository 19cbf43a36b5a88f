/* load_config.h - where a server is and who we are to it: from a kubeconfig, or a bare URL.
 *
 * Of a kubeconfig the current context counts. Files that it names are relative to its own folder,
 * as kubectl reads them. Left out, and refused by name: exec and auth-provider plugins, user and
 * password, proxies. Everything is copied into the arena. */
#pragma once

#include "base/err.h"

struct load_config {
    struct str host, port;  /* as in the URL, without brackets */
    struct str path;        /* of a bare URL; empty for a kubeconfig */
    struct str authority;   /* what the request says: HOST:PORT, IPv6 in brackets */
    struct str server_name; /* to be found in the certificate; the host unless told otherwise */
    struct str ca_pem, cert_pem, key_pem, token; /* empty: none */
    bool insecure;
};

/* `path` NULL: $KUBECONFIG, or ~/.kube/config. */
int load_config_read(struct arena *a, const char *path, struct load_config *ret, struct err *err);
/* https://HOST:PORT/PATH. Its certificate is not checked: there is nothing to check it against. */
int load_config_url(struct arena *a, struct str url, struct load_config *ret, struct err *err);
