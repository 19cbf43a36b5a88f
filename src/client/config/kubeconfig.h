/* kubeconfig.h - the entries of kubeconfig files, merged by kubectl's rules: of each name the first
 * entry counts, and the first current-context. No I/O. */
#pragma once

#include <sampan/config.h>

#include "base/arena.h"

struct kube_cluster {
    struct spn_text name, server, tls_server_name, ca_file, ca_data, proxy_url;
    bool insecure, disable_compression;
    const struct spn_value *exec_config; /* its extension for credential plugins, or NULL */
};

struct kube_user {
    struct spn_text name, cert_file, cert_data, key_file, key_data, token, token_file;
    struct spn_text username, password, auth_provider;
    struct spn_impersonation as;
    struct spn_exec *exec;
};

struct kube_context {
    struct spn_text name, cluster, user, ns;
};

enum { KUBECONFIG_ENTRIES = 10000 }; /* of one kind; more are refused */

struct kube_list {
    void *items;
    size_t n;
};

struct kubeconfig {
    struct arena *arena; /* of everything below */
    struct kube_list clusters, users, contexts;
    struct spn_text current_context;
};

/* Adds what one file says. Relative paths in it are relative to `folder`, which is absolute. Text
 * is copied into the arena. SPN_MALFORMED names the entry that is wrong. */
int kubeconfig_add(struct kubeconfig *k, struct spn_text text, struct spn_text folder,
                   struct spn_err *err);

/* NULL: there is none of that name. */
const struct kube_cluster *kubeconfig_cluster(const struct kubeconfig *k, struct spn_text name);
const struct kube_user *kubeconfig_user(const struct kubeconfig *k, struct spn_text name);
const struct kube_context *kubeconfig_context(const struct kubeconfig *k, struct spn_text name);
