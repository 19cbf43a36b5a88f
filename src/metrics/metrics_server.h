/* metrics_server.h - metrics.k8s.io/v1beta1, for `kubectl top` and autoscalers: an extension server
 * that asks the nodes, through the API server, what they use.
 *
 * It listens on the loopback interface and answers nobody but the API server's front proxy. The
 * APIService and the Service that lead there are made at the start, unless somebody else serves the
 * group. */
#pragma once

#include <sampan/client.h>

#include "base/err.h"

struct metrics_server;

/* Starts threads; the client outlives it, and may do what system:masters may. ERR_EXISTS: somebody
 * else serves the group. ERR_UNAVAILABLE: the API server does not say whom to believe, or there is
 * no thread or port. May block. */
int metrics_server_start(struct spn_client *client, struct metrics_server **ret, struct err *err);
struct metrics_server *metrics_server_stop(struct metrics_server *m);
