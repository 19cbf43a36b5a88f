/* statuses.h - writes statuses to the API server, on a thread of its own.
 *
 * Only the newest list counts: one that comes while another is being written replaces what is left
 * of it. A status is written if it differs from what the object had, times apart. */
#pragma once

#include "mesh/gateway_api/gateway_api.h"
#include <sampan/client.h>

struct statuses;

/* The client outlives it. */
int statuses_start(struct spn_client *client, struct statuses **ret, struct err *err);
struct statuses *statuses_stop(struct statuses *s); /* waits for a write under way */
/* Copies what it needs. Any thread. */
void statuses_post(struct statuses *s, const struct realm *w, const struct api_statuses *all);
