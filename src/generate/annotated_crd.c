/* annotated_crd.c - an annotated header to CustomResourceDefinitions. */
#include "base/buf.h"
#include "base/idiom.h"
#include "generate/annotated_marker.h"
#include "generate/annotated_schema.h"
#include "generate/client_verbs.h"
#include "generate/model.h"
#include "generate/names.h"
#include "base/banned.h"

/* A definition while its markers are read. */
struct draft {
    struct annotated *in;
    struct arena *arena;
    struct str kind, plural, singular, scope;
    struct value short_names, categories;
    struct value annotations, labels;
    struct value columns, selectable, subresources;
    struct str deprecation;
    bool is_deprecated;
    unsigned skipped;        /* enum client_verb: calls that are not made */
    bool has_only, has_skip; /* verbs were chosen, or left out */
    struct err *err;
};

static int unknown_word(struct draft *d, const struct annotated_marker *m, struct str key)
{
    return annotated_error(d->in, m->line, d->err, "+" STR_FMT ": there is no `" STR_FMT "`",
                           STR_ARG(m->text), STR_ARG(key));
}

static int read_resource(struct draft *d, const struct annotated_marker *m, struct str args)
{
    struct str key, value;
    while (annotated_next(d->arena, &args, &key, &value)) {
        if (str_eq(key, STR("path")))
            d->plural = value;
        else if (str_eq(key, STR("singular")))
            d->singular = value;
        else if (str_eq(key, STR("scope")))
            d->scope = value;
        else if (str_eq(key, STR("shortName")))
            d->short_names = annotated_list(d->arena, value);
        else if (str_eq(key, STR("categories")))
            d->categories = annotated_list(d->arena, value);
        else
            return unknown_word(d, m, key);
    }
    if (!str_eq(d->scope, STR("Namespaced")) && !str_eq(d->scope, STR("Cluster")))
        return annotated_error(d->in, m->line, d->err, "the scope is Namespaced or Cluster");
    return 0;
}

static int read_column(struct draft *d, const struct annotated_marker *m, struct str args)
{
    struct arena *a = d->arena;
    struct value column = value_object();
    struct str key, value;
    while (annotated_next(a, &args, &key, &value)) {
        int64_t priority;
        if (str_eq(key, STR("JSONPath")))
            value_put(a, &column, STR("jsonPath"), value_string(value));
        else if (str_eq(key, STR("priority")) && str_to_i64(value, &priority))
            value_put(a, &column, key, value_int(priority));
        else if (str_eq(key, STR("name")) || str_eq(key, STR("type")) ||
                 str_eq(key, STR("description")) || str_eq(key, STR("format")))
            value_put(a, &column, key, value_string(value));
        else
            return unknown_word(d, m, key);
    }
    if (!value_get(&column, STR("name")) || !value_get(&column, STR("type")) ||
        !value_get(&column, STR("jsonPath")))
        return annotated_error(d->in, m->line, d->err, "a column needs name, type and JSONPath");
    value_put_item(a, &d->columns, column);
    return 0;
}

static int read_scale(struct draft *d, const struct annotated_marker *m, struct str args)
{
    static const struct {
        struct str marker, key;
    } rows[] = {
        { STR("specpath"), STR("specReplicasPath") },
        { STR("statuspath"), STR("statusReplicasPath") },
        { STR("selectorpath"), STR("labelSelectorPath") },
    };
    struct value scale = value_object();
    struct str key, value;
    while (annotated_next(d->arena, &args, &key, &value)) {
        size_t i = 0;
        while (i < 3 && !str_eq(rows[i].marker, key))
            i++;
        if (i == 3)
            return unknown_word(d, m, key);
        value_put(d->arena, &scale, rows[i].key, value_string(value));
    }
    value_put(d->arena, &d->subresources, STR("scale"), scale);
    return 0;
}

static int read_subresource(struct draft *d, const struct annotated_marker *m, struct str rest)
{
    if (str_eq(rest, STR("status"))) {
        value_put(d->arena, &d->subresources, STR("status"), value_object());
        return 0;
    }
    if (str_starts(rest, STR("scale:")))
        return read_scale(d, m, str_skip(rest, 6));
    return unknown_word(d, m, rest);
}

/* annotations="key=value" or labels=... */
static int read_metadata(struct draft *d, const struct annotated_marker *m, struct str args)
{
    struct str key, value;
    while (annotated_next(d->arena, &args, &key, &value)) {
        struct value *to = str_eq(key, STR("annotations")) ? &d->annotations
                           : str_eq(key, STR("labels"))    ? &d->labels
                                                           : NULL;
        if (!to)
            return unknown_word(d, m, key);
        struct str name = str_cut(&value, '=');
        value_put(d->arena, to, name, value_string(value.p ? value : STR("")));
    }
    return 0;
}

static int read_selectable(struct draft *d, const struct annotated_marker *m, struct str args)
{
    struct str key, value;
    while (annotated_next(d->arena, &args, &key, &value)) {
        if (!str_eq(key, STR("JSONPath")))
            return unknown_word(d, m, key);
        struct value field = value_object();
        value_put(d->arena, &field, STR("jsonPath"), value_string(value));
        value_put_item(d->arena, &d->selectable, field);
    }
    return 0;
}

static int read_deprecation(struct draft *d, const struct annotated_marker *m, struct str args)
{
    struct str key, value;
    d->is_deprecated = true;
    while (annotated_next(d->arena, &args, &key, &value)) {
        if (!str_eq(key, STR("warning")))
            return unknown_word(d, m, key);
        d->deprecation = value;
    }
    return 0;
}

/* ---- Which calls are made ---- */

static int read_verbs(struct draft *d, const struct annotated_marker *m, struct str list,
                      unsigned *ret)
{
    struct str unknown;
    if (client_verbs_read(list, ret, &unknown))
        return 0;
    return unknown_word(d, m, unknown);
}

static int read_only(struct draft *d, const struct annotated_marker *m, struct str list)
{
    unsigned verbs;
    int r = read_verbs(d, m, list, &verbs);
    if (r < 0)
        return r;
    d->has_only = true;
    d->skipped |= CLIENT_ALL & ~verbs;
    return 0;
}

static int read_skip(struct draft *d, const struct annotated_marker *m, struct str list)
{
    unsigned verbs;
    int r = read_verbs(d, m, list, &verbs);
    if (r < 0)
        return r;
    d->has_skip = true;
    d->skipped |= verbs;
    return 0;
}

/* Extra methods (+genclient:method=) are for Go: they name its packages. */
static int read_client(struct draft *d, const struct annotated_marker *m, struct str what)
{
    if (str_eq(what, STR("nonNamespaced")))
        d->scope = STR("Cluster");
    else if (str_eq(what, STR("noVerbs")))
        d->skipped = CLIENT_ALL;
    else if (str_eq(what, STR("noStatus")))
        d->skipped |= CLIENT_UPDATE_STATUS | CLIENT_APPLY_STATUS;
    else if (str_starts(what, STR("onlyVerbs=")))
        return read_only(d, m, str_skip(what, STR("onlyVerbs=").n));
    else if (str_starts(what, STR("skipVerbs=")))
        return read_skip(d, m, str_skip(what, STR("skipVerbs=").n));
    else if (!str_starts(what, STR("method=")))
        return annotated_error(d->in, m->line, d->err, "there is no marker +" STR_FMT,
                               STR_ARG(m->text));
    return 0;
}

static int read_marker(struct draft *d, const struct annotated_marker *m)
{
    static const struct {
        struct str prefix;
        int (*read)(struct draft *d, const struct annotated_marker *m, struct str rest);
    } rows[] = {
        { STR("genclient:"), read_client },
        { STR("kubebuilder:resource:"), read_resource },
        { STR("kubebuilder:printcolumn:"), read_column },
        { STR("kubebuilder:subresource:"), read_subresource },
        { STR("kubebuilder:metadata:"), read_metadata },
        { STR("kubebuilder:selectablefield:"), read_selectable },
        { STR("kubebuilder:deprecatedversion:"), read_deprecation },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str rest = annotated_behind(m, rows[i].prefix);
        if (rest.p)
            return rows[i].read(d, m, rest);
    }
    if (str_eq(m->text, STR("kubebuilder:deprecatedversion")))
        d->is_deprecated = true;
    struct str name = annotated_behind(m, STR("resourceName="));
    if (name.p)
        d->plural = name;
    return 0;
}

static int read_markers(struct draft *d, const struct annotated_struct *s)
{
    for (const struct annotated_marker *m = s->markers; m; m = m->next) {
        int r = read_marker(d, m);
        if (r < 0)
            return r;
        if (d->has_only && d->has_skip)
            return annotated_error(d->in, m->line, d->err,
                                   "verbs are either chosen (onlyVerbs) or left out (skipVerbs)");
    }
    return 0;
}

/* ---- Putting it together ---- */

static void put_text(struct arena *a, struct value *to, const char *key, struct str text)
{
    value_put(a, to, str_of(key), value_string(text));
}

static struct value names_part(struct draft *d)
{
    struct value names = value_object();
    put_text(d->arena, &names, "kind", d->kind);
    put_text(d->arena, &names, "listKind",
             arena_printf(d->arena, STR_FMT "List", STR_ARG(d->kind)));
    put_text(d->arena, &names, "plural", d->plural);
    put_text(d->arena, &names, "singular", d->singular);
    if (d->short_names.n)
        value_put(d->arena, &names, STR("shortNames"), d->short_names);
    if (d->categories.n)
        value_put(d->arena, &names, STR("categories"), d->categories);
    return names;
}

static struct value version_part(struct draft *d, struct str version, struct value schema)
{
    struct arena *a = d->arena;
    struct value v = value_object(), outer = value_object();
    put_text(a, &v, "name", version);
    value_put(a, &v, STR("served"), value_bool(true));
    value_put(a, &v, STR("storage"), value_bool(true));
    if (d->is_deprecated)
        value_put(a, &v, STR("deprecated"), value_bool(true));
    if (d->deprecation.n)
        put_text(a, &v, "deprecationWarning", d->deprecation);
    value_put(a, &outer, STR("openAPIV3Schema"), schema);
    value_put(a, &v, STR("schema"), outer);
    if (d->subresources.n)
        value_put(a, &v, STR("subresources"), d->subresources);
    if (d->selectable.n)
        value_put(a, &v, STR("selectableFields"), d->selectable);
    if (d->columns.n)
        value_put(a, &v, STR("additionalPrinterColumns"), d->columns);
    return v;
}

/* Servers want to be told that such a group is not one of the Kubernetes project. */
static void add_approval(struct draft *d, struct str group)
{
    static const struct str key = STR("api-approved.kubernetes.io");
    bool is_guarded = str_ends(group, STR(".k8s.io")) || str_ends(group, STR(".kubernetes.io"));
    if (is_guarded && !value_get(&d->annotations, key))
        value_put(d->arena, &d->annotations, key,
                  value_string(STR("unapproved, not part of the Kubernetes project")));
}

static struct value metadata_part(struct draft *d, struct str group, struct str names)
{
    struct value meta = value_object();
    put_text(d->arena, &meta, "name",
             arena_printf(d->arena, STR_FMT "." STR_FMT, STR_ARG(d->plural), STR_ARG(group)));
    add_approval(d, group);
    if (names.n)
        value_put(d->arena, &d->annotations, STR(MODEL_NAMES_ANNOTATION),
                  value_string(arena_str(d->arena, names)));
    if (d->skipped)
        value_put(d->arena, &d->annotations, STR(MODEL_SKIP_ANNOTATION),
                  value_string(client_verbs_text(d->arena, d->skipped)));
    if (d->annotations.n)
        value_put(d->arena, &meta, STR("annotations"), d->annotations);
    if (d->labels.n)
        value_put(d->arena, &meta, STR("labels"), d->labels);
    return meta;
}

static struct value definition(struct draft *d, struct str names, struct value schema)
{
    struct arena *a = d->arena;
    struct str group = annotated_value(d->in->markers, STR("groupName"));
    struct str version = annotated_value(d->in->markers, STR("versionName"));
    struct value crd = value_object(), spec = value_object(), versions = value_array();
    put_text(a, &crd, "apiVersion", STR("apiextensions.k8s.io/v1"));
    put_text(a, &crd, "kind", STR("CustomResourceDefinition"));
    value_put(a, &crd, STR("metadata"), metadata_part(d, group, names));
    put_text(a, &spec, "group", group);
    value_put(a, &spec, STR("names"), names_part(d));
    put_text(a, &spec, "scope", d->scope);
    value_put_item(a, &versions, version_part(d, version.n ? version : STR("v1"), schema));
    value_put(a, &spec, STR("versions"), versions);
    value_put(a, &crd, STR("spec"), spec);
    return crd;
}

static int add_definition(struct annotated *in, struct annotated_struct *s, struct value *all,
                          struct err *err)
{
    struct arena *a = in->arena;
    struct draft d = { .in = in,
                       .arena = a,
                       .kind = names_pascal(a, s->name),
                       .scope = STR("Namespaced"),
                       .annotations = value_object(),
                       .labels = value_object(),
                       .columns = value_array(),
                       .selectable = value_array(),
                       .subresources = value_object(),
                       .err = err };
    struct str kind = annotated_value(s->markers, STR("kubebuilder:object:kind"));
    if (kind.n)
        d.kind = kind;
    d.singular = names_lower(a, d.kind);
    d.plural = names_plural(a, d.singular);
    autobuf names = { 0 };
    if (!str_eq(names_snake(a, d.kind), s->name))
        buf_printf(&names, "=" STR_FMT, STR_ARG(s->name));
    int r = read_markers(&d, s);
    if (r < 0)
        return r;
    struct value schema;
    r = annotated_schema(in, s, &schema, &names, err);
    if (r < 0)
        return r;
    value_put_item(a, all, definition(&d, buf_str(&names), schema));
    return 0;
}

static bool is_kind(const struct annotated_struct *s)
{
    return annotated_has(s->markers, STR("genclient")) ||
           str_eq(annotated_value(s->markers, STR("kubebuilder:object:root")), STR("true"));
}

int annotated_definitions(struct annotated *in, struct value *ret, struct err *err)
{
    *ret = value_array();
    if (!annotated_value(in->markers, STR("groupName")).n)
        return annotated_error(in, 1, err, "a comment must say +groupName=GROUP");
    for (struct annotated_struct *s = in->structs; s; s = s->next) {
        int r = is_kind(s) ? add_definition(in, s, ret, err) : 0;
        if (r < 0)
            return r;
    }
    if (!ret->n)
        return annotated_error(in, 1, err, "no struct is a kind; +genclient above it makes it one");
    return 0;
}
