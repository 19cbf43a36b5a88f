/* plane.h - the registry over a store in memory, with what a fresh control plane has, called
 * directly: no loops, no HTTP.
 *
 * Objects are JSON with single quotes instead of double ones. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/registry/registry.h"

struct plane {
    struct api api;
    struct arena arena;
};

/* `cidrs` and `ports` are those of Services; NULL: the usual ones. */
void plane_start(struct plane *p, const char *cidrs, const char *ports);
void plane_stop(struct plane *p);

/* A call from nobody about objects in the namespace default. */
struct call plane_call(struct plane *p, struct arena *a, const char *group, const char *plural);
/* As it comes from decoding: typed and with defaults. In the call's arena. */
struct value plane_object(const struct call *c, const char *text);

/* What was said: the refusal, or the first warning; empty if nothing. `ret` may be NULL. */
struct str plane_create(struct plane *p, const char *group, const char *plural, const char *text,
                        struct value *ret);
/* Replaces all of the object, as a PUT does to `sub`. */
struct str plane_update(struct plane *p, const char *group, const char *plural, const char *name,
                        const char *sub, const char *text, struct value *ret);
/* Fails the test unless `got` has the words in it; "": unless it is empty. */
void plane_expect(struct str got, const char *want);
const char *plane_shown(struct plane *p, const struct value *v); /* "": there is none */
