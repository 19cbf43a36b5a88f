#include "schema/schema_fields.h"

#include <stdlib.h>

#include "base/banned.h"

enum { SORTED_FROM = 16 };

static int compare(const void *key, const void *entry)
{
    return str_cmp(*(const struct str *)key, (*(const struct value_field *const *)entry)->key);
}

const struct value *schema_fields_get(struct schema_fields *f, struct str name)
{
    if (!value_is(f->obj, VALUE_OBJECT) || f->obj->n <= SORTED_FROM)
        return value_get(f->obj, name);
    if (!f->sorted.n)
        f->sorted = sorted_fields(f->arena, f->obj);
    const struct value_field **found =
        bsearch(&name, f->sorted.fields, f->sorted.n, sizeof(*f->sorted.fields), compare);
    return found ? &(*found)->val : NULL;
}
