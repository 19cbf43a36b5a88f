/* plan.h - bootstrap tokens: Secrets by which new nodes and the cluster come to know each other.
 * Which may sign, what a signature looks like, and when they are over. Rules only: no I/O. */
#pragma once

#include <sampan/value.h>

#define BOOTSTRAP_TYPE_SELECTOR "type=bootstrap.kubernetes.io/token"

struct bootstrap_token {
    struct spn_text id, secret;
};

/* The token of a Secret that may sign now; false: it has none. In the arena. */
bool bootstrap_token_read(struct spn_arena *a, const struct spn_value *secret, int64_t now_ns,
                          struct bootstrap_token *ret);

/* In how many milliseconds it is over; 0: it is; -1: never. */
int64_t bootstrap_left_ms(const struct spn_value *secret, int64_t now_ns);

/* A JWS (RFC 7515, appendix F) without its content. */
struct spn_text bootstrap_signature(struct spn_arena *a, const struct bootstrap_token *t,
                                    struct spn_text content);

/* Brings the signatures of the ConfigMap to those of the tokens. True: that changed something. One
 * that has nothing to sign stays as it is. */
bool bootstrap_sign(struct spn_arena *a, struct spn_value *map,
                    const struct bootstrap_token *tokens, size_t n);
