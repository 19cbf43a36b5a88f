/* The first two bytes choose a type, the rest is a message. What proto_read() makes of it, written
 * and read again, is the same. The same bytes as an envelope must not hurt either. */
#include <stdlib.h>

#include "api/codec/proto.h"
#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check(struct arena *a, const struct kind_type *t, struct str message)
{
    struct value once, twice;
    autobuf out = { 0 };
    autobuf first = { 0 };
    autobuf second = { 0 };
    if (proto_read(a, t, message, STR("v1"), STR("K"), &once, NULL) < 0)
        return;
    proto_write(&out, t, &once);
    if (proto_read(a, t, buf_str(&out), STR("v1"), STR("K"), &twice, NULL) < 0)
        abort();
    json_write(&first, &once);
    json_write(&second, &twice);
    if (!str_eq(buf_str(&first), buf_str(&second)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (n < 2)
        return 0;
    struct arena a;
    arena_init(&a);
    const struct kind_type *t = &kind_types[(bytes[0] * 256u + bytes[1]) % n_kind_types];
    struct str rest = { (const char *)bytes + 2, n - 2 };
    struct proto_envelope e;
    if (t->form == KIND_FORM_OBJECT) /* the others stand inside something only */
        check(&a, t, rest);
    (void)proto_envelope_read((struct str){ (const char *)bytes, n }, &e, NULL);
    arena_done(&a);
    return 0;
}
