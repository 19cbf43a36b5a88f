/* The leaves where a tree was made by the server, not decoded: Go then fills a struct from a map by
 * reflection, with rules and words of its own. Numbers are converted as Go converts them, which
 * cuts off what does not fit; types with a decoder of their own are given JSON again. */
#include "api/typed_reader.h"

#include <math.h>

#include "base/banned.h"

static const char *go_kind(const struct value *v)
{
    static const char *const names[] = {
        [VALUE_NULL] = "invalid",   [VALUE_BOOL] = "bool",     [VALUE_INT] = "int64",
        [VALUE_NUMBER] = "float64", [VALUE_STRING] = "string", [VALUE_ARRAY] = "slice",
        [VALUE_OBJECT] = "map",
    };
    return names[v->type];
}

int typed__map_mismatch(struct typed_reader *r, const struct value *in, const char *wanted)
{
    return err_set(r->err, ERR_BAD_REQUEST, "cannot restore %s from%s %s", wanted,
                   strcmp(wanted, "struct") == 0 ? ":" : "", go_kind(in));
}

/* Goes by the kind of type, whatever its name is. */
static int unrecognized(struct typed_reader *r, const struct kind_field *f)
{
    struct kind_field unnamed = *f;
    unnamed.go_type = STR("");
    return err_set(r->err, ERR_BAD_REQUEST, "unrecognized type: " STR_FMT,
                   STR_ARG(typed__go_element(r->arena, &unnamed)));
}

static int inconvertible(struct typed_reader *r, const struct kind_field *f, const struct value *in)
{
    return err_set(r->err, ERR_BAD_REQUEST, "cannot convert %s to " STR_FMT, go_kind(in),
                   STR_ARG(typed__go_element(r->arena, f)));
}

/* As amd64 does it: out of range is the least number. */
static int64_t cut_double(double d, bool is_32)
{
    double end = is_32 ? 0x1p31 : 0x1p63;
    if (d >= -end && d < end)
        return (int64_t)d;
    return is_32 ? INT32_MIN : INT64_MIN;
}

static int map_integer(struct typed_reader *r, const struct kind_field *f, const struct value *in,
                       struct value *ret)
{
    bool is_32 = f->scalar == KIND_INT32;
    double d;
    if (in->type == VALUE_INT) {
        *ret = value_int(is_32 ? (int32_t)(uint32_t)(uint64_t)in->i : in->i);
        return 0;
    }
    if (in->type != VALUE_NUMBER || !value_to_double(in, &d))
        return unrecognized(r, f);
    if (d != trunc(d))
        return inconvertible(r, f, in);
    *ret = value_int(cut_double(d, is_32));
    return 0;
}

static int map_bytes(struct typed_reader *r, const struct kind_field *f, const struct value *in,
                     struct value *ret)
{
    if (in->type != VALUE_STRING)
        return typed__map_mismatch(r, in, "slice");
    (void)typed__scalar(r, f, in, ret);
    if (!r->saved.p)
        return 0;
    struct str why = r->saved;
    r->saved = (struct str){ 0 };
    return err_set(r->err, ERR_BAD_REQUEST, "error decoding from json: " STR_FMT, STR_ARG(why));
}

/* A decoder that is started here knows nothing of the place it works for. */
static int map_decoded(struct typed_reader *r, const struct kind_field *f, const struct value *in,
                       struct value *ret)
{
    const struct typed_frame *top = r->top, *opaque = r->opaque;
    r->top = r->opaque = NULL;
    int bad = typed__scalar(r, f, in, ret);
    r->top = top;
    r->opaque = opaque;
    if (bad == 0 && r->saved.p)
        bad = err_set(r->err, ERR_BAD_REQUEST, STR_FMT, STR_ARG(r->saved));
    return bad;
}

int typed__map_scalar(struct typed_reader *r, const struct kind_field *f, const struct value *in,
                      struct value *ret)
{
    if (!in || in->type == VALUE_NULL)
        return typed__scalar(r, f, in, ret);
    switch ((enum kind_scalar)f->scalar) {
    case KIND_STRING:
        if (in->type == VALUE_INT)
            return inconvertible(r, f, in);
        return in->type == VALUE_STRING ? typed__scalar(r, f, in, ret) : unrecognized(r, f);
    case KIND_BOOL:
        return in->type == VALUE_BOOL ? typed__scalar(r, f, in, ret) : unrecognized(r, f);
    case KIND_INT32:
    case KIND_INT64:
        return map_integer(r, f, in, ret);
    case KIND_DOUBLE:
        return in->type == VALUE_INT || in->type == VALUE_NUMBER ? typed__scalar(r, f, in, ret)
                                                                 : unrecognized(r, f);
    case KIND_BYTES:
        return map_bytes(r, f, in, ret);
    default:
        return map_decoded(r, f, in, ret);
    }
}
