/* Names by every rule, and metadata. A name of one of the DNS rules is a path segment, a name of a
 * narrow rule is one of the wider rules too, a generated name follows the rule of its base;
 * whatever is wrong with an object's metadata can be reported, and an update that changes nothing
 * is good where the creation was. The input is a name, and an object if it is JSON. */
#include <stdlib.h>

#include "api/meta.h"
#include "base/idiom.h"
#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

static bool is_good(enum name_rule rule, struct str name)
{
    struct name_faults f = { 0 };
    bool good = name_check(rule, name, &f);
    must(good == (f.n == 0));
    return good;
}

static void check_name(struct arena *a, struct str name)
{
    for (enum name_rule rule = NAME_SUBDOMAIN; rule <= NAME_LABEL_VALUE; rule++)
        (void)is_good(rule, name);
    bool subdomain = is_good(NAME_SUBDOMAIN, name), label = is_good(NAME_LABEL, name);
    must(subdomain == is_good(NAME_LONG, name));
    must(!subdomain || is_good(NAME_PATH_SEGMENT, name));
    must(!subdomain || is_good(NAME_CONFIG_KEY, name));
    must(!label || (subdomain && is_good(NAME_LABEL_VALUE, name)));
    must(!is_good(NAME_LABEL_1035, name) || label);

    struct name_faults f = { 0 };
    (void)name_check_prefix(NAME_SUBDOMAIN, name, &f);
    struct str made = name_generate(a, name, name.n);
    must(made.n <= NAME_LABEL_MAX);
    must(!label || is_good(NAME_LABEL, made));
}

static void check_object(struct arena *a, struct str text)
{
    struct value object;
    struct err err = ERR_INIT(a);
    if (json_read(a, text, NULL, &object, &err) < 0)
        return;
    err_clear(&err);
    for (unsigned i = 0; i < 4; i++) {
        struct meta_rules rules = { NAME_PATH_SEGMENT, i & 1, i & 2 };
        struct field_errors created = FIELD_ERRORS_INIT(a), updated = FIELD_ERRORS_INIT(a);
        meta_validate_create(&created, &rules, &object);
        meta_validate_update(&updated, &rules, &object, &object);
        bool has_revision = value_str(value_dig(&object, "metadata", "resourceVersion")).n > 0;
        must(updated.n == created.n + !has_revision);
        int r = field_errors_report(&created, STR("g"), STR("Kind"), text, &err);
        must((r < 0) == (created.n > 0) && (r == 0 || err.causes));
        err_clear(&err);
    }
    static const enum name_rule by_spec[] = { NAME_TRUST_BUNDLE, NAME_API_SERVICE,
                                              NAME_DEFINITION };
    for (size_t i = 0; i < ARRAY_LEN(by_spec); i++) {
        struct meta_rules rules = { by_spec[i], false, true };
        struct field_errors e = FIELD_ERRORS_INIT(a);
        meta_validate_create(&e, &rules, &object);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena a;
    struct str text = { (const char *)bytes, n };
    arena_init(&a);
    check_name(&a, text);
    check_object(&a, text);
    arena_done(&a);
    return 0;
}
