/* program_node.h - a node agent as a program: its parts, put together. */
#pragma once

#include "main/program.h"
#include "node/config/node_config.h"

struct program_node {
    struct node_config config;
    const char *cert_dir;          /* NULL: ROOT/pki */
    void (*on_running)(void *arg); /* the Node is there; or NULL */
    void *arg;
};

program_fn program_node_run; /* self: a struct program_node */
