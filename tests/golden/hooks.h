/* hooks.h - the webhook server of a trace: what it is to answer, and what it was asked.
 *
 * A step says what the server is to answer from then on. What it was asked during a step comes back
 * in the form of the recording: webhooks that may change objects in the order of calls, those that
 * may only refuse them by path, conversions left out unless the step wants headers. */
#pragma once

#include "base/value.h"
#include "net/outgoing/fetch.h"

struct hooks {
    struct fetcher *fetcher;
    struct str url; /* empty: there is none */
};

int hooks_send(const struct hooks *h, struct arena *a, const char *method, struct str path,
               struct str body, struct fetch_reply *ret, struct err *err);

/* `script` is what the step has, with {ns} and so on filled in; paths are below /NS/. */
int hooks_script(const struct hooks *h, struct arena *a, struct str ns, const struct value *script,
                 struct err *err);
/* And forgets them. A list. */
int hooks_take(const struct hooks *h, struct arena *a, struct str ns, bool with_headers,
               struct value *ret, struct err *err);
