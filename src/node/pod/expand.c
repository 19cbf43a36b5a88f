#include "node/pod/expand.h"

#include "base/buf.h"
#include "base/banned.h"

/* How many bytes what follows a `$` takes; adds what it stands for. */
static size_t one_reference(struct buf *out, struct str rest, expand_lookup *lookup, void *arg)
{
    struct str value;
    if (rest.p[0] == '$') {
        buf_byte(out, '$');
        return 1;
    }
    const ptrdiff_t end = rest.p[0] == '(' ? str_find(rest, ')') : -1;
    if (end < 0) {
        buf_byte(out, '$'); /* what follows is ordinary text, a second `$` excepted */
        buf_byte(out, rest.p[0]);
        return 1;
    }
    struct str name = str_skip(str_take(rest, (size_t)end), 1);
    if (!lookup(arg, name, &value)) {
        buf_byte(out, '$');
        buf_str_add(out, str_take(rest, (size_t)end + 1));
    } else {
        buf_str_add(out, value);
    }
    return (size_t)end + 1;
}

struct str expand(struct arena *a, struct str text, expand_lookup *lookup, void *arg)
{
    if (str_find(text, '$') < 0)
        return text;
    autobuf out = { 0 };
    while (text.n) {
        const ptrdiff_t at = str_find(text, '$');
        if (at < 0 || (size_t)at + 1 == text.n)
            break;
        buf_str_add(&out, str_take(text, (size_t)at));
        text = str_skip(text, (size_t)at + 1);
        text = str_skip(text, one_reference(&out, text, lookup, arg));
    }
    buf_str_add(&out, text);
    return arena_str(a, buf_str(&out));
}
