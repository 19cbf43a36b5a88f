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
 *     any method on a path that      CONNECT     "exec"     the options    NULL
 *     leads through to a pod, ...
 *
 * What a plugin remembers from request to request: memory.h. What it is told at the start:
 * config.h. */
#pragma once

#include "api/kind.h"
#include "auth/access.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/value.h"

enum admission_operation {
    ADMISSION_CREATE = 1 << 0,
    ADMISSION_UPDATE = 1 << 1,
    ADMISSION_DELETE = 1 << 2,
    ADMISSION_CONNECT = 1 << 3,
};

enum { ADMISSION_PLUGINS_MAX = 64 };

typedef int admission_take(void *to, const struct value *obj); /* negative: enough */

struct admission_wanted {
    struct str api_version, kind, ns, name;
    const struct labels_selector *labels; /* NULL: any */
};

/* How plugins look at other objects. */
struct admission_cluster {
    /* 1 and `*ret`, 0 if there is none, or an error. */
    int (*read)(void *arg, struct str group, struct str plural, struct str ns, struct str name,
                struct value *ret, struct err *err);
    /* All of a resource whose stored bytes have `mark` in them. */
    int (*each)(void *arg, struct str group, struct str plural, struct str mark,
                admission_take *take, void *to, struct err *err);
    /* The `i`-th version in which the objects of a stored resource are served, perhaps of another
     * group, in the order of discovery; NULL: there are no more. May be NULL: nothing is known. */
    const struct kind_resource *(*version)(void *arg, const struct kind_resource *stored, size_t i);
    /* All of a resource in a namespace, by name; each is there while it is taken. */
    int (*each_in)(void *arg, struct str group, struct str plural, struct str ns,
                   admission_take *take, void *to, struct err *err);
    /* An object of a custom kind in another version, with nothing filled in. May be NULL. */
    int (*convert)(void *arg, const struct kind_type *from, const struct kind_type *to,
                   struct value *in, struct value *ret, struct err *err);
    /* How many there are. May be NULL: nobody knows. */
    int (*count_in)(void *arg, struct str group, struct str plural, struct str ns, uint64_t *ret,
                    struct err *err);
    /* All quotas of a namespace; `*ret_rev` is what struct admission_charging wants. May be NULL:
     * there are none. */
    int (*each_quota)(void *arg, struct str ns, admission_take *take, void *to, uint64_t *ret_rev,
                      struct err *err);
    /* 1 if objects that say this of themselves are served ("v1", "ConfigMap"), and whether they are
     * in namespaces; else 0. May be NULL: none are. */
    int (*find_kind)(void *arg, struct str api_version, struct str kind, bool *ret_namespaced);
    /* Such objects, in that version: of a namespace, or of all if it is empty, the one of that
     * name, or all if that is empty, which the labels select. */
    int (*each_of_kind)(void *arg, const struct admission_wanted *wanted, admission_take *take,
                        void *to, struct err *err);
    /* Whether somebody may do something. */
    bool (*allows)(void *arg, const struct access *q);
    /* The same with the words of whoever decided; in the request's arena. May be NULL. */
    bool (*decides)(void *arg, const struct access *q, struct str *ret_reason);
    /* Notes something for auditors; both texts live as long as the request's arena. May be NULL. */
    void (*annotate)(void *arg, struct str key, struct str value);
    /* The same, if auditors see the bodies of requests, too. May be NULL. */
    void (*annotate_request)(void *arg, struct str key, struct str value);
    /* Tells the client. May be NULL. */
    void (*warn)(void *arg, struct str text);
    /* Makes a namespace that is not there; it is no fault if it is. May be NULL: nobody does. */
    int (*make_namespace)(void *arg, struct str name, struct err *err);
};

/* What the server has seen of the namespace of a write, on its way. */
enum admission_namespace {
    ADMISSION_NAMESPACE_UNREAD,
    ADMISSION_NAMESPACE_ABSENT,
    ADMISSION_NAMESPACE_ENDING, /* it is being deleted */
    ADMISSION_NAMESPACE_THERE,
};

struct admission_config;
struct admission_memory;
struct xray;

/* Which plugins are asked, beside and instead of the usual ones. All zero: those. */
struct admission_choice {
    uint64_t on, off;
};

/* What is known of a request before its body is read. */
struct admission_call {
    const struct kind_resource *resource; /* in the version of the request */
    const struct kind_resource *stored;
    struct str sub;
    unsigned operations; /* that it may turn out to be */
    struct admission_choice choice;
};

/* Quotas that are written with the object: what they say is used then. */
struct admission_charge {
    struct value quota; /* as it was read, with its resourceVersion */
    struct value used;  /* its new status.used */
    struct admission_charge *next;
};

/* The object is written only if the quotas of its namespace are still those that were looked at,
 * and those that are charged are what they were. */
struct admission_charging {
    bool is_asked;       /* somebody has looked at the quotas */
    uint64_t quotas_rev; /* when one of them was last written, but by charging it; 0: never */
    struct admission_charge *first;
};

#define ADMISSION_ANY_PATH STR("*")

struct admission_target {
    struct str group, plural;
    unsigned operations; /* 0 ends a table */
    struct str sub;      /* the path below the object; empty: itself; or ADMISSION_ANY_PATH: both */
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
    enum admission_namespace ns_is;
    struct str name;              /* of the object that the path is about; empty: it has none yet */
    struct str sub;               /* the path below it; empty: itself */
    const struct kind_type *type; /* of the trees; NULL: that of `stored` */
    const struct user *user;      /* NULL: the server itself */
    const struct value *old_obj;  /* NULL: none */
    const struct value *options;  /* what the client asked for beside it, CreateOptions for example;
                                     NULL: nothing is known of that */
    bool dry_run;
    int64_t timeout_ms; /* how long the whole request may take; 0: it does not say */
    const struct admission_cluster *cluster;
    void *arg;
    struct admission_choice choice;
    struct xray *xray;                     /* NULL: nobody looks */
    struct admission_memory *memory;       /* NULL: nothing is remembered */
    const struct admission_config *config; /* config.h; NULL: nothing is configured */
    const struct clock *clock;             /* NULL: the system's */
    /* Who changes an object by what somebody has configured asks for a second round: all plugins
     * are then asked once more, as upstream does. */
    struct {
        bool is_second, is_wanted;
        void *kept[ADMISSION_PLUGINS_MAX]; /* by each plugin, from the first for the second */
    } rounds;
    struct admission_charging *charging; /* NULL: nothing is charged */
    /* Of the plugin that is asked: */
    const struct admission_target *target; /* which of its targets it is; NULL: it has none */
    size_t plugin;                         /* its number */
};

struct admission_plugin {
    const char *name;                       /* upstream's */
    bool is_off;                            /* unless it is asked for */
    const struct admission_target *targets; /* NULL: everything */
    const struct admission_memo *memo;      /* what it remembers; NULL: nothing */
    /* What it is told at the start (config.h): `tree` is NULL if that is nothing. What it makes of
     * that lies in the arena, and is used by all threads. NULL: there is nothing to be told. */
    int (*configure)(struct arena *a, const struct value *tree, void **ret, struct err *err);
    void (*unconfigure)(void *configured); /* before the arena goes; may be NULL */
    /* It is asked again, alone, if what it was charged to has changed before the object was
     * written. */
    bool charges;
    int (*mutate)(struct admission_request *req, struct value *obj, struct err *err);
    int (*validate)(struct admission_request *req, const struct value *obj, struct err *err);
};

/* `obj` is NULL for a DELETE. */
int admission_mutate(struct admission_request *req, struct value *obj, struct err *err);
int admission_validate(struct admission_request *req, const struct value *obj, struct err *err);
/* The same of those alone that charge; admission_validate() has found it good before. */
int admission_charge(struct admission_request *req, const struct value *obj, struct err *err);
