/* The small kinds of the core group. */
#include "api/names.h"
#include "api/validate_internal.h"
#include "base/banned.h"

/* ---- Namespace ---- */

static void check_namespace_finalizers(struct field_errors *e, const struct value *obj)
{
    struct field_path spec = { .name = STR("spec") };
    struct field_path finalizers = field_child(&spec, STR("finalizers"));
    size_t i = 0;
    value_each_item (it, value_dig(obj, "spec", "finalizers")) {
        struct field_path path = field_index(&finalizers, i++);
        struct name_faults faults = { 0 };
        struct str name = value_str(it);
        if (!name_check(NAME_QUALIFIED, name, &faults))
            for (size_t k = 0; k < faults.n; k++)
                field_error(e, FIELD_INVALID, &path, field_quoted(e, name), "%s%s",
                            faults.list[k].part, faults.list[k].why);
        if (str_find(name, '/') < 0 && !str_eq(name, STR("kubernetes")) &&
            !str_eq(name, STR("orphan")) && !str_eq(name, STR("foregroundDeletion")))
            field_error(e, FIELD_INVALID, &path, field_quoted(e, name),
                        "name is neither a standard finalizer name nor is it fully qualified");
    }
}

static void update_namespace_sub(struct field_errors *e, struct str sub, const struct value *obj,
                                 const struct value *old_obj)
{
    (void)old_obj;
    if (str_eq(sub, STR("finalize")))
        check_namespace_finalizers(e, obj);
}

const struct validate_rules validate__core[] = {
    { STR(""), STR("Namespace"), .create = check_namespace_finalizers,
      .update_sub = update_namespace_sub },
    { .kind = { NULL, 0 } },
};
