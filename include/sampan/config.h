/* sampan/config.h - which server, and as whom: from kubeconfig files, from a pod, or by hand.
 *
 *     struct spn_config_options opt = { 0 };
 *     struct spn_config cfg;
 *     if (spn_config_flags(a, &argc, argv, &opt, &err) < 0 ||
 *         spn_config_load(&opt, a, &cfg, &err) < 0)
 *         ...
 *
 * Files, their order and how they are merged, and what is refused, are as kubectl and client-go
 * have it. A configuration is plain text that lies in an arena; a program may as well fill in its
 * own. What is sent at a given moment, tokens and certificates, is said by sampan/credentials.h. */
#pragma once

#include <sampan/value.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One of the things that are known of a user beside name and groups. */
struct spn_extra {
    struct spn_text key;
    struct spn_texts values;
};

/* For whom to speak. An empty user: for oneself. */
struct spn_impersonation {
    struct spn_text user, uid;
    struct spn_texts groups;
    const struct spn_extra *extra;
    size_t n_extra;
};

/* A program that knows the credentials (client.authentication.k8s.io). */
struct spn_exec {
    struct spn_text command, api_version, install_hint;
    struct spn_text interactive_mode; /* "Never", "IfAvailable", "Always" */
    struct spn_texts args;
    const struct spn_pair *env;
    size_t n_env;
    bool provide_cluster_info;
    const struct spn_value *cluster_config; /* what the cluster's entry has for it, or NULL */
};

struct spn_config {
    struct spn_text server; /* "https://host:port/path"; http has no credentials */
    struct spn_text tls_server_name;
    bool insecure;                    /* whoever answers is believed */
    struct spn_text ca_data, ca_file; /* PEM; data comes before its file, here and below */
    struct spn_text cert_data, cert_file, key_data, key_file;
    struct spn_text token, token_file; /* the file, as long as it can be read */
    struct spn_text username, password;
    const struct spn_exec *exec; /* NULL: none; used if there is nothing else of the above */
    struct spn_text proxy_url;   /* http, https or socks5 */
    bool disable_compression;
    struct spn_impersonation as;
    struct spn_text ns;         /* the namespace to work in; "default" if nothing says another */
    bool ns_is_chosen;          /* by an option; not only by a file, a pod or for want of another */
    bool is_in_cluster;         /* from the pod that the program runs in */
    double qps;                 /* requests per second; 0: the usual, negative: any number */
    unsigned burst;             /* 0: the usual */
    int64_t timeout_ms;         /* of one request; 0: none */
    struct spn_text user_agent; /* empty: the usual */
    /* Objects of built-in kinds as protobuf, which is smaller and quicker to read. Fields that are
     * newer than this library are then not seen, so who updates what he has read takes JSON. */
    bool protobuf;
};

/* What a user says beside his files. NULL, 0 and false: nothing. */
struct spn_config_options {
    const char *kubeconfig; /* only this file, which must be there */
    const char *context, *cluster, *user, *ns;
    const char *server, *tls_server_name, *certificate_authority, *proxy_url;
    const char *client_certificate, *client_key, *token, *username, *password;
    const char *as, *as_uid;
    struct spn_texts as_groups;
    struct spn_texts as_extra; /* "key=value" each */
    bool insecure, disable_compression;
    double qps;
    unsigned burst;
    int64_t timeout_ms;
    const char *user_agent;
};

/* From the file that `opt` names; else from those in $KUBECONFIG, which are merged; else from
 * ~/.kube/config. If they say nothing, and the program runs in a pod, from its service account. A
 * proxy that they do not name may be named by $HTTPS_PROXY or $HTTP_PROXY, but not for $NO_PROXY.
 * `opt` may be NULL. SPN_FILE: a file cannot be read. SPN_MALFORMED: it cannot be understood.
 * SPN_NOT_FOUND: there is no such context, cluster or user. SPN_INVALID: it makes no sense, or
 * there is none at all. */
SPN_API int spn_config_load(const struct spn_config_options *opt, struct spn_arena *a,
                            struct spn_config *ret, struct spn_err *err);
/* The same server, and nobody's credentials: no certificate, token, file, password, plugin or
 * impersonation, for requests to a server that is not to know who asks. The way there stays, so a
 * proxy may still want its own password. Texts are those of `cfg`. */
SPN_API struct spn_config spn_config_anonymous(const struct spn_config *cfg);
/* From the text of one kubeconfig. Relative paths in it are relative to the current folder. */
SPN_API int spn_config_read(struct spn_text text, const struct spn_config_options *opt,
                            struct spn_arena *a, struct spn_config *ret, struct spn_err *err);

/* Takes the usual flags of clients out of the arguments, up to "--": --kubeconfig, --context,
 * --cluster, --user, -n and --namespace, -s and --server, --token, --as, --as-group, --as-uid,
 * --as-user-extra, --request-timeout, --kube-api-qps, --kube-api-burst, --insecure-skip-tls-verify,
 * --certificate-authority, --client-certificate, --client-key, --tls-server-name, --proxy-url,
 * --username, --password, --disable-compression. What is left in `argv` keeps its order. `ret`
 * keeps what no flag says. SPN_BAD_REQUEST: a flag without its value, or a value that makes no
 * sense; then `argv` is in disorder. */
SPN_API int spn_config_flags(struct spn_arena *a, int *argc, char **argv,
                             struct spn_config_options *ret, struct spn_err *err);

#ifdef __cplusplus
}
#endif
