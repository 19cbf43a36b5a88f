/* config_internal.h - configuration, as far as its modules share it and tests decide what the
 * process would be asked for. */
#pragma once

#include <sampan/config.h>

#include "base/buf.h"
#include "client/config/kubeconfig.h"

/* What the process would say. NULL: nothing. */
struct config_environment {
    const char *kubeconfig, *home, *master;
    const char *service_host, *service_port, *pod_namespace;
    const char *https_proxy, *http_proxy, *no_proxy;
    const char *root; /* put before the folder of the service account; "" */
};

int config_load_in(const struct spn_config_options *opt, const struct config_environment *env,
                   struct spn_arena *a, struct spn_config *ret, struct spn_err *err);

/* What a configuration is made of: the chosen entries, with the options on top. Entries that there
 * are not are empty. */
struct config_parts {
    struct spn_text context_name;
    bool has_context;
    struct kube_context context;
    struct kube_cluster cluster;
    struct kube_user user;
    struct spn_text cluster_name, user_name;
};

/* Says all that is wrong, in the words of client-go. SPN_INVALID. `*ret_empty`, if that is all:
 * there is nothing in it. */
int config_check(const struct config_parts *parts, bool *ret_empty, struct spn_err *err);

/* The whole of a file. SPN_FILE. */
enum { CONFIG_FILE_BYTES = 4 << 20 };
int config_read_file(const char *path, struct buf *ret, struct spn_err *err);

/* The proxy that the environment names for a server; empty: none. HTTPS_PROXY, HTTP_PROXY and
 * NO_PROXY are read as Go reads them: nobody reaches this machine itself through a proxy. In the
 * arena. SPN_INVALID: it cannot be understood. */
int config_proxy(const struct config_environment *env, struct spn_text server, struct arena *a,
                 struct spn_text *ret, struct spn_err *err);

/* Whether its credentials may be sent. */
bool config_is_secure(struct spn_text server);
