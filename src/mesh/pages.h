/* pages.h - what the mesh says over HTTP beside xDS: its webhook, and what proxies have.
 *
 *     POST /validate        an AdmissionReview
 *     GET  /status          proxies, and what each was sent, took and refused
 *     GET  /config?PROXY    all resources of a proxy, as Envoy's JSON; keys of secrets are not
 * shown GET  /ready */
#pragma once

#include "mesh/xds/server.h"

/* On the loop; ends the exchange. */
void pages_answer(struct xds_server *s, struct http_exchange *x);
