#include "api/selector_dump.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/banned.h"

static int compare_labels(const void *a, const void *b)
{
    const struct value_field *const *x = a, *const *y = b;
    return str_cmp((*x)->key, (*y)->key);
}

/* "map[string]string{a: 1,}" */
static void write_label_map(struct arena *a, struct buf *out, const struct value *labels)
{
    size_t n = 0;
    value_each_field (label, labels)
        n++;
    const struct value_field **sorted = arena_array(a, const struct value_field *, n + 1);
    n = 0;
    value_each_field (label, labels)
        sorted[n++] = label;
    if (n)
        qsort(sorted, n, sizeof(*sorted), compare_labels);
    buf_str_add(out, STR("map[string]string{"));
    for (size_t i = 0; i < n; i++) {
        buf_str_add(out, sorted[i]->key);
        buf_str_add(out, STR(": "));
        buf_str_add(out, value_str(&sorted[i]->val));
        buf_byte(out, ',');
    }
    buf_byte(out, '}');
}

static void write_requirement(struct buf *out, const struct value *e)
{
    bool is_first = true;
    buf_str_add(out, STR("LabelSelectorRequirement{Key:"));
    buf_str_add(out, value_text(e, "key"));
    buf_str_add(out, STR(",Operator:"));
    buf_str_add(out, value_text(e, "operator"));
    buf_str_add(out, STR(",Values:["));
    value_each_item (v, value_get(e, STR("values"))) {
        buf_str_add(out, is_first ? STR("") : STR(" "));
        buf_str_add(out, value_str(v));
        is_first = false;
    }
    buf_str_add(out, STR("],},"));
}

struct str selector_dump(struct arena *a, const struct value *selector)
{
    autobuf out = { 0 };
    if (!value_is(selector, VALUE_OBJECT))
        return STR("nil");
    buf_str_add(&out, STR("&LabelSelector{MatchLabels:"));
    write_label_map(a, &out, value_get(selector, STR("matchLabels")));
    buf_str_add(&out, STR(",MatchExpressions:[]LabelSelectorRequirement{"));
    value_each_item (e, value_get(selector, STR("matchExpressions")))
        write_requirement(&out, e);
    buf_str_add(&out, STR("},}"));
    return arena_str(a, buf_str(&out));
}
