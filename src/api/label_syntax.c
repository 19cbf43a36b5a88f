#include "api/label_syntax.h"

#include "api/names.h"
#include "base/banned.h"

static bool check(enum name_rule rule, struct str text, struct buf *why)
{
    struct name_faults faults = { 0 };
    if (name_check(rule, text, &faults))
        return true;
    for (size_t i = 0; why && i < faults.n; i++)
        buf_printf(why, "%s%s%s", i ? "; " : "", faults.list[i].part, faults.list[i].why);
    return false;
}

bool label_key_check(struct str key, struct buf *why)
{
    return check(NAME_QUALIFIED, key, why);
}

bool label_value_check(struct str value, struct buf *why)
{
    return check(NAME_LABEL_VALUE, value, why);
}
