/* load_target.h - one server under load: its connections, plain calls to it, and the namespace that
 * holds what the load makes there.
 *
 * The namespace is made at the start and deleted at the end, its objects before it; one that was
 * there already stays, and only what carries our label is deleted from it. Objects are ConfigMaps,
 * or of a custom kind that looks the same; its definition comes and goes with the namespace. */
#pragma once

#include "bench/load_conn.h"

enum {
    LOAD_NAME_BYTES = 64,
    LOAD_VERSION_BYTES = 24, /* a resourceVersion and a NUL */
    LOAD_CALL_MS = 120000,
};

/* What the load consists of. */
struct load_resource {
    const char *root, *plural; /* "/api/v1", "configmaps" */
    const char *api_version, *kind;
};

extern const struct load_resource load_config_maps, load_custom_maps;

struct load_target {
    const char *label; /* "ours", "theirs" */
    const struct load_resource *resource;
    bool plain; /* a bare URL: serves files, knows no objects */
    struct load_config config;
    struct load_endpoint endpoint;
    struct load_loop loop;
    pid_t pid; /* of a local server, or 0 */

    char namespace[LOAD_NAME_BYTES];
    char run[LOAD_NAME_BYTES]; /* the value of our label */
    bool made_namespace, made_definition;

    /* What the scenario at hand knows of its objects. */
    size_t n_objects;
    char (*versions)[LOAD_VERSION_BYTES]; /* of each object; "": not known */
    uint64_t n_taken;                     /* by delete, of the above */
    uint64_t n_created;                   /* by create, ever */
    uint64_t least_list, most_list;       /* bytes of the shortest and the longest LIST */
};

/* `where`: a kubeconfig's path, an https:// URL, or NULL for the default kubeconfig. */
int load_target_init(struct load_target *t, struct arena *a, const char *label, const char *where,
                     bool remote, struct err *err);
void load_target_done(struct load_target *t);

/* With the definition of the resource, if it needs one. */
int load_target_make_namespace(struct load_target *t, const char *name, struct err *err);
/* The collection of our objects. */
void load_target_path(const struct load_target *t, struct buf *out);
/* All objects that carry our label. Asks again while the server says that it needs longer. */
int load_target_clear(struct load_target *t, struct err *err);
/* Deletes the namespace, and the definition, if we made them. */
int load_target_drop_namespace(struct load_target *t, struct err *err);

/* Connections that are ready. Broken ones stay in their place. */
struct load_pool {
    struct load_conn **conns;
    size_t n;
};

/* Blocks until all are ready. */
int load_pool_open(struct load_pool *p, struct load_target *t, size_t n, struct err *err);
void load_pool_close(struct load_pool *p);

/* One request on a connection of its own; blocks. The status, or a negative code if there was no
 * answer. `ret_body` may be NULL. */
int load_call(struct load_target *t, const char *method, struct str path, struct str body,
              struct buf *ret_body, struct err *err);

/* The same with a body that is looked at as it comes and not kept. */
int load_call_stream(struct load_target *t, const char *method, struct str path, struct str body,
                     void (*on_bytes)(void *arg, struct str bytes), void *arg, struct err *err);

/* The text between `before` and the next quote; false if there is none. */
bool load_find_text(struct str in, struct str before, struct str *ret);
