/* openapi_help.c - a sentence each for the fields that people look up most. */
#include "api/openapi_internal.h"

#include "base/banned.h"

static const struct {
    struct str type, field, text; /* no field: the type itself */
} rows[] = {
    { STR("ObjectMeta"), STR("name"), STR("Unique among objects of its kind in the namespace.") },
};

struct str openapi_help(const struct kind_type *t, struct str field)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (str_eq(rows[i].type, t->name) && str_eq(rows[i].field, field))
            return rows[i].text;
    return STR("");
}
