/* CustomResourceDefinitions of apiextensions.k8s.io/v1beta1.
 *
 * There a definition may say once, for all of its versions, what the hub says of each; and it must
 * where all versions say the same. */
#include "api/convert/convert_internal.h"
#include "base/idiom.h"
#include "base/banned.h"

/* What stands at the top of the old spec, and its name in a version. */
static const struct {
    struct str top, of_version;
} shared_fields[] = {
    { STR("validation"), STR("schema") },
    { STR("subresources"), STR("subresources") },
    { STR("additionalPrinterColumns"), STR("additionalPrinterColumns") },
    { STR("selectableFields"), STR("selectableFields") },
};

enum { N_SHARED_FIELDS = ARRAY_LEN(shared_fields) };

/* ---- Columns: JSONPath once, jsonPath now ---- */

static void column_in(struct arena *a, struct value *column)
{
    convert__rename(a, column, STR("JSONPath"), STR("jsonPath"));
}

static void column_out(struct arena *a, struct value *column)
{
    convert__rename(a, column, STR("jsonPath"), STR("JSONPath"));
}

/* Of a version, or of the old spec. */
static void columns_in(struct arena *a, struct value *holder)
{
    convert__each(a, holder, STR("additionalPrinterColumns"), column_in);
}

static void columns_out(struct arena *a, struct value *holder)
{
    convert__each(a, holder, STR("additionalPrinterColumns"), column_out);
}

/* ---- Versions ---- */

static void make_version(struct arena *a, struct value *spec)
{
    const struct value *name = value_get(spec, STR("version"));
    if (convert__given(value_get(spec, STR("versions"))) || !value_str(name).n)
        return;
    struct value version = value_object(), list = value_array();
    value_put_new(a, &version, STR("name"), value_borrow(name));
    value_put_new(a, &version, STR("served"), value_bool(true));
    value_put_new(a, &version, STR("storage"), value_bool(true));
    value_put_item(a, &list, version);
    value_put(a, spec, STR("versions"), list);
}

static void share_out(struct arena *a, struct value *spec, size_t field)
{
    const struct value *top = convert__given(value_get(spec, shared_fields[field].top));
    struct value shared = top ? value_borrow(top) : value_null();
    struct value *versions = value_edit(a, spec, STR("versions"));
    for (size_t i = 0; top && value_is(versions, VALUE_ARRAY) && i < versions->n; i++)
        value_put(a, value_edit_at(a, versions, i), shared_fields[field].of_version, shared);
}

/* Moves to the top what all versions say alike. */
static void gather(struct arena *a, struct value *spec, size_t field)
{
    struct str name = shared_fields[field].of_version;
    struct value *versions = value_edit(a, spec, STR("versions"));
    const struct value *first = convert__given(value_get(value_at(versions, 0), name));
    value_each_item (version, versions)
        if (!value_eq(convert__given(value_get(version, name)), first))
            return;
    if (!first)
        return;
    struct value shared = value_borrow(first);
    for (size_t i = 0; i < versions->n; i++)
        value_drop(a, value_edit_at(a, versions, i), name);
    value_put(a, spec, shared_fields[field].top, shared);
}

/* ---- Webhooks that convert ---- */

static void conversion_in(struct arena *a, struct value *conversion)
{
    struct value webhook = value_object();
    convert__copy(a, &webhook, STR("clientConfig"), conversion, STR("webhookClientConfig"));
    convert__copy(a, &webhook, STR("conversionReviewVersions"), conversion,
                  STR("conversionReviewVersions"));
    if (webhook.n)
        value_put(a, conversion, STR("webhook"), webhook);
}

static void conversion_out(struct arena *a, struct value *conversion)
{
    const struct value *webhook = value_get(conversion, STR("webhook"));
    convert__copy(a, conversion, STR("webhookClientConfig"), webhook, STR("clientConfig"));
    convert__copy(a, conversion, STR("conversionReviewVersions"), webhook,
                  STR("conversionReviewVersions"));
}

/* ---- The whole ---- */

int convert__definition_in(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    struct value *spec = convert__edit(a, obj, STR("spec"));
    if (!spec)
        return 0;
    make_version(a, spec);
    for (size_t i = 0; i < N_SHARED_FIELDS; i++)
        share_out(a, spec, i);
    convert__each(a, spec, STR("versions"), columns_in);
    struct value *conversion = convert__edit(a, spec, STR("conversion"));
    if (conversion)
        conversion_in(a, conversion);
    return 0;
}

int convert__definition_out(struct arena *a, struct value *obj, struct err *err)
{
    (void)err;
    struct value *spec = convert__edit(a, obj, STR("spec"));
    if (!spec)
        return 0;
    struct value *versions = value_edit(a, spec, STR("versions"));
    if (value_is(versions, VALUE_ARRAY) && versions->n) {
        convert__copy(a, spec, STR("version"), value_at(versions, 0), STR("name"));
        for (size_t i = 0; i < N_SHARED_FIELDS; i++)
            gather(a, spec, i);
    }
    columns_out(a, spec);
    convert__each(a, spec, STR("versions"), columns_out);
    struct value *conversion = convert__edit(a, spec, STR("conversion"));
    if (conversion)
        conversion_out(a, conversion);
    /* Left unsaid it would become true when it is sent back. */
    if (!convert__given(value_get(spec, STR("preserveUnknownFields"))))
        value_put(a, spec, STR("preserveUnknownFields"), value_bool(false));
    return 0;
}
