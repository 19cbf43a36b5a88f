/* suite_etcd.h - a real etcd of one member for a test: on loopback, in a folder of its own. */
#pragma once

#include <sys/types.h>

#include "net/grpc/grpc.h"

struct suite_etcd {
    pid_t pid; /* -1: it does not run */
    char folder[128];
    char url[64]; /* "http://127.0.0.1:PORT" */
    char peer_url[64];
};

/* 1 when it answers, 0 if it does not start, -1 if it is not installed. `folder` must exist. */
int suite_etcd_start(struct suite_etcd *e, const char *folder);
unsigned suite_etcd_free_port(void);
/* With kill -9. */
void suite_etcd_kill(struct suite_etcd *e);
/* The same one again, where it was. */
int suite_etcd_restart(struct suite_etcd *e);
