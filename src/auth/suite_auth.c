#include "auth/suite_auth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/json.h"

struct value suite_tree(struct arena *a, const char *text)
{
    struct err err = ERR_INIT(a);
    struct value v;
    autobuf json = { 0 };
    for (const char *p = text; *p; p++)
        buf_byte(&json, *p == '\'' ? '"' : *p);
    if (json_read(a, arena_str(a, buf_str(&json)), NULL, &v, &err) < 0)
        fail_msg("%s: " STR_FMT, text, STR_ARG(err.msg));
    return v;
}
