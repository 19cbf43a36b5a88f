#include "server/discovery/openapi_foreign.h"

#include "base/json.h"
#include "base/banned.h"

static void add_field(struct buf *out, const struct value_field *f)
{
    buf_byte(out, ',');
    json_write_string(out, f->key);
    buf_byte(out, ':');
    json_write(out, &f->val);
}

static void add_paths(struct buf *out, struct arena *a, const struct value *paths,
                      const struct catalog_version *v)
{
    struct str own =
        arena_printf(a, "/apis/" STR_FMT "/" STR_FMT "/", STR_ARG(v->group), STR_ARG(v->version));
    value_each_field (f, paths)
        if (str_starts(f->key, own))
            add_field(out, f);
}

/* Names of definitions are long and quoted, so nothing else looks like one. */
static bool has_definition(struct arena *a, struct str there, struct str name)
{
    struct str key = arena_printf(a, "\"" STR_FMT "\":", STR_ARG(name));
    return memmem(there.p, there.n, key.p, key.n) != NULL;
}

void openapi_foreign_swagger(struct buf *paths, struct buf *definitions, struct arena *a,
                             struct str there, struct str swagger, const struct catalog_version *v,
                             struct map *seen)
{
    struct value doc;
    if (!swagger.n || json_read(a, swagger, NULL, &doc, NULL) < 0)
        return;
    if (paths)
        add_paths(paths, a, value_get(&doc, STR("paths")), v);
    value_each_field (f, value_get(&doc, STR("definitions"))) {
        if (!definitions || map_get(seen, f->key) || has_definition(a, there, f->key))
            continue;
        (void)map_set(seen, f->key, seen);
        add_field(definitions, f);
    }
}
