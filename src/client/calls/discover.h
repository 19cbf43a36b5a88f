/* discover.h - asks a server what resources it has. Private to this folder. */
#pragma once

#include "client/calls/mapping.h"

/* May wait. Fails only if the server says nothing at all; parts that it cannot tell about are
 * noted as missing. The caller owns the reference. */
int discover(struct spn_client *c, const struct spn_call *how, struct mapping **ret,
             struct spn_err *err);
