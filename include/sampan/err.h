/* sampan/err.h - what went wrong, and what the server said about it.
 *
 * A function that can fail returns 0, or a negative `enum spn_code` with `*err` filled. An error of
 * the server carries its Status. `err` may be NULL where the code is enough. */
#pragma once

#include <sampan/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct spn_value;

enum spn_code {
    SPN_OK,
    SPN_BAD_REQUEST,       /* 400, or an argument that makes no sense */
    SPN_UNAUTHORIZED,      /* 401 */
    SPN_FORBIDDEN,         /* 403 */
    SPN_NOT_FOUND,         /* 404 */
    SPN_NOT_ALLOWED,       /* 405: the resource has no such verb */
    SPN_NOT_ACCEPTABLE,    /* 406 */
    SPN_CONFLICT,          /* 409: somebody else was faster, or owns the field */
    SPN_EXISTS,            /* 409: there is one of that name */
    SPN_EXPIRED,           /* 410: the resourceVersion or token is too old */
    SPN_TOO_LARGE,         /* 413, or an answer that is too large */
    SPN_UNSUPPORTED,       /* 415 */
    SPN_INVALID,           /* 422 */
    SPN_TOO_MANY_REQUESTS, /* 429 */
    SPN_SERVER_ERROR,      /* 5xx and whatever else has no name here */
    SPN_SERVER_TIMEOUT,    /* 504: the server gave up; it may have been done all the same */
    SPN_UNAVAILABLE,       /* no server was reached, or it went away in the middle */
    SPN_TIMEOUT,           /* the deadline of the call has passed */
    SPN_CANCELLED,         /* the caller, or a stop, has ended it */
    SPN_MALFORMED,         /* bytes that cannot be understood */
    SPN_FILE,              /* a file cannot be read or written */
};

struct spn_err {
    enum spn_code code;
    int http_status;                /* 0: no answer came */
    int retry_after_sec;            /* what the server asks for; 0: nothing */
    const struct spn_value *status; /* the whole Status, in the arena of the call, or NULL */
    char reason[64];                /* of the Status: "NotFound"; else empty */
    char message[1024];             /* for people; cut off where it is longer */
};

/* Returns -code. */
SPN_API int spn_err_set(struct spn_err *err, enum spn_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Puts words in front of the message. Returns the negative code that it has. */
SPN_API int spn_err_wrap(struct spn_err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif
