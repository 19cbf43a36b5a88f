#include "api/convert/suite_convert.h"

#include "api/typed.h"
#include "base/yaml.h"

const struct kind_type *suite_convert_type(const char *api_version, const char *kind)
{
    const struct kind_type *t = kind_find(str_of(api_version), str_of(kind));
    if (!t)
        fail_msg("there is no %s %s", api_version, kind);
    return t;
}

struct value suite_convert_typed(struct arena *a, const struct kind_type *t,
                                 const struct value *obj)
{
    struct err err = ERR_INIT(a);
    struct value out;
    struct typed_notes notes;
    if (typed_read(a, t, obj, &notes, &out, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    if (notes.n)
        fail_msg(STR_FMT, STR_ARG(notes.notes[0]));
    return out;
}

struct value suite_convert_read(struct arena *a, const struct kind_type *t, const char *yaml)
{
    struct err err = ERR_INIT(a);
    struct value given;
    if (yaml_read(a, str_of(yaml), NULL, &given, &err) < 0)
        fail_msg("%s: " STR_FMT, yaml, STR_ARG(err.msg));
    value_put(a, &given, STR("kind"), value_string(t->name));
    value_put(a, &given, STR("apiVersion"), value_string(convert_api_version(a, t)));
    return suite_convert_typed(a, t, &given);
}
