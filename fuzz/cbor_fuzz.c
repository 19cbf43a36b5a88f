/* CBOR that is accepted can be written and read again as the same tree, and what is written is
 * written the same way again, without a type and as a Secret. A sequence is taken to pieces. */
#include <stdlib.h>

#include "api/codec/cbor.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

static void check(struct arena *a, const struct kind_type *t, const struct value *v)
{
    autobuf out = { 0 };
    autobuf second = { 0 };
    struct value again;
    cbor_write(&out, t, v);
    must(cbor_is(buf_str(&out)));
    must(cbor_read(a, buf_str(&out), &again, NULL) == 0);
    must(value_eq(v, &again));
    cbor_write(&second, t, &again);
    must(str_eq(buf_str(&out), buf_str(&second)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct str rest = { (const char *)bytes, n };
    struct value v;
    while (cbor_read_next(&a, &rest, &v, &err) == 0) {
        check(&a, NULL, &v);
        check(&a, kind_type_find(STR(""), STR("v1"), STR("Secret")), &v);
        if (rest.n == 0)
            break;
    }
    arena_done(&a);
    return 0;
}
