/* script.h - requests to a live server, one after another, each with the answer that it must get.
 *
 * For rules that show in what a server says: a table of steps reads better than a function each. */
#pragma once

#include "base/idiom.h"
#include "requests.h"

struct script_step {
    const char *method, *path;
    const char *type;   /* Content-Type; NULL: the body is sent as JSON, or merged by a PATCH */
    const char *accept; /* NULL: not said */
    const char *body;   /* with a NULL type written as YAML; NULL: none */
    int status;
    const char *says;   /* somewhere in the answer, as it came; NULL: anything */
    const char *silent; /* nowhere in the answer; NULL: anything */
};

/* Steps that say only what most do. */
#define SCRIPT_DEFAULT "/api/v1/namespaces/default"
#define SCRIPT_STEP(method, path, body, status, says)      \
    {                                                      \
        method, path, NULL, NULL, body, status, says, NULL \
    }
#define SCRIPT_GET(path, status, says)          SCRIPT_STEP("GET", path, NULL, status, says)
#define SCRIPT_POST(path, body, status, says)   SCRIPT_STEP("POST", path, body, status, says)
#define SCRIPT_PUT(path, body, status, says)    SCRIPT_STEP("PUT", path, body, status, says)
#define SCRIPT_PATCH(path, body, status, says)  SCRIPT_STEP("PATCH", path, body, status, says)
#define SCRIPT_DELETE(path, body, status, says) SCRIPT_STEP("DELETE", path, body, status, says)

/* Starts a live server with what a fresh one has, and clients of it. */
struct script {
    struct live live;
    struct requests *requests;
    struct arena arena; /* of what is sent and answered */
};
void script_start(struct script *s);
void script_stop(struct script *s);

/* Fails the test at the first step that is answered otherwise, and shows the answer. */
void script_play(struct script *s, const struct script_step *steps, size_t n);
#define SCRIPT_PLAY(s, steps) script_play(s, steps, ARRAY_LEN(steps))
