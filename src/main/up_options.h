/* up_options.h - the command line of `sampan up`. */
#pragma once

#include "admission/config.h"
#include "api/kind.h"
#include "base/log.h"
#include "controllers/controllers.h"
#include "main/own_node.h"
#include "main/up_accounts.h"
#include "main/up_etcd.h"
#include "main/up_kubelet.h"
#include "main/up_openid.h"
#include "server/audit/audit.h"
#include "server/flow/flow.h"
#include "server/guard/authorization.h"
#include "store/store.h"

/* What is done while it serves, in place of waiting for a signal. Returns an exit status, or a
 * negative code with `*err` filled; then the control plane ends. */
struct up_guest {
    int (*run)(void *self, struct str address, const char *kubeconfig, struct err *err);
    void *self;
};

struct up_options {
    const char *dir, *listen, *advertise, *kubeconfig, *service_cidr, *service_ports, *token_file;
    int64_t event_ttl_ns, continue_ttl_ns, certificate_ttl_ns; /* 0: the usual */
    enum store_engine engine;
    struct authorization_options authorization;
    bool has_authorization_flags; /* beside that of its file */
    struct token_webhook_options token_webhook;
    struct admission_choice admission;
    struct admission_options admission_options;
    enum kind_choice versions;
    enum log_format log_format;
    enum log_level log_level;
    bool detach, hides_managers, new_ca, no_anonymous, leaves_roles, leaves_quotas, leaves_policies,
        bootstrap_tokens;
    /* What acts on the API. */
    bool api_only, no_scheduler;
    struct controllers_options controllers; /* which, and how they work */
    unsigned simulated_nodes;               /* 0: none */
    enum own_node_mode node;
    const char *node_config; /* NULL: none */
    bool has_anonymous;      /* --anonymous-auth was given */
    struct up_accounts accounts;
    const char *encryption_config;
    bool encryption_reloads;
    const char *tls_cert, *tls_key; /* what is shown to clients, instead of our own */
    const char *client_ca;          /* beside our own */
    const char *proxy_ca, *proxy_allowed, *proxy_users, *proxy_uids, *proxy_groups, *proxy_extra;
    const char *proxy_cert, *proxy_key; /* as whom it speaks for others */
    struct up_openid openid;
    struct audit_options audit;
    struct flow_options flow;
    struct up_kubelet kubelet;
    struct up_etcd etcd;
    struct up_guest guest; /* run == NULL: there is none */
};

/* 0, or an exit status + 1 after the help or a message was printed. Text of `*ret` lies in argv. */
int up_options_parse(int argc, char **argv, struct up_options *ret);

/* Starts a control plane as the command `name`, serves until it is to end, and returns the exit
 * status (cmd_up.c). */
int up_run(const char *name, struct up_options *opt);
