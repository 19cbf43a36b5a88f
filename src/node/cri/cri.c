#include "node/cri/cri.h"

#include <assert.h>
#include <stdlib.h>

#include "base/idiom.h"
#include "base/mem.h"
#include "net/grpc/grpc.h"
#include "net/grpc/grpc_wire.h"
#include "wire/message.h"
#include "base/banned.h"

struct cri {
    struct grpc_client *grpc;
};

int cri_new(struct str endpoint, struct cri **ret, struct err *err)
{
    struct arena a;
    struct str path = endpoint;
    if (str_starts(path, STR("unix://")))
        path = str_skip(path, 7);
    if (!str_starts(path, STR("/")))
        return err_set(err, ERR_INVALID, "\"" STR_FMT "\" is no socket of a container runtime",
                       STR_ARG(endpoint));
    arena_init(&a);
    const struct grpc_client_options opt = {
        .address = arena_printf(&a, "unix:" STR_FMT, STR_ARG(path)),
        .authority = STR("localhost"),
    };
    struct grpc_client *grpc = grpc_client_new(&opt);
    arena_done(&a);
    if (!grpc)
        return err_set(err, ERR_UNAVAILABLE, "no thread is left for the container runtime");
    *ret = mem_new(struct cri);
    (*ret)->grpc = grpc;
    return 0;
}

struct cri *cri_free(struct cri *c)
{
    if (!c)
        return NULL;
    grpc_client_free(c->grpc);
    free(c);
    return NULL;
}

/* ---- Calls ---- */

static bool is_of_images(const char *method)
{
    static const char *const names[] = { "ListImages", "ImageStatus", "PullImage", "RemoveImage",
                                         "ImageFsInfo" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(method, names[i]) == 0)
            return true;
    return false;
}

static const struct message_type *message_of(struct arena *a, const char *method, const char *what)
{
    const struct message_type *m = message_find(arena_printf(a, "runtime.v1.%s%s", method, what));
    assert(m && "wire/cri.messages has it");
    return m;
}

/* "NOT_FOUND" is NotFound in Go. */
static struct str go_name(struct arena *a, enum grpc_status status)
{
    const struct str name = grpc_status_name(status);
    autobuf out = { 0 };
    if (status == GRPC_OK)
        return STR("OK");
    if (status == GRPC_CANCELLED)
        return STR("Canceled");
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] != '_')
            buf_byte(&out, i && name.p[i - 1] != '_' ? (char)(name.p[i] | 0x20) : name.p[i]);
    return arena_str(a, buf_str(&out));
}

static int fail(struct arena *a, const struct grpc_result *result, struct err *err)
{
    err_clear(err);
    return err_set(err, grpc_status_err(result->status),
                   "rpc error: code = " STR_FMT " desc = " STR_FMT,
                   STR_ARG(go_name(a, result->status)), STR_ARG(result->message));
}

int cri_call(struct cri *c, const char *method, const struct value *request, int64_t timeout_ms,
             struct arena *a, struct value *ret, struct err *err)
{
    static const struct value nothing = { .type = VALUE_OBJECT };
    struct grpc_result result = { 0 };
    struct str answer;
    autobuf bytes = { 0 };
    int r =
        message_write(&bytes, message_of(a, method, "Request"), request ? request : &nothing, err);
    if (r < 0)
        return err_wrap(err, "%s", method);
    const struct str path = arena_printf(
        a, "/runtime.v1.%s/%s", is_of_images(method) ? "ImageService" : "RuntimeService", method);
    r = grpc_call_unary(c->grpc, path, buf_str(&bytes), NULL, 0,
                        timeout_ms ? timeout_ms : CRI_USUAL_MS, a, &answer, &result, err);
    if (r < 0)
        return fail(a, &result, err);
    r = message_read(a, message_of(a, method, "Response"), answer, ret, err);
    return r < 0 ? err_wrap(err, "%s", method) : 0;
}

struct str cri_description(struct str message)
{
    static const char mark[] = " desc = ";
    const char *at = memmem(message.p, message.n, mark, sizeof(mark) - 1);
    if (!str_starts(message, STR("rpc error: code = ")) || !at)
        return message;
    return str_skip(message, (size_t)(at - message.p) + sizeof(mark) - 1);
}
