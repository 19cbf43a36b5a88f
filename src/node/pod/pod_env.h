/* pod_env.h - the environment of a container.
 *
 * Variables of services come first, then those of whole config maps and secrets (envFrom), then the
 * container's own; later ones of the same name win, and `$(NAME)` sees what came before. */
#pragma once

#include "base/map.h"
#include "node/pod/expand.h"
#include "node/pod/pod_config.h"

struct env_var {
    struct str name, value;
    bool is_service; /* made from a Service: any other of its name wins */
};

struct pod_env {
    struct arena *arena;
    struct map by_name; /* of struct env_var */
    struct env_var **items;
    size_t n, cap;
};

/* All texts lie in the arena. It may ask pod_objects.h and read files of volumes. Release it by
 * pod_env_done() in any case. */
int pod_env_make(const struct pod_place *p, const struct value *container, struct arena *a,
                 struct pod_env *ret, struct err *err);
void pod_env_done(struct pod_env *env);

void pod_env_set(struct pod_env *env, struct str name, struct str value, bool is_service);
/* An expand_lookup; `arg` is the struct pod_env. */
bool pod_env_lookup(void *arg, struct str name, struct str *ret);
/* The variables of a Service, if it has an address. */
void pod_env_add_service(struct pod_env *env, const struct value *service);

#define autoenv __attribute__((cleanup(pod_env_done))) struct pod_env
