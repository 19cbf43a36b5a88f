/* kube_apiserver.h - the command line of kube-apiserver, put as that of `sampan up`.
 *
 * Flags are read as upstream does: "--name=value" or "--name value", booleans also without a value.
 * Flags that upstream has and that change nothing here are taken in silence. Unknown ones are left
 * out and named once. The names and their meaning are upstream's. */
#pragma once

#include "base/arena.h"

struct kube_apiserver_line {
    int argc;
    char **argv;             /* of `up`; argv[0] is the name that was given; ends with NULL */
    struct str unknown;      /* flags that nobody knows: "--a, --b"; empty: none */
    const char *unused_etcd; /* --etcd-servers, if $SAMPAN_STORE stands in its place; else NULL */
};

/* What the environment adds. */
struct kube_apiserver_wishes {
    const char *controllers; /* $SAMPAN_CONTROLLERS: "1" for all, or a list; NULL or "0": none */
    const char *store;       /* $SAMPAN_STORE; NULL: not said */
};

/* 0, or an exit status + 1 after the help, the version or a message was printed. Text lies in the
 * arena or in `argv`. */
int kube_apiserver_parse(struct arena *a, int argc, char **argv,
                         const struct kube_apiserver_wishes *wishes,
                         struct kube_apiserver_line *ret);
