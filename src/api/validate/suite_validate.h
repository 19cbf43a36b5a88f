/* suite_validate.h - for tests: what validation says of objects, as tables.
 *
 * A table has a good object of a kind, and single changes to it. Of each change it has all faults
 * that must come of it, in their order. The object itself must have none. JSON and faults have '
 * for
 * ". */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/validate/validate.h"
#include "base/idiom.h"

struct suite_change {
    const char *path;  /* steps between slashes; | is a slash in a key */
    const char *value; /* NULL: the field is taken away */
    const char *want;  /* "FIELD: MESSAGE" of each fault, in lines; NULL: there is none */
};

enum suite_way {
    SUITE_CREATE, /* the changed object is new */
    SUITE_UPDATE, /* the object was good, and is changed */
    SUITE_WARN,   /* as SUITE_CREATE, and `want` has the warnings */
    SUITE_WARN_UPDATE,
};

struct suite_validate {
    const char *name; /* of the test */
    enum suite_way way;
    const char *api_version, *kind; /* of the object and of the request */
    const char *sub;                /* the subresource that it came to; "": none */
    const char *base;
    const struct suite_change *changes;
    size_t n;
};

#define SUITE_TABLE(way, api_version, kind, sub, base, changes)                  \
    {                                                                            \
#changes, way, api_version, kind, sub, base, changes, ARRAY_LEN(changes) \
    }
#define SUITE_CREATES(api_version, kind, base, changes) \
    SUITE_TABLE(SUITE_CREATE, api_version, kind, "", base, changes)
#define SUITE_UPDATES(api_version, kind, base, changes) \
    SUITE_TABLE(SUITE_UPDATE, api_version, kind, "", base, changes)
#define SUITE_UPDATES_SUB(api_version, kind, sub, base, changes) \
    SUITE_TABLE(SUITE_UPDATE, api_version, kind, sub, base, changes)
#define SUITE_WARNS(api_version, kind, base, changes) \
    SUITE_TABLE(SUITE_WARN, api_version, kind, "", base, changes)
#define SUITE_WARNS_UPDATE(api_version, kind, base, changes) \
    SUITE_TABLE(SUITE_WARN_UPDATE, api_version, kind, "", base, changes)

/* Runs each table as a test of its own, then the other tests. For main(). */
int suite_validate_main(const struct suite_validate *tables, size_t n,
                        const struct CMUnitTest *others, size_t n_others);
#define SUITE_MAIN(tables) suite_validate_main(tables, ARRAY_LEN(tables), NULL, 0)
#define SUITE_MAIN_WITH(tables, others) \
    suite_validate_main(tables, ARRAY_LEN(tables), others, ARRAY_LEN(others))

/* ---- For tests that are no tables ---- */

const struct kind_resource *suite_validate_resource(const char *api_version, const char *kind);
/* As the server reads it: as its kind, with defaults. */
struct value suite_validate_read(struct arena *a, const struct kind_resource *r,
                                 const struct value *in);
/* The object of a text, so read. */
struct value suite_validate_object(struct arena *a, const struct kind_resource *r,
                                   const char *text);
void suite_validate_change(struct arena *a, struct value *v, const struct suite_change *change);
/* The faults of a new object, or with `old_obj` of a changed one. */
void suite_validate_find(struct field_errors *e, const struct kind_resource *r, const char *sub,
                         const struct value *obj, const struct value *old_obj);
/* Compares all faults; prints both lists where they differ. `about` says what was looked at. */
bool suite_validate_same(const struct field_errors *e, const char *want, const char *about);

/* ---- Words that many messages end with ---- */

#define META         "'metadata':{'name':'a','namespace':'n','uid':'u','resourceVersion':'1'}"
#define CLUSTER_META "'metadata':{'name':'a','uid':'u','resourceVersion':'1'}"

#define SUBDOMAIN                                                                                 \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "  \
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used " \
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define DNS_LABEL                                                                                \
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and " \
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex "   \
    "used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
#define LABEL_1035                                                                               \
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an " \
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "         \
    "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
#define QUALIFIED_NAME                                                                             \
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "  \
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for " \
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define LABEL_VALUE                                                                                \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "    \
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value', " \
    " or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
#define CONFIG_KEY                                                                       \
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. " \
    "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
