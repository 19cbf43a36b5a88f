/* extension.h - the extension server of a trace: what it is to answer, and what it was asked.
 *
 * It is the webhook server under another name; scripts have whole paths. What the server asks of
 * its own comes by itself, so it counts only where a step asks for it. */
#pragma once

#include "hooks.h"

int extension_script(const struct hooks *h, struct arena *a, const struct value *script,
                     struct err *err);
/* What callers asked, in order; or, of the server itself, each request once. And forgets all. */
int extension_take(const struct hooks *h, struct arena *a, bool of_server, struct value *ret,
                   struct err *err);
