/* client_status.c - what went wrong, from a Status, from an HTTP status, or from the connection. */
#include "client/calls/client.h"

#include "base/idiom.h"
#include "client/calls/client_codec.h"
#include "base/banned.h"

/* A reason says more than an HTTP status: 409 and 504 have two each. */
static const struct {
    struct str reason;
    enum spn_code code;
} by_reason[] = {
    { STR("AlreadyExists"), SPN_EXISTS },   { STR("Conflict"), SPN_CONFLICT },
    { STR("Expired"), SPN_EXPIRED },        { STR("Gone"), SPN_EXPIRED },
    { STR("Timeout"), SPN_SERVER_TIMEOUT }, { STR("ServerTimeout"), SPN_SERVER_TIMEOUT },
};

static const struct {
    int status;
    enum spn_code code;
} by_status[] = {
    { 400, SPN_BAD_REQUEST },    { 401, SPN_UNAUTHORIZED }, { 403, SPN_FORBIDDEN },
    { 404, SPN_NOT_FOUND },      { 405, SPN_NOT_ALLOWED },  { 406, SPN_NOT_ACCEPTABLE },
    { 409, SPN_CONFLICT },       { 410, SPN_EXPIRED },      { 413, SPN_TOO_LARGE },
    { 415, SPN_UNSUPPORTED },    { 422, SPN_INVALID },      { 429, SPN_TOO_MANY_REQUESTS },
    { 504, SPN_SERVER_TIMEOUT },
};

static enum spn_code code_of(int http_status, struct str reason)
{
    for (size_t i = 0; i < ARRAY_LEN(by_reason); i++)
        if (str_eq(by_reason[i].reason, reason))
            return by_reason[i].code;
    for (size_t i = 0; i < ARRAY_LEN(by_status); i++)
        if (by_status[i].status == http_status)
            return by_status[i].code;
    return SPN_SERVER_ERROR;
}

static void copy_text(char *to, size_t room, struct str text)
{
    text = str_take(text, room - 1);
    if (text.n)
        memcpy(to, text.p, text.n);
    to[text.n] = '\0';
}

static bool is_status(const struct value *v)
{
    return str_eq(value_text(v, "kind"), STR("Status"));
}

int client_status_of(struct value *status, struct spn_err *err)
{
    int64_t http_status = 0, retry = 0;
    struct str reason = value_text(status, "reason");
    (void)value_to_int(value_get(status, STR("code")), &http_status);
    (void)value_to_int(value_dig(status, "details", "retryAfterSeconds"), &retry);
    enum spn_code code = code_of((int)http_status, reason);
    if (!err)
        return -(int)code;
    *err = (struct spn_err){ .code = code,
                             .http_status = (int)http_status,
                             .retry_after_sec = (int)retry,
                             .status = value_out(status) };
    copy_text(err->reason, sizeof(err->reason), reason);
    copy_text(err->message, sizeof(err->message), value_text(status, "message"));
    return -(int)code;
}

int client_status_error(struct arena *a, int http_status, int retry_after_sec, struct str body,
                        struct spn_err *err)
{
    struct value *v = arena_new(a, struct value);
    struct err ignored = ERR_INIT(a);
    if (codec_read(a, body, v, &ignored) < 0 || !is_status(v)) {
        struct str words = str_take(str_trim(body), 200);
        int r = spn_err_set(err, code_of(http_status, STR("")), "HTTP status %d: " STR_FMT,
                            http_status, STR_ARG(words));
        if (err) {
            err->http_status = http_status;
            err->retry_after_sec = retry_after_sec;
        }
        return r;
    }
    if (!value_get(v, STR("code")))
        value_put_new(a, v, STR("code"), value_int(http_status));
    int r = client_status_of(v, err);
    if (err) {
        err->http_status = http_status;
        if (!err->retry_after_sec)
            err->retry_after_sec = retry_after_sec;
    }
    return r;
}

int client_transport_error(const struct err *why, struct spn_err *err)
{
    enum spn_code code = why->code == ERR_TIMEOUT       ? SPN_TIMEOUT
                         : why->code == ERR_GONE        ? SPN_CANCELLED
                         : why->code == ERR_TOO_LARGE   ? SPN_TOO_LARGE
                         : why->code == ERR_BAD_REQUEST ? SPN_BAD_REQUEST
                                                        : SPN_UNAVAILABLE;
    return err_out(err, why, code);
}
