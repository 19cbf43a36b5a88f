/* The first two bytes choose a type, the rest is JSON: what typed_read() makes of it, written and
 * read again, is the same and has nothing unknown or twice in it. As its hub, it goes through the
 * version that it came from and comes back with nothing lost. */
#include <stdlib.h>

#include "api/convert/convert.h"
#include "api/convert/convert_check_test.h"
#include "api/defaults/defaults.h"
#include "api/typed.h"
#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

static void check_versions(struct arena *a, const struct kind_type *t, struct value *obj)
{
    const struct kind_type *hub = convert_hub(t);
    struct value live, shown, sent, next;
    value_drop_duplicates(a, obj);
    if (convert_object(a, t, hub, obj, &live, NULL) < 0 || hub == t ||
        convert_object(a, hub, t, &live, &shown, NULL) < 0)
        return;
    defaults_apply(a, t, &shown);
    must(typed_read(a, t, &shown, NULL, &sent, NULL) == 0);
    must(convert_object(a, t, hub, &sent, &next, NULL) == 0);
    must(convert_keep(a, t, &live, &next, NULL) == 0);
    must(has_all_of(&next, &live));
}

static void check(struct arena *a, const struct kind_type *t, const struct value *in)
{
    struct typed_notes notes;
    struct err err = ERR_INIT(a);
    struct value once, again, twice;
    autobuf text = { 0 };
    autobuf second = { 0 };
    if (typed_read(a, t, in, &notes, &once, &err) < 0)
        return;
    json_write(&text, &once);
    must(json_read(a, buf_str(&text), NULL, &again, NULL) == 0);
    must(typed_read(a, t, &again, &notes, &twice, NULL) == 0);
    json_write(&second, &twice);
    must(str_eq(buf_str(&text), buf_str(&second)));
    must(notes.n == 0);
    check_versions(a, t, &once);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (n < 2)
        return 0;
    struct arena a;
    arena_init(&a);
    const struct kind_type *t = &kind_types[(bytes[0] * 256u + bytes[1]) % n_kind_types];
    struct value v;
    if (json_read(&a, (struct str){ (const char *)bytes + 2, n - 2 }, NULL, &v, NULL) == 0)
        check(&a, t, &v);
    arena_done(&a);
    return 0;
}
