/* serve.h - the agent's HTTPS endpoint, as the API server and others know it from kubelets: logs,
 * exec, attach, port-forward, pods, statistics, metrics, health. Whoever asks is authenticated and
 * authorized first. */
#pragma once

#include <sampan/client.h>

#include "node/cri/cri.h"
#include "node/pod/node_facts.h"

/* A container as the server needs it. */
struct served_container {
    struct str id; /* of the runtime: "containerd://..." without the scheme; empty: not made yet */
    struct str log_path; /* of its log on this machine; empty: there is none */
    bool is_running;
    const struct value *status; /* its entry in the pod's status; NULL: none yet */
};

/* What it asks the agent. Any thread; none of these blocks for long. */
struct serve_agent {
    void *arg;
    /* All pods with their current status, an array of Pod objects. */
    void (*pods)(void *arg, struct arena *a, struct value *ret);
    /* The pod, static ones by their own name or that of their mirror; `uid` empty: any. NULL: none.
     */
    const struct value *(*pod)(void *arg, struct str ns, struct str name, struct str uid,
                               struct arena *a);
    /* ERR_NOT_FOUND: no such container in that pod. `previous`: the one before the current one. */
    int (*container)(void *arg, const struct value *pod, struct str name, bool previous,
                     struct arena *a, struct served_container *ret, struct err *err);
    struct str (*sandbox)(void *arg, const struct value *pod,
                          struct arena *a); /* id; empty: none */
    bool (*is_healthy)(void *arg);          /* its loop goes round */
};

struct serve_options {
    struct str listen;            /* "0.0.0.0:10250" */
    struct str cert_pem, key_pem; /* to serve with; empty: see serve_set_certificate() */
    struct str client_ca;         /* PEM: whose certificates name users; empty: none */
    bool anonymous;               /* whoever shows nothing is system:anonymous */
    bool webhook_authentication;  /* bearer tokens: TokenReview */
    bool always_allow;            /* else SubjectAccessReview */
    const struct value *config;   /* what /configz shows as "kubeletconfig"; NULL: nothing */
    const struct node_facts *node;
    struct cri *cri;
    struct spn_client *client;
    struct serve_agent agent;
};

struct serve;

/* What the options point to outlives it. ERR_INVALID: a certificate cannot be read; ERR_IO: it
 * cannot listen there; ERR_UNAVAILABLE: no thread. */
int serve_start(const struct serve_options *opt, struct serve **ret, struct err *err);
unsigned serve_port(const struct serve *s);
/* For new connections from now on. Any thread. ERR_INVALID: they cannot be read. */
int serve_set_certificate(struct serve *s, struct str cert_pem, struct str key_pem,
                          struct err *err);
struct serve *serve_stop(struct serve *s);
