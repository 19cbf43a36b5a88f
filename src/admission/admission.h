/* admission.h - what is changed or refused on the way in.
 *
 * A write passes the plugins of plugins.h in their order, as upstream has it: first all that may
 * change the object, then, once it was found valid, all that may only refuse it. A plugin is named
 * for upstream's, knows what it is for by a table of targets, and sees the rest of the cluster
 * through the functions that it is given. A new one is a file of its own and a row in admission.c.
 * Runs on a worker. */
#pragma once

#include "api/kind.h"
#include "auth/user.h"
#include "base/err.h"
#include "base/value.h"

enum admission_operation {
    ADMISSION_CREATE = 1 << 0,
    ADMISSION_UPDATE = 1 << 1,
    ADMISSION_BIND = 1 << 2, /* the object is a Binding, the resource that of its pod */
};

typedef int admission_take(void *to, const struct value *obj); /* negative: enough */

/* How plugins look at other objects. */
struct admission_cluster {
    /* 1 and `*ret`, 0 if there is none, or an error. */
    int (*read)(void *arg, struct str group, struct str plural, struct str ns, struct str name,
                struct value *ret, struct err *err);
    /* All of a resource whose stored bytes have `mark` in them. */
    int (*each)(void *arg, struct str group, struct str plural, struct str mark,
                admission_take *take, void *to, struct err *err);
    /* Notes something for auditors; both texts live as long as the request's arena. May be NULL. */
    void (*annotate)(void *arg, struct str key, struct str value);
};

struct admission_target {
    struct str group, plural;
    unsigned operations; /* 0 ends a table */
};

struct admission_request {
    struct arena *arena;
    const struct kind_resource *resource; /* in the version of the request */
    const struct kind_resource *stored;   /* objects are trees in this version */
    enum admission_operation operation;
    struct str ns;
    const struct user *user;     /* NULL: the server itself */
    const struct value *old_obj; /* NULL: none */
    const struct admission_cluster *cluster;
    void *arg;
    const struct admission_target *target; /* which of the plugin's it is */
};

struct admission_plugin {
    const char *name; /* upstream's */
    const struct admission_target *targets;
    int (*mutate)(struct admission_request *req, struct value *obj, struct err *err);
    int (*validate)(struct admission_request *req, const struct value *obj, struct err *err);
};

int admission_mutate(struct admission_request *req, struct value *obj, struct err *err);
int admission_validate(struct admission_request *req, const struct value *obj, struct err *err);
