/* PriorityLevelConfigurations: the shares of a limited level had another name, and then no zero. */
#include "api/convert/convert_internal.h"
#include "api/keys.h"
#include "base/banned.h"

#define ZERO_IS_MEANT STR(KEY_PRESERVE_ZERO_SHARES)
#define ASSURED       STR("assuredConcurrencyShares")
#define NOMINAL       STR("nominalConcurrencyShares")

static struct value *edit_limited(struct arena *a, struct value *obj)
{
    return convert__edit(a, convert__edit(a, obj, STR("spec")), STR("limited"));
}

int convert__priority_level_in(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    struct value *limited = edit_limited(a, obj);
    if (limited)
        convert__rename(a, limited, ASSURED, NOMINAL);
    return 0;
}

int convert__priority_level_out(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    struct value *limited = edit_limited(a, obj);
    if (limited)
        convert__rename(a, limited, NOMINAL, ASSURED);
    return 0;
}

int convert__priority_level_3_in(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    convert__note_drop(a, obj, ZERO_IS_MEANT);
    return 0;
}

int convert__priority_level_3_out(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    const struct value *limited = value_dig(obj, "spec", "limited");
    int64_t shares = 0;
    (void)value_to_int(value_get(limited, NOMINAL), &shares);
    if (value_is(limited, VALUE_OBJECT) && !shares)
        convert__note_set(a, obj, ZERO_IS_MEANT, STR(""));
    return 0;
}
