/* blackhole.h - a route that leads nowhere, for the addresses of simulated nodes and pods.
 *
 * Nothing of ours dials 198.18.0.0/15. With the route nothing else of this machine gets an answer
 * there, either, whatever a default route would do with it. */
#pragma once

enum blackhole { BLACKHOLE_ADDED, BLACKHOLE_IS_THERE, BLACKHOLE_FORBIDDEN, BLACKHOLE_FAILED };

/* A route of just this network stays as it is, whatever it is; so do all that are more special. */
enum blackhole blackhole_add(void);
