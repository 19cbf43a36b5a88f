/* err.h - what the world can cause: a code, a message, and the causes a Status reply lists.
 *
 * A function that can fail returns 0, or a negative code with `*err` filled. An error is set once
 * at its origin, wrapped on the way up and reported once at the top. A broken promise in our own
 * code is assert(), kept in release builds. */
#pragma once

#include "base/arena.h"

/* One row each in the table of err.c: code, HTTP status, Kubernetes reason. */
enum err_code {
    ERR_OK,
    ERR_BAD_REQUEST,
    ERR_UNAUTHORIZED,
    ERR_FORBIDDEN,
    ERR_NOT_FOUND,
    ERR_METHOD_NOT_ALLOWED,
    ERR_NOT_ACCEPTABLE,
    ERR_TIMEOUT,
    ERR_CONFLICT,
    ERR_EXISTS,
    ERR_GONE,
    ERR_EXPIRED, /* a revision older than the history that is kept */
    ERR_TOO_LARGE,
    ERR_UNSUPPORTED_MEDIA_TYPE,
    ERR_INVALID,
    ERR_TOO_MANY_REQUESTS,
    ERR_INTERNAL,
    ERR_UNKNOWN, /* 500 without a reason, as upstream has it for unclassified errors */
    ERR_UNIMPLEMENTED,
    ERR_UNAVAILABLE,
    ERR_SERVER_TIMEOUT,
    ERR_NO_SPACE,   /* the disk is full: nothing was written, try again later */
    ERR_IO,         /* the disk failed: nothing was acknowledged */
    ERR_DAMAGED,    /* stored bytes do not match their checksum; never served */
    ERR_STORE_READ, /* a list that meets damaged objects; names them */
    ERR_CODE_COUNT,
};

struct value;

/* One entry of Status.details.causes. */
struct err_cause {
    struct err_cause *next;
    struct str reason, field, msg;
};

/* Status.details: what the error is about. Left out if kind.p is NULL. */
struct err_about {
    struct str name, group, kind;
    uint32_t retry_after_sec;
    struct str resume;          /* metadata.continue: how a list that has expired can go on */
    const struct value *status; /* that somebody outside has given: it is the answer; NULL: none */
};

struct err {
    enum err_code code;
    struct arena *arena; /* holds msg and causes; set by the code that declares the err */
    struct str msg;
    struct err_cause *causes, **last_cause;
    struct err_about about;
};

#define ERR_INIT(arena_ptr) ((struct err){ .arena = (arena_ptr) })

/* Both return the negative code. `err` may be NULL where the caller only wants the code. */
int err_set(struct err *err, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), cold));
int err_wrap(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3), cold));

/* From errno: ENOSPC and EDQUOT become ERR_NO_SPACE, ENOENT ERR_NOT_FOUND, else ERR_IO. The
 * message is `fmt` followed by the system's own words. */
int err_errno(struct err *err, int errnum, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), cold));

void err_add_cause(struct err *err, struct str reason, struct str field, struct str msg);
/* Forgets the error but keeps the arena. */
void err_clear(struct err *err);

int err_http_status(enum err_code code);
struct str err_reason(enum err_code code); /* "NotFound", "Conflict", ... */
