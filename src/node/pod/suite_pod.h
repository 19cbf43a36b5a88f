/* suite_pod.h - what tests of pods and volumes share: trees of JSON, and objects without a server.
 */
#pragma once

#include "node/pod/pod_config.h"

struct value suite_json(struct arena *a, const char *text);
struct str suite_text(struct arena *a, const struct value *v); /* JSON */

/* `world` is {"configmaps": {NAME: OBJECT}, "secrets": ..., "services": [...], "token": "..."}. */
struct suite_world {
    struct value world;
    unsigned tokens; /* that were asked for */
};
struct pod_objects suite_objects(struct suite_world *w);

/* An empty folder below /tmp, which suite_folder_remove() removes with all that is in it. */
struct str suite_folder(struct arena *a);
void suite_folder_remove(struct arena *a, struct str folder);
void suite_write(struct arena *a, struct str folder, const char *name, const char *text);
struct str suite_read(struct arena *a, struct str folder, const char *name);
/* A mount namespace of its own, once in a process. False: not root, or the system does not let us;
 * the caller skips. */
bool suite_can_mount(void);
