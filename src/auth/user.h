/* user.h - who asks: the one identity that everything in the server goes by. */
#pragma once

#include "base/arena.h"

/* What an authenticator knows beside the name, by key. */
struct user_extra {
    struct str key;
    const struct str *values;
    size_t n_values;
};

struct account_use;

struct user {
    struct str name, uid;
    const struct str *groups;
    size_t n_groups;
    const struct user_extra *extra;
    size_t n_extra;
    const struct account_use *use; /* how his token was used (account_token.h); NULL: it was none */
};

#define USER_ANONYMOUS       STR("system:anonymous")
#define USER_UNAUTHENTICATED STR("system:unauthenticated")
#define USER_AUTHENTICATED   STR("system:authenticated")
#define USER_MASTERS         STR("system:masters")
#define USER_SERVICE_ACCOUNT STR("system:serviceaccount:")
#define USER_NODE            STR("system:node:")
#define USER_NODES           STR("system:nodes")

/* A copy with all that it names. */
struct user *user_copy(struct arena *a, const struct user *u);

bool user_is_in(const struct user *u, struct str group);

/* Whoever has shown something is authenticated, unless he says himself what he is. */
void user_add_authenticated(struct arena *a, struct user *user);

/* `system:node:NAME`; the name points into it. False for anybody else. */
bool user_is_node(struct str name, struct str *ret_node);
/* `system:serviceaccount:NS:NAME`; the parts point into the name. False for anybody else. */
bool user_service_account(struct str name, struct str *ret_ns, struct str *ret_name);
struct str user_service_account_name(struct arena *a, struct str ns, struct str name);
/* The groups of a service account: all of them, and those of its namespace. */
size_t user_service_account_groups(struct arena *a, struct str ns, const struct str **ret);
