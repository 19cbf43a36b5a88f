/* apiservice_check.h - whether the server of an APIService can be asked: its Service, the endpoints
 * of that, and an answer. What upstream's availability controller looks at, in its words. Waits. */
#pragma once

#include "server/apiservice/apiservice.h"
#include "server/http/call.h"

struct apiservice_verdict {
    struct str status; /* of the condition Available */
    struct str reason;
    struct str message; /* in the call's arena */
    struct str address; /* HOST:PORT of a server that answers; else empty */
};

/* `c` is a call of the server's own. */
void apiservice_check(struct call *c, const struct apiservice *s, struct apiservice_verdict *ret);

/* Writes the condition, if it has changed. */
int apiservice_note(struct call *c, const struct apiservice *s, const struct apiservice_verdict *v,
                    struct err *err);
