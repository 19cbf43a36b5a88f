#include "admission/quota/quota_config.h"

#include "admission/config.h"
#include "api/field_errors.h"
#include "api/words.h"
#include "base/idiom.h"
#include "base/banned.h"

static int need_list(const struct value *v, struct str where, const char *field, struct err *err)
{
    if (!v || value_is(v, VALUE_NULL) || value_is(v, VALUE_ARRAY))
        return 0;
    return err_set(err, ERR_INVALID, STR_FMT "%s must be a list", STR_ARG(where), field);
}

static int read_limited(struct arena *a, const struct value *item, size_t i,
                        struct quota_limited *ret, struct field_errors *faults, struct err *err)
{
    static const struct str fields[] = { STR("apiGroup"), STR("resource"), STR("matchContains"),
                                         STR("matchScopes") };
    static const struct field_path top = { .name = STR("limitedResources") };
    const struct field_path at = field_index(&top, i), path = field_child(&at, STR("resource"));
    struct str where = arena_printf(a, "limitedResources[%zu]", i);
    const struct value *contains = value_get(item, STR("matchContains")),
                       *scopes = value_get(item, STR("matchScopes"));
    int r = admission_config_fields(item, where, WORDS(fields), err);
    if (r < 0)
        return r;
    r = need_list(contains, where, ".matchContains", err);
    if (r < 0)
        return r;
    r = need_list(scopes, where, ".matchScopes", err);
    if (r < 0)
        return r;
    *ret = (struct quota_limited){
        .group = arena_str(a, value_text(item, "apiGroup")),
        .plural = arena_str(a, value_text(item, "resource")),
        .contains = contains ? value_clone(a, contains) : value_array(),
        .scopes = scopes ? value_clone(a, scopes) : value_array(),
    };
    if (!ret->plural.n)
        field_required(faults, &path, "");
    return 0;
}

int quota_config_read(struct arena *a, const struct value *tree, struct quota_config *ret,
                      struct err *err)
{
    static const struct str fields[] = { STR("limitedResources") };
    static const struct admission_form forms[] = {
        { STR("apiserver.config.k8s.io/v1"), STR("ResourceQuotaConfiguration"), WORDS(fields) },
        { STR("resourcequota.admission.k8s.io/v1beta1"), STR("Configuration"), WORDS(fields) },
        { STR("resourcequota.admission.k8s.io/v1alpha1"), STR("Configuration"), WORDS(fields) },
    };
    const struct value *list = value_get(tree, STR("limitedResources"));
    struct field_errors faults = FIELD_ERRORS_INIT(err->arena);
    size_t form = ARRAY_LEN(forms) - 1, i = 0;
    while (form && !str_eq(forms[form].version, value_text(tree, "apiVersion")))
        form--;
    int r = admission_config_check(tree, &forms[form], err);
    if (r < 0)
        return r;
    r = need_list(list, STR(""), "limitedResources", err);
    if (r < 0)
        return r;
    struct quota_limited *limited =
        arena_array(a, struct quota_limited, value_is(list, VALUE_ARRAY) ? list->n : 0);
    value_each_item (it, list) {
        r = read_limited(a, it, i, &limited[i], &faults, err);
        if (r < 0)
            return r;
        i++;
    }
    *ret = (struct quota_config){ limited, i };
    if (faults.n)
        return err_set(err, ERR_INVALID, STR_FMT, STR_ARG(field_errors_text(&faults)));
    return 0;
}
