/* advertise.h - where the API is, as objects: the Service `kubernetes` of the namespace default,
 * its Endpoints and its EndpointSlice.
 *
 * Clients inside find the server by them. They are written before the first request is served and
 * looked at again every few seconds, together with everything else that is there from the first
 * moment (bootstrap.h). They are restored soon after they are deleted or changed. */
#pragma once

#include "server/core/api.h"

struct advertise;

/* The IP that others are told: the one that is listened on or, if that is every one of the machine,
 * that of the interface with the default route. In the arena. */
struct str advertise_ip(struct arena *a, struct str host);

/* Writes them, and then looks from time to time, by a timer of `loop`. `listened` is the address
 * that is bound, with its port; a local socket is not advertised. `given` is the IP to tell; empty:
 * advertise_ip(). Blocks; what fails is logged and tried again. */
struct advertise *advertise_new(struct api *api, struct loop *loop, struct str listened,
                                struct str given);
/* The server is about to stop: others on the same etcd are told at once. Blocks; NULL will do. */
void advertise_leave(struct advertise *x);
/* The loop does not run any more. */
struct advertise *advertise_free(struct advertise *x);

/* The same once. On an etcd with several servers the addresses of all are told: each keeps a key
 * there, which ends with it; `is_there` false: this one goes. */
int advertise_now(struct api *api, struct str ip, uint16_t port, bool is_there, struct err *err);
