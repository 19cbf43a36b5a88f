/* requests.h - whole requests to a live server, of any method and form, with their answers.
 *
 * Anything that is not an answer fails the test. Any thread may send; what comes back lies in the
 * arena of whoever asked. */
#pragma once

#include "base/value.h"
#include "live.h"

struct requests;

struct requests *requests_new(const struct live *l);
struct requests *requests_free(struct requests *r);

struct sent {
    int status;
    struct str type, body; /* Content-Type */
    struct value obj;      /* the body, if it is JSON; else null */
};

/* `body` is JSON, or NULL: none. */
struct sent requests_json(struct requests *r, struct arena *a, const char *method, struct str path,
                          const struct value *body);
/* In forms of one's own; empty: not said. */
struct sent requests_send(struct requests *r, struct arena *a, const char *method, struct str path,
                          const char *content_type, const char *accept, struct str body);

/* The message of a Status. */
struct str sent_message(const struct sent *s);
bool sent_says(const struct sent *s, const char *words);

/* From YAML or JSON; fails the test if it is neither. */
struct value requests_parse(struct arena *a, struct str text);

/* Creates a CustomResourceDefinition, written as YAML. */
void requests_define(struct requests *r, struct arena *a, const char *definition);
