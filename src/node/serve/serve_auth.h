/* serve_auth.h - who asks the agent, and whether he may. Both are the API server's to say
 * (TokenReview, SubjectAccessReview); what it said is remembered for a while. Any thread; may
 * block. */
#pragma once

#include "net/http/http.h"
#include "node/serve/serve.h"

struct serve_auth;

/* The options outlive it. */
struct serve_auth *serve_auth_new(const struct serve_options *opt);
struct serve_auth *serve_auth_free(struct serve_auth *auth);

/* 0: he may; else the status to answer with, and the text. */
int serve_auth_check(struct serve_auth *auth, const struct http_request *req, struct arena *a,
                     struct str *ret_text);

/* Subresources of the node that a path needs one of, in their order; at most two. */
enum { SERVE_SUBRESOURCES = 2 };
size_t serve_auth_subresources(struct str path, const char *ret[static SERVE_SUBRESOURCES]);
const char *serve_auth_verb(struct str method); /* "": none */
