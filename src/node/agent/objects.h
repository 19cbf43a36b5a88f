/* objects.h - what pods refer to, from the API server, for the functions of pod/pod_objects.h.
 *
 * Config maps, secrets and claims are asked for when they are needed and kept for some seconds.
 * Services are followed by an informer. Tokens are kept until most of their time is over. */
#pragma once

#include <sampan/client.h>

#include "node/pod/pod_objects.h"

struct objects;

/* The client outlives it. `fresh_ms`: how long an answer is good; 0: a second. Follows Services
 * from now on. */
int objects_new(struct spn_client *client, int64_t fresh_ms, struct objects **ret, struct err *err);
struct objects *objects_free(struct objects *o);
struct pod_objects objects_functions(struct objects *o); /* good until objects_free() */
/* Forgets the tokens of a pod that is gone. Any thread. */
void objects_forget(struct objects *o, struct str pod_uid);
