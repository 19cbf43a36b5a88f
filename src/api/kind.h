/* kind.h - what the server knows of a kind: a table, not a C struct.
 *
 * Built-in kinds come from kinds/ (tools/kindgen makes gen_kinds.c at build time); custom ones are
 * made from a definition's schema at run time (struct kind_custom). Decoding, defaulting, pruning,
 * patching, protobuf and OpenAPI all walk the same table. Tables are immutable; any thread may read
 * them. */
#pragma once

#include "base/str.h"

/* What one value is. */
enum kind_scalar {
    KIND_STRING,
    KIND_INT32,
    KIND_INT64,
    KIND_BOOL,
    KIND_BYTES, /* base64 in JSON */
    KIND_DOUBLE,
    KIND_TIME,          /* RFC 3339, seconds */
    KIND_MICRO_TIME,    /* RFC 3339, microseconds */
    KIND_DURATION,      /* "1h2m" in JSON, nanoseconds in protobuf */
    KIND_QUANTITY,      /* "500m"; a number is accepted too */
    KIND_INT_OR_STRING, /* 80 or "http" */
    KIND_RAW,           /* any object, kept as it is */
    KIND_FIELDS_V1,     /* the field set of server-side apply */
    KIND_ANY,           /* any JSON at all */
    KIND_STRUCT,        /* see `type` */
};

enum kind_shape { KIND_SINGLE, KIND_LIST, KIND_MAP /* text to value */ };

/* How server-side apply treats a list, map or struct. */
enum kind_merge {
    KIND_MERGE_UNSAID, /* lists and scalars are atomic, maps and structs granular */
    KIND_MERGE_ATOMIC,
    KIND_MERGE_SET,
    KIND_MERGE_MAP, /* a list whose items are told apart by `list_keys` */
    KIND_MERGE_GRANULAR,
};

enum kind_field_flags {
    KIND_POINTER = 1 << 0,     /* zero and absent differ */
    KIND_REQUIRED = 1 << 1,    /* for OpenAPI and validation */
    KIND_OMIT_EMPTY = 1 << 2,  /* an encoder leaves out the zero value */
    KIND_INLINE = 1 << 3,      /* in JSON its members belong to the parent */
    KIND_PATCH_MERGE = 1 << 4, /* strategic merge patch: by `patch_key`, or as a set without one */
    KIND_RETAIN_KEYS = 1 << 5,
    KIND_CLOSED = 1 << 6,        /* only `values` are allowed; else they are merely known */
    KIND_OMIT_ZERO = 1 << 7,     /* left out also where it is a struct, e.g. a time */
    KIND_PATCH_REPLACE = 1 << 8, /* strategic merge patch: as a whole, although it is a struct */
    KIND_DEFAULT_TOLD = 1 << 9,  /* OpenAPI tells the default; else it is merely applied */
    KIND_MILLI = 1 << 10,        /* quantities that are rounded up to whole millis */
    KIND_EMPTY_TOLD = 1 << 11,   /* an empty list is told from none until it is stored */
    KIND_OLD = 1 << 12,          /* upstream has dropped it: nobody is told that it is there */
};

struct arena;
struct kind_type;
struct value;

struct kind_field {
    struct str name; /* as in JSON */
    uint16_t number; /* in protobuf; 0: not there */
    uint8_t scalar;  /* enum kind_scalar */
    uint8_t shape;   /* enum kind_shape */
    uint8_t merge;   /* enum kind_merge */
    uint16_t flags;  /* enum kind_field_flags */
    uint8_t n_list_keys;
    uint8_t n_values;
    const struct kind_type *type;      /* KIND_STRUCT */
    const struct value *default_value; /* NULL: none */
    const struct str *list_keys;
    struct str patch_key;
    const struct str *values;
    struct str gate;    /* the feature gate it stands behind; empty: none */
    struct str go_type; /* Go's name of its values' type, where that is no plain one */
};

/* A discriminated or plain union: one of its members, named by `discriminator` if there is one. */
struct kind_union {
    struct str discriminator;  /* field name; empty: none */
    const struct str *members; /* pairs: field name, discriminator's value */
    size_t n_members;
};

/* What defaults_apply() does with a struct: fields it fills in, then the rule, then what lies
 * below. */
struct kind_defaults {
    void (*rule)(struct arena *a, struct value *obj); /* what depends on other fields, or NULL */
    const uint16_t *filled, *below;                   /* indexes of fields */
    uint16_t n_filled, n_below;
};

enum kind_type_flags {
    KIND_HAS_TYPE_META = 1 << 0, /* JSON has apiVersion and kind */
    KIND_ATOMIC = 1 << 1,        /* for server-side apply, wherever it is used */
    KIND_EVERYWHERE = 1 << 2,    /* registered in every group and version */
    KIND_JSON_ONLY = 1 << 3,     /* has no protobuf form */
    KIND_UNVERSIONED = 1 << 4,   /* of meta, but goes by the apiVersion v1 */
};

/* Types whose JSON is not an object of their fields. */
enum kind_json_form {
    KIND_FORM_OBJECT,
    KIND_FORM_STRINGS,           /* a list of strings; one repeated field in protobuf */
    KIND_FORM_ANY,               /* bytes of JSON in protobuf */
    KIND_FORM_SCHEMA_OR_ARRAY,   /* JSONSchemaProps, or a list of them */
    KIND_FORM_SCHEMA_OR_BOOL,    /* or a boolean */
    KIND_FORM_SCHEMA_OR_STRINGS, /* or a list of strings */
};

struct err;
struct field_errors;
struct typed_notes;
struct validate_warnings;

/* What a type does that was not built in: its objects follow a schema instead of a table. */
struct kind_custom {
    /* As typed_read(), defaults_apply() and convert_object(), which call these. */
    int (*read)(struct arena *a, const struct kind_type *t, const struct value *in,
                struct typed_notes *notes, struct value *ret, struct err *err);
    void (*defaults)(struct arena *a, const struct kind_type *t, struct value *obj);
    int (*convert)(struct arena *a, const struct kind_type *from, const struct kind_type *to,
                   struct value *in, struct value *ret, struct err *err);
    /* As validate_create() and the like; `sub` is the subresource, `old_obj` NULL on a create. */
    void (*validate)(struct field_errors *e, const struct kind_type *t, struct str sub,
                     const struct value *obj, const struct value *old_obj);
    void (*warn)(struct validate_warnings *w, const struct value *obj, const struct value *old_obj);
    /* As columns_row() and columns_definitions(). */
    struct value (*row)(struct arena *a, const struct kind_type *t, const struct value *obj,
                        int64_t now_ns, size_t *work);
    struct value (*columns)(struct arena *a, const struct kind_type *t);
    /* Changes with everything that decides what an object looks like: objects that were written
     * with the same mark, in the same version, need not be looked at again. */
    uint32_t mark;
    /* An object as it was written in `version`, perhaps by an older schema, as one of `t`. */
    int (*fit)(struct arena *a, const struct kind_type *t, struct str version, struct value *in,
               struct value *ret, struct err *err);
};

struct kind_type {
    struct str name;  /* "PodSpec" */
    struct str group; /* "" for core */
    struct str version;
    const struct kind_field *fields; /* in the order of kinds/ */
    const uint16_t *by_name;         /* field indexes sorted by name */
    const uint16_t *by_number;       /* those with a protobuf number, sorted by it */
    const struct kind_union *unions;
    const struct kind_defaults *defaults; /* NULL: nothing at or below it has a default */
    uint16_t n_fields, n_numbers, n_unions;
    uint8_t flags;                    /* enum kind_type_flags */
    uint8_t form;                     /* enum kind_json_form */
    const struct kind_custom *custom; /* NULL: built in */
};

/* NULL if there is none of that name; names are case-sensitive. Looks into inline members. */
const struct kind_field *kind_field_find(const struct kind_type *t, struct str name);
const struct kind_field *kind_field_numbered(const struct kind_type *t, uint32_t number);

enum kind_verb {
    KIND_CREATE = 1 << 0,
    KIND_DELETE = 1 << 1,
    KIND_DELETE_COLLECTION = 1 << 2,
    KIND_GET = 1 << 3,
    KIND_LIST_VERB = 1 << 4,
    KIND_PATCH = 1 << 5,
    KIND_UPDATE = 1 << 6,
    KIND_WATCH = 1 << 7,
};

struct kind_column {
    struct str name, type, format;
    uint8_t priority; /* 1: only with -o wide */
};

struct kind_subresource {
    struct str name;              /* "status" */
    const struct kind_type *type; /* what it reads and writes */
    uint8_t verbs;
};

struct kind_resource {
    struct str group, version, plural, singular;
    const struct kind_type *type;
    const struct kind_type *list; /* NULL where nothing is listed */
    bool namespaced;
    uint8_t verbs; /* enum kind_verb */
    uint8_t n_short, n_categories, n_columns, n_subresources, n_selectors, n_aliases;
    const struct str *short_names, *categories;
    const struct kind_column *columns; /* none: name and age */
    const struct kind_subresource *subresources;
    const struct str *selectors; /* field selectors; none: metadata.name and .namespace */
    const struct str *aliases;   /* pairs: accepted, meant */
    struct str etcd_prefix, storage_hash;
    /* The version of it in which its objects are stored, which may be of another group; NULL: it is
     * that itself. */
    const struct kind_resource *stored;
    struct str deprecation; /* what every answer about it warns of; empty: it is not deprecated */
};

/* NULL if there is none of that name. */
const struct kind_subresource *kind_subresource_find(const struct kind_resource *r,
                                                     struct str name);

/* Whether a DELETE answers with the object as it was, instead of a Status. */
bool kind_shows_deleted(const struct kind_resource *r);

struct kind_version {
    struct str group, version;
    bool is_old; /* upstream serves it no more */
    const struct kind_resource *resources;
    size_t n_resources;
};

/* Everything built in: versions in the order of discovery, those of a group together with the
 * preferred one first; types by group, version and name. */
extern const struct kind_version kind_versions[];
extern const size_t n_kind_versions;
extern const struct kind_type kind_types[];
extern const size_t n_kind_types;

/* Upstream drops versions of its API; here they stay, unless somebody wants just today's. */
enum kind_choice { KIND_ALL_VERSIONS, KIND_CURRENT_VERSIONS };

/* NULL if there is none. The core group is "". */
const struct kind_type *kind_type_find(struct str group, struct str version, struct str name);

/* The kind of an object that says this of itself: "v1" or "apps/v1", and "Deployment". NULL where
 * no object may say so. Of kinds that every version has (DeleteOptions) the version is not looked
 * at, since custom resources bring their own. Whether a version is served is another question. */
const struct kind_type *kind_find(struct str api_version, struct str kind);
const struct kind_version *kind_version_find(struct str group, struct str version);
const struct kind_resource *kind_resource_find(const struct kind_version *v, struct str plural);
const struct kind_version *kind_group_find(struct str group); /* its preferred version */
/* Whether it is one of those; of a group its preferred version tells. False for NULL. */
bool kind_version_is(const struct kind_version *v, enum kind_choice choice);
/* The resource as which objects of `r` are stored; `r` itself where it is the one. */
const struct kind_resource *kind_stored(const struct kind_resource *r);
/* The same of a built-in resource, whatever its version; NULL if there is none. */
const struct kind_resource *kind_stored_named(struct str group, struct str plural);
