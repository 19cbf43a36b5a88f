#include "node/pod/pod_fields.h"

#include <math.h>
#include <stdlib.h>

#include "api/label_syntax.h"
#include "api/resource_name.h"
#include "base/buf.h"
#include "node/pod/pod_amount.h"
#include "node/pod/pod_spec.h"
#include "base/banned.h"

static int by_key(const void *a, const void *b)
{
    return str_cmp((*(const struct value_field *const *)a)->key,
                   (*(const struct value_field *const *)b)->key);
}

/* Labels or annotations, a line each: key="value". */
static struct str format_map(struct arena *a, const struct value *map)
{
    autobuf out = { 0 };
    size_t n = 0;
    const struct value_field **fields =
        arena_array(a, const struct value_field *, (value_is(map, VALUE_OBJECT) ? map->n : 0) + 1);
    value_each_field (f, map)
        fields[n++] = f;
    qsort(fields, n, sizeof(*fields), by_key);
    for (size_t i = 0; i < n; i++)
        buf_printf(&out, "%s" STR_FMT "=" STR_FMT, i ? "\n" : "", STR_ARG(fields[i]->key),
                   STR_ARG(go_quote(a, value_str(&fields[i]->val))));
    return arena_str(a, buf_str(&out));
}

/* metadata.labels['KEY'] in two; false: it has no such end. */
static bool split_subscript(struct str path, struct str *ret_path, struct str *ret_key)
{
    if (!str_ends(path, STR("']")))
        return false;
    for (size_t i = 1; i + 4 <= path.n; i++)
        if (path.p[i] == '[' && path.p[i + 1] == '\'') {
            *ret_path = str_take(path, i);
            *ret_key = str_skip(str_take(path, path.n - 2), i + 2);
            return true;
        }
    return false;
}

static int subscripted(struct arena *a, const struct value *pod, struct str path, struct str field,
                       struct str key, struct str *ret, struct err *err)
{
    autobuf why = { 0 };
    const bool is_labels = str_eq(field, STR("metadata.labels"));
    if (!is_labels && !str_eq(field, STR("metadata.annotations")))
        return err_set(err, ERR_INVALID, "fieldPath " STR_FMT " does not support subscript",
                       STR_ARG(go_quote(a, path)));
    char *lower = arena_dup(a, key.p, key.n);
    for (size_t i = 0; i < key.n && !is_labels; i++)
        lower[i] = (char)(lower[i] >= 'A' && lower[i] <= 'Z' ? lower[i] | 0x20 : lower[i]);
    if (!label_key_check((struct str){ lower, key.n }, &why))
        return err_set(err, ERR_INVALID, "invalid key subscript in " STR_FMT ": " STR_FMT,
                       STR_ARG(path), STR_ARG(buf_str(&why)));
    const struct value *map = value_dig(pod, "metadata", is_labels ? "labels" : "annotations");
    *ret = value_str(value_get(map, key));
    return 0;
}

int pod_field(struct arena *a, const struct value *pod, struct str path, struct str *ret,
              struct err *err)
{
    struct str field, key;
    if (split_subscript(path, &field, &key))
        return subscripted(a, pod, path, field, key, ret, err);
    if (str_eq(path, STR("metadata.annotations")))
        *ret = format_map(a, value_dig(pod, "metadata", "annotations"));
    else if (str_eq(path, STR("metadata.labels")))
        *ret = format_map(a, value_dig(pod, "metadata", "labels"));
    else if (str_eq(path, STR("metadata.name")))
        *ret = pod_name(pod);
    else if (str_eq(path, STR("metadata.namespace")))
        *ret = pod_ns(pod);
    else if (str_eq(path, STR("metadata.uid")))
        *ret = pod_uid(pod);
    else
        return err_set(err, ERR_INVALID, "unsupported fieldPath: " STR_FMT, STR_ARG(path));
    return 0;
}

/* ---- Resources ---- */

static bool has_default(struct str name)
{
    return resource_is_cpu_or_memory(name) || str_eq(name, STR("ephemeral-storage"));
}

static bool is_known_resource(struct str list, struct str name)
{
    return (str_eq(list, STR("limits")) || str_eq(list, STR("requests"))) &&
           (has_default(name) || resource_is_huge_page(name));
}

static struct str divide(struct arena *a, struct str amount, struct str divisor, bool milli)
{
    const int64_t by = !amount_milli(divisor) ? (milli ? 1000 : 1)
                       : milli                ? amount_milli(divisor)
                                              : amount_units(divisor);
    const int64_t n = milli ? amount_milli(amount) : amount_units(amount);
    return arena_printf(a, "%lld", (long long)ceil((double)n / (double)by));
}

int pod_resource_field(struct arena *a, const struct value *pod, const struct value *self,
                       const struct value *ref, const struct value *allocatable, struct str *ret,
                       struct err *err)
{
    struct str of = value_text(ref, "containerName"), name = value_text(ref, "resource");
    const struct value *container = of.n || !self ? pod_find_container(pod, of) : self;
    if (!container)
        return err_set(err, ERR_INVALID, "container " STR_FMT " not found", STR_ARG(of));
    struct str list = str_cut(&name, '.');
    if (!is_known_resource(list, name))
        return err_set(err, ERR_INVALID, "unsupported container resource : " STR_FMT,
                       STR_ARG(value_text(ref, "resource")));
    struct str amount = amount_of(value_get(container, STR("resources")), list, name);
    if (str_eq(list, STR("limits")) && has_default(name) && !amount_milli(amount))
        amount = value_str(value_get(allocatable, name));
    const struct value *divisor = value_get(ref, STR("divisor"));
    *ret = divide(a, amount, value_str(divisor), str_eq(name, STR("cpu")));
    return 0;
}
