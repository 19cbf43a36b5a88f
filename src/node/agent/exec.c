#include "node/agent/exec.h"

#include <inttypes.h>

#include "api/go/goduration.h"
#include "api/go/quote.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/banned.h"

enum { MORE_MS = 120000 };

struct str go_duration(struct arena *a, int64_t ms)
{
    autobuf out = { 0 };
    goduration_write(&out, ms * NS_PER_MS);
    return arena_str(a, buf_str(&out));
}

struct str go_quoted(struct arena *a, struct str s)
{
    autobuf out = { 0 };
    quote_go(&out, s);
    return arena_str(a, buf_str(&out));
}

struct str go_list(struct arena *a, const struct value *texts, bool bare)
{
    autobuf out = { 0 };
    value_each_item (t, texts) {
        if (out.n)
            buf_byte(&out, ' ');
        buf_str_add(&out, value_str(t));
    }
    if (bare)
        return arena_str(a, buf_str(&out));
    return arena_printf(a, "[" STR_FMT "]", STR_ARG(buf_str(&out)));
}

static void note_timeout(struct arena *a, const struct value *command, int64_t ms,
                         struct exec_end *ret)
{
    struct str line = go_quoted(a, go_list(a, command, true)), time = go_duration(a, ms);
    *ret = (struct exec_end){ .timed_out = true };
    ret->why = arena_printf(a, "command timed out: " STR_FMT " timed out after " STR_FMT,
                            STR_ARG(line), STR_ARG(time));
}

int exec_sync(struct cri *cri, struct str id, const struct value *command, int64_t timeout_s,
              int64_t wait_ms, struct arena *a, struct exec_end *ret, struct err *err)
{
    struct value req = value_object(), answer;
    value_put_new(a, &req, STR("container_id"), value_string(id));
    value_put_new(a, &req, STR("cmd"), value_borrow(command));
    if (timeout_s)
        value_put_new(a, &req, STR("timeout"), value_int(timeout_s));
    int64_t limit = wait_ms >= 0 ? wait_ms + !wait_ms : timeout_s ? timeout_s * 1000 + MORE_MS : -1;
    int r = cri_call(cri, "ExecSync", &req, limit, a, &answer, err);
    if (r == -ERR_TIMEOUT) {
        note_timeout(a, command, timeout_s ? timeout_s * 1000 : wait_ms, ret);
        return 0;
    }
    if (r < 0)
        return r;
    struct str out = value_text(&answer, "stdout"), errors = value_text(&answer, "stderr");
    *ret = (struct exec_end){ 0 };
    ret->output = arena_printf(a, STR_FMT STR_FMT, STR_ARG(out), STR_ARG(errors));
    (void)value_to_int(value_get(&answer, STR("exit_code")), &ret->code);
    if (ret->code) {
        struct str line = go_list(a, command, true);
        ret->why = arena_printf(a, "command '" STR_FMT "' exited with %" PRId64 ": " STR_FMT,
                                STR_ARG(line), ret->code, STR_ARG(errors));
    }
    return 0;
}
