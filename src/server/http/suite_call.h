/* suite_call.h - for tests: a call as it comes from its path, with neither server nor exchange. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/http/call.h"

struct suite_call {
    struct arena arena;
    struct api api;
    struct http_header type;
    struct http_request http;
    struct call_warnings warnings;
    struct call call;
    struct err err; /* for whoever refuses it */
};

/* `target` names an API resource. `type` is the Content-Type, NULL: not said. */
void suite_call_init(struct suite_call *s, const char *target, const char *type, struct str body);
void suite_call_done(struct suite_call *s);

/* The message of `err`, and the warnings with a newline behind each. */
const char *suite_call_refusal(struct suite_call *s);
const char *suite_call_warnings(struct suite_call *s);
/* JSON with single quotes instead of double ones; "" if there is no value. */
const char *suite_call_shown(struct suite_call *s, const struct value *v);
/* The same way back, as text. */
struct str suite_call_quoted(struct arena *a, const char *text);
