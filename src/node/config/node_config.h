/* node_config.h - how an agent works, as a KubeletConfiguration says
 * (kubelet.config.k8s.io/v1beta1).
 *
 * A file of a kubelet can be used as it is. Fields that upstream does not know are refused; those
 * that it knows and that mean nothing here are named, so that somebody can be told. */
#pragma once

#include "node/agent/agent.h"
#include "node/register/register.h"

struct node_config {
    struct agent_options agent;
    struct register_options node;
    /* The endpoint: what serve.h is told. */
    struct str address, tls_cert_file, tls_key_file, client_ca_file, authorization;
    bool serves, anonymous, webhook;
    /* Certificates and the runtime. */
    struct str runtime_endpoint;
    bool rotates_client, asks_for_serving;
    struct str *ignored; /* fields of the file */
    size_t n_ignored;
};

/* The usual values of upstream. */
struct node_config node_config_usual(void);

/* Texts lie in the arena, which outlives what uses them. ERR_INVALID says which field is wrong, in
 * upstream's words where it has some. What the file does not say stays as it is in `ret`. */
int node_config_read(struct arena *a, struct str yaml, struct node_config *ret, struct err *err);
