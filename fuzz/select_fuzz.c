/* A selector that is accepted, of labels or of fields, has a canonical text that is accepted too
 * and stays as it is. The input is the text; it is also taken as labels to match with. */
#include <stdlib.h>

#include "select/fields.h"
#include "select/labels.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

static void check_labels(struct arena *a, struct str text)
{
    autobuf out = { 0 };
    autobuf again = { 0 };
    struct labels_selector s;
    struct err err = ERR_INIT(a);
    if (labels_parse(a, text, &s, &err) < 0) {
        must(err.msg.n > 0);
        return;
    }
    labels_write(&out, &s);
    must(labels_parse(a, buf_str(&out), &s, &err) == 0);
    labels_write(&again, &s);
    must(str_eq(buf_str(&out), buf_str(&again)));

    struct labels_pair pair = { str_take(text, text.n / 2), str_skip(text, text.n / 2) };
    struct value tree = value_object();
    value_put_new(a, &tree, pair.key, value_string(pair.value));
    must(labels_match(&s, &pair, 1) == labels_match_value(&s, &tree));
    must(!labels_empty(&s) || labels_match(&s, NULL, 0));
}

static void check_fields(struct arena *a, struct str text)
{
    static const struct str selectors[] = { { "a", 1 }, { "a.b", 3 }, { "metadata.name", 13 } };
    static const struct str aliases[] = { { "x", 1 }, { "a", 1 } };
    const struct fields_rules rules = { .group = STR("batch"),
                                        .version = STR("v1"),
                                        .kind = STR("Job"),
                                        .selectors = selectors,
                                        .n_selectors = 3,
                                        .aliases = aliases,
                                        .n_aliases = 1 };
    autobuf out = { 0 };
    autobuf again = { 0 };
    struct fields_selector s;
    struct err err = ERR_INIT(a);
    if (fields_parse(a, text, &rules, &s, &err) < 0) {
        must(err.msg.n > 0);
        return;
    }
    fields_write(&out, &s);
    must(fields_parse(a, buf_str(&out), &rules, &s, &err) == 0);
    struct value tree = value_object();
    value_put_new(a, &tree, STR("a"), value_string(text));
    (void)fields_match(&s, &tree);
    fields_write(&again, &s);
    must(out.n == again.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena a;
    arena_init(&a);
    struct str text = { (const char *)bytes, n };
    check_labels(&a, text);
    check_fields(&a, text);
    arena_done(&a);
    return 0;
}
