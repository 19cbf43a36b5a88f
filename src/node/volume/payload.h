/* payload.h - the files that a volume shows of objects: config maps, secrets, fields of the pod,
 * tokens. What is made here is written by atomic_writer.h. */
#pragma once

#include "base/map.h"
#include "node/pod/pod_config.h"

struct payload_file {
    struct str path, data;
    unsigned mode;
    bool has_user; /* it belongs to `user`, not to root */
    int64_t user;
};

struct payload {
    struct arena *arena;
    struct payload_file **files;
    size_t n, cap;
    struct map by_path; /* of struct payload_file */
};

void payload_done(struct payload *p);
/* Replaces one of the same path. */
void payload_put(struct payload *p, struct payload_file file);

/* Whose volume it is. */
struct payload_case {
    const struct node_facts *node;
    const struct pod_objects *objects;
    const struct value *pod;
};

/* By kind; `source` is what the volume has under that name. Texts lie in the payload's arena, or
 * are the pod's. The messages of errors are those of events. */
int payload_config_map(struct payload *p, const struct payload_case *c, const struct value *source,
                       struct err *err);
int payload_secret(struct payload *p, const struct payload_case *c, const struct value *source,
                   struct err *err);
int payload_downward(struct payload *p, const struct payload_case *c, const struct value *source,
                     struct err *err);
int payload_projected(struct payload *p, const struct payload_case *c, const struct value *source,
                      struct err *err);

#define autopayload __attribute__((cleanup(payload_done))) struct payload
