#include "api/go_type.h"

#include "base/banned.h"

void go_type_struct(struct buf *out, const struct kind_type *t)
{
    buf_printf(out, STR_FMT "." STR_FMT, STR_ARG(t->version), STR_ARG(t->name));
}

void go_type_element(struct buf *out, const struct kind_field *f)
{
    static const char *const names[] = {
        [KIND_STRING] = "string",
        [KIND_INT32] = "int32",
        [KIND_INT64] = "int64",
        [KIND_BOOL] = "bool",
        [KIND_BYTES] = "[]uint8",
        [KIND_DOUBLE] = "float64",
        [KIND_TIME] = "v1.Time",
        [KIND_MICRO_TIME] = "v1.MicroTime",
        [KIND_DURATION] = "v1.Duration",
        [KIND_QUANTITY] = "resource.Quantity",
        [KIND_INT_OR_STRING] = "intstr.IntOrString",
        [KIND_RAW] = "runtime.RawExtension",
        [KIND_FIELDS_V1] = "v1.FieldsV1",
        [KIND_ANY] = "interface {}",
    };
    if (f->go_type.n)
        buf_str_add(out, f->go_type);
    else if (f->scalar == KIND_STRUCT)
        go_type_struct(out, f->type);
    else
        buf_printf(out, "%s", names[f->scalar]);
}

void go_type_field(struct buf *out, const struct kind_field *f)
{
    static const char *const prefixes[] = {
        [KIND_SINGLE] = "", [KIND_LIST] = "[]", [KIND_MAP] = "map[string]"
    };
    if (f->shape == KIND_MAP && f->scalar == KIND_QUANTITY) {
        buf_printf(out, "v1.ResourceList"); /* the one map type that has a name of its own */
        return;
    }
    buf_printf(out, "%s", prefixes[f->shape]);
    go_type_element(out, f);
}
