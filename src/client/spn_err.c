#include <sampan/err.h>

#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "client/bridge.h"
#include "base/banned.h"

int spn_err_set(struct spn_err *err, enum spn_code code, const char *fmt, ...)
{
    if (!err)
        return -(int)code;
    *err = (struct spn_err){ .code = code };
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(err->message, sizeof(err->message), fmt, ap);
    va_end(ap);
    return -(int)code;
}

int spn_err_wrap(struct spn_err *err, const char *fmt, ...)
{
    if (!err)
        return -(int)SPN_SERVER_ERROR;
    autobuf words = { 0 };
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&words, fmt, ap);
    va_end(ap);
    buf_printf(&words, ": %s", err->message);
    struct str kept = str_take(buf_str(&words), sizeof(err->message) - 1);
    memcpy(err->message, kept.p, kept.n);
    err->message[kept.n] = '\0';
    return -(int)err->code;
}

int err_out(struct spn_err *ret, const struct err *err, enum spn_code code)
{
    return spn_err_set(ret, code, STR_FMT, STR_ARG(err->msg));
}
