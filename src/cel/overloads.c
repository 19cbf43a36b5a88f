/* All functions: the libraries one after the other, in the order in which upstream declares them.
 * The tables are constant and small; they are searched as they are, and only while compiling. */
#include "base/idiom.h"
#include "cel/internal.h"

#include "base/banned.h"

static const struct cel__library *const libraries[] = {
    &cel__lib_std,        &cel__lib_convert,      &cel__lib_time,      &cel__lib_optional,
    &cel__lib_url,        &cel__lib_regex,        &cel__lib_k8s_lists, &cel__lib_authz,
    &cel__lib_quantity,   &cel__lib_strings,      &cel__lib_format,    &cel__lib_sets,
    &cel__lib_ip,         &cel__lib_named_format, &cel__lib_semver,    &cel__lib_lists,
    &cel__lib_json_patch,
};

const struct cel__overload **cel__overloads_of(struct arena *a, const struct cel_env *env,
                                               struct str function, size_t *ret_n)
{
    const struct cel__overload **found = NULL;
    size_t n = 0, cap = 0;
    for (size_t i = 0; i < ARRAY_LEN(libraries); i++) {
        const struct cel__library *lib = libraries[i];
        if (lib->flag && !(env->flags & lib->flag))
            continue;
        for (size_t k = 0; k < lib->n; k++) {
            if (!str_eq(str_of(lib->rows[k].function), function))
                continue;
            if (n == cap) {
                size_t more = cap ? cap * 2 : 4;
                found = arena_grow(a, found, cap * sizeof(*found), more * sizeof(*found),
                                   alignof(void *));
                cap = more;
            }
            found[n++] = &lib->rows[k];
        }
    }
    *ret_n = n;
    return found;
}
