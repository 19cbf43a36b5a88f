#include "base/err.h"

#include <assert.h>
#include <errno.h>

#include "base/banned.h"

struct err_row {
    int http_status;
    struct str reason;
};

#define ROW(status, name)          \
    {                              \
        status,                    \
        {                          \
            name, sizeof(name) - 1 \
        }                          \
    }

static const struct err_row rows[ERR_CODE_COUNT] = {
    [ERR_OK] = ROW(200, ""),
    [ERR_BAD_REQUEST] = ROW(400, "BadRequest"),
    [ERR_UNAUTHORIZED] = ROW(401, "Unauthorized"),
    [ERR_FORBIDDEN] = ROW(403, "Forbidden"),
    [ERR_NOT_FOUND] = ROW(404, "NotFound"),
    [ERR_METHOD_NOT_ALLOWED] = ROW(405, "MethodNotAllowed"),
    [ERR_NOT_ACCEPTABLE] = ROW(406, "NotAcceptable"),
    [ERR_TIMEOUT] = ROW(504, "Timeout"),
    [ERR_CONFLICT] = ROW(409, "Conflict"),
    [ERR_EXISTS] = ROW(409, "AlreadyExists"),
    [ERR_GONE] = ROW(410, "Gone"),
    [ERR_EXPIRED] = ROW(410, "Expired"),
    [ERR_TOO_LARGE] = ROW(413, "RequestEntityTooLarge"),
    [ERR_UNSUPPORTED_MEDIA_TYPE] = ROW(415, "UnsupportedMediaType"),
    [ERR_INVALID] = ROW(422, "Invalid"),
    [ERR_TOO_MANY_REQUESTS] = ROW(429, "TooManyRequests"),
    [ERR_INTERNAL] = ROW(500, "InternalError"),
    [ERR_UNKNOWN] = ROW(500, ""),
    [ERR_UNIMPLEMENTED] = ROW(501, "NotImplemented"),
    [ERR_UNAVAILABLE] = ROW(503, "ServiceUnavailable"),
    [ERR_SERVER_TIMEOUT] = ROW(500, "ServerTimeout"),
    [ERR_NO_SPACE] = ROW(507, "InsufficientStorage"),
    [ERR_IO] = ROW(500, "InternalError"),
    [ERR_DAMAGED] = ROW(500, "InternalError"),
    [ERR_STORE_READ] = ROW(500, "StoreReadError"),
};

static __attribute__((format(printf, 3, 0))) void set_message(struct err *err, enum err_code code,
                                                              const char *fmt, va_list ap)
{
    err->code = code;
    err->msg = arena_vprintf(err->arena, fmt, ap);
}

int err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
    assert(code != ERR_OK);
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        set_message(err, code, fmt, ap);
        va_end(ap);
    }
    return -(int)code;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
    if (!err)
        return -ERR_INTERNAL;
    assert(err->code != ERR_OK);
    struct str inner = err->msg;
    va_list ap;
    va_start(ap, fmt);
    set_message(err, err->code, fmt, ap);
    va_end(ap);
    err->msg = arena_printf(err->arena, STR_FMT ": " STR_FMT, STR_ARG(err->msg), STR_ARG(inner));
    return -(int)err->code;
}

int err_errno(struct err *err, int errnum, const char *fmt, ...)
{
    enum err_code code = ERR_IO;
    if (errnum == ENOSPC || errnum == EDQUOT)
        code = ERR_NO_SPACE;
    else if (errnum == ENOENT)
        code = ERR_NOT_FOUND;

    if (err) {
        va_list ap;
        va_start(ap, fmt);
        set_message(err, code, fmt, ap);
        va_end(ap);
        const char *words = strerrordesc_np(errnum);
        err->msg = arena_printf(err->arena, STR_FMT ": %s", STR_ARG(err->msg),
                                words ? words : "unknown error");
    }
    return -(int)code;
}

void err_add_cause(struct err *err, struct str reason, struct str field, struct str msg)
{
    struct err_cause *cause = arena_new(err->arena, struct err_cause);
    cause->reason = reason;
    cause->field = field;
    cause->msg = msg;
    if (!err->causes)
        err->last_cause = &err->causes;
    *err->last_cause = cause;
    err->last_cause = &cause->next;
}

void err_clear(struct err *err)
{
    *err = ERR_INIT(err->arena);
}

int err_http_status(enum err_code code)
{
    assert(code < ERR_CODE_COUNT);
    return rows[code].http_status;
}

struct str err_reason(enum err_code code)
{
    assert(code < ERR_CODE_COUNT);
    return rows[code].reason;
}
