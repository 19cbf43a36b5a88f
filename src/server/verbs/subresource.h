/* subresource.h - what the paths below an object that are no part of it have in common. */
#pragma once

#include "server/http/call.h"

/* The call as if it had been made of another stored resource, for use of the registry. Its warnings
 * are those of `c`. */
struct call subresource_call(struct call *c, struct str group, struct str plural);

/* The metadata of an object that is posted to a path must not contradict it: namespace. */
int subresource_check_namespace(struct call *c, struct value *obj, struct err *err);

/* `kind: Status`, successful, with the code 201 in it: something was done, and there is no object
 * to show. */
void subresource_success(struct call *c);
/* The same with another code in it, and a message. */
void subresource_success_with(struct call *c, int code, struct str message);

/* Sets the condition of that type in `status`; the time of transition is kept where the status
 * (True, False) stays. Fields of `condition` that are text: status, reason, message. */
struct subresource_condition {
    struct str type, status, reason, message;
    int64_t observed_generation; /* 0: not said */
};
void subresource_set_condition(struct call *c, struct value *status,
                               const struct subresource_condition *condition);
