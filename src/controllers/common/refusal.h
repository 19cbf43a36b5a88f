/* refusal.h - what the server's refusals mean to controllers. */
#pragma once

#include <sampan/err.h>

/* The namespace is on its way out: nothing new can be made in it, and nobody will miss it. */
bool refusal_is_terminating(const struct spn_err *err);
/* A pod that was to be made need not be made again: nobody will miss it, or it is there. The server
 * gave up waiting for its initializers, and it shows itself when they are done. */
bool refusal_of_pod_is_final(const struct spn_err *err);
