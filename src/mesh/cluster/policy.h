/* policy.h - what a DestinationRule's traffic policy says of a cluster. */
#pragma once

#include "mesh/model/proxy.h"

/* The policy of a port of a subset (NULL: of the whole service), merged as Istio does; an object.
 */
struct value policy_merge(struct arena *a, const struct mesh_rule *rule, const struct value *subset,
                          int port);
/* Writes it into the cluster. */
void policy_apply(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                  const struct mesh_service *s, const struct mesh_port *port, struct str subset,
                  const struct value *policy, struct value *cluster);
/* How an upstream is spoken to by TLS: a transport socket, or null. */
struct value policy_tls(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                        const struct mesh_service *s, const struct mesh_port *port,
                        struct str subset, const struct value *tls);
/* A secret that comes by ADS. */
struct value policy_secret(struct arena *a, struct str name);
