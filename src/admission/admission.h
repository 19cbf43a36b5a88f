/* admission.h - what is changed or refused on the way in.
 *
 * A write passes the plugins of plugins.h in their order, as upstream has it: first all that may
 * change the object, then, once it was found valid, all that may only refuse it. A plugin is named
 * for upstream's, knows what it is for by a table of targets, and sees the rest of the cluster
 * through the functions that it is given. A new one is a file of its own and a row in admission.c.
 * Runs on a worker.
 *
 * What a plugin is shown of a request:
 *
 *     request                        operation   sub        obj            old_obj
 *     POST                           CREATE                 the new one    NULL
 *     PUT, PATCH                     UPDATE                 the new one    as it was
 *     PUT, PATCH of a path below     UPDATE      "status"   the new one    as it was
 *     DELETE, also of a collection   DELETE                 NULL           as it is
 *     POST to a path below           CREATE      "token"    what is sent   NULL
 */
#pragma once

#include "api/kind.h"
#include "auth/access.h"
#include "base/err.h"
#include "base/value.h"

enum admission_operation {
    ADMISSION_CREATE = 1 << 0,
    ADMISSION_UPDATE = 1 << 1,
    ADMISSION_DELETE = 1 << 2,
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
    /* Whether somebody may do something. */
    bool (*allows)(void *arg, const struct access *q);
    /* Notes something for auditors; both texts live as long as the request's arena. May be NULL. */
    void (*annotate)(void *arg, struct str key, struct str value);
};

#define ADMISSION_ANY_PATH STR("*")

struct admission_target {
    struct str group, plural;
    unsigned operations; /* 0 ends a table */
    struct str sub;      /* the path below the object; empty: itself; or ADMISSION_ANY_PATH: both */
};

/* Which plugins are asked, beside and instead of the usual ones. All zero: those. */
struct admission_choice {
    uint64_t on, off;
};

/* Adds a list of names, `A,B`. ERR_INVALID: there is no such plugin, or it is both on and off. */
int admission_choose(struct admission_choice *choice, struct str names, bool is_on,
                     struct err *err);

struct admission_request {
    struct arena *arena;
    const struct kind_resource *resource; /* in the version of the request */
    const struct kind_resource *stored;   /* objects are trees in this version */
    enum admission_operation operation;
    struct str ns;
    struct str name;             /* of the object that the path is about; empty: it has none yet */
    struct str sub;              /* the path below it; empty: itself */
    const struct user *user;     /* NULL: the server itself */
    const struct value *old_obj; /* NULL: none */
    const struct admission_cluster *cluster;
    void *arg;
    struct admission_choice choice;
    const struct admission_target *target; /* which of the plugin's it is */
};

struct admission_plugin {
    const char *name; /* upstream's */
    bool is_off;      /* unless it is asked for */
    const struct admission_target *targets;
    int (*mutate)(struct admission_request *req, struct value *obj, struct err *err);
    int (*validate)(struct admission_request *req, const struct value *obj, struct err *err);
};

/* `obj` is NULL for a DELETE. */
int admission_mutate(struct admission_request *req, struct value *obj, struct err *err);
int admission_validate(struct admission_request *req, const struct value *obj, struct err *err);
