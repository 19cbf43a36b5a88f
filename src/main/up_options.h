/* up_options.h - the command line of `sampan up`. */
#pragma once

#include "admission/admission.h"
#include "api/kind.h"
#include "base/log.h"
#include "server/audit/audit.h"
#include "server/flow/flow.h"
#include "server/guard/guard.h"
#include "server/guard/identity.h"
#include "store/store.h"

struct up_options {
    const char *dir, *listen, *advertise, *kubeconfig, *service_cidr, *service_ports, *token_file;
    int64_t event_ttl_ns, continue_ttl_ns, certificate_ttl_ns; /* 0: the usual */
    enum store_engine engine;
    struct guard_modes authorization;
    struct admission_choice admission;
    enum kind_choice versions;
    enum log_format log_format;
    enum log_level log_level;
    bool detach, hides_managers, new_ca, no_anonymous, leaves_roles, bootstrap_tokens;
    /* Tokens of service accounts. */
    const char *signing_key, *audiences;
    const char *encryption_config;
    bool encryption_reloads;
    const char *client_ca; /* beside our own */
    const char *proxy_ca, *proxy_allowed, *proxy_users, *proxy_uids, *proxy_groups, *proxy_extra;
    const char *account_keys[IDENTITY_NAMES_MAX], *issuers[IDENTITY_NAMES_MAX];
    size_t n_account_keys, n_issuers;
    struct audit_options audit;
    struct flow_options flow;
};

/* 0, or an exit status + 1 after the help or a message was printed. Text of `*ret` lies in argv. */
int up_options_parse(int argc, char **argv, struct up_options *ret);
