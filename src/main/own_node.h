/* own_node.h - a node agent in the process of the server (`sampan up --node`): this machine's
 * containers run the pods. It is a client like any other, with the rights of a node and a token
 * that only this process knows. If it ends before it is told to, it begins anew. */
#pragma once

#include "base/err.h"

enum own_node_mode {
    OWN_NODE_OFF,
    OWN_NODE_AUTO, /* where a container runtime answers */
    OWN_NODE_ON,
};

/* False: it is none of "off", "auto", "on". */
bool own_node_mode_parse(const char *text, enum own_node_mode *ret);

/* They and their texts outlive it. */
struct own_node_options {
    const char *dir;         /* of the server; the agent's is DIR/node */
    const char *config_file; /* a KubeletConfiguration; NULL: none */
    struct str address;      /* of the server */
    struct str server_name;
    struct str ca_cert; /* of the server and of its clients */
    struct str token;
};

struct own_node;

/* Whether there is a runtime: with OWN_NODE_AUTO it is asked, for a moment. ERR_INVALID: the
 * configuration makes no sense. */
int own_node_wanted(enum own_node_mode mode, const char *config_file, bool *ret, struct err *err);
int own_node_start(const struct own_node_options *opt, struct own_node **ret, struct err *err);
/* Ends it; containers go on. The server still serves. */
struct own_node *own_node_stop(struct own_node *n);

/* What the Node is called: the name of this machine in lower case. In the arena. */
struct str own_node_name(struct arena *a);
