#include "server/audit/audit_truncate.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/value.h"
#include "base/banned.h"

enum { NEWLINE = 1 }; /* it counts, as upstream */

/* Annotations are sorted. */
static void annotate(struct arena *a, struct value *event)
{
    static const struct str key = STR("audit.k8s.io/truncated");
    const struct value *old = value_get(event, STR("annotations"));
    struct value all = value_object();
    bool is_put = false;
    value_each_field (f, old) {
        is_put |= str_eq(f->key, key);
        if (!is_put && str_cmp(f->key, key) > 0) {
            value_put(a, &all, key, value_string(STR("true")));
            is_put = true;
        }
        value_put(a, &all, f->key, value_borrow(&f->val));
    }
    if (!is_put)
        value_put(a, &all, key, value_string(STR("true")));
    value_put(a, event, STR("annotations"), all);
}

static struct str without_objects(struct arena *a, struct str text)
{
    struct value event;
    autobuf out = { 0 };
    if (json_read(a, text, NULL, &event, NULL) < 0 || !value_is(&event, VALUE_OBJECT) ||
        str_eq(value_text(&event, "level"), STR("Metadata")))
        return text;
    value_drop(a, &event, STR("requestObject"));
    value_drop(a, &event, STR("responseObject"));
    annotate(a, &event);
    json_write(&out, &event);
    return arena_str(a, buf_str(&out));
}

bool audit_truncate(struct arena *a, struct str event, size_t most, struct str *ret)
{
    *ret = event;
    if (event.n + NEWLINE > most)
        *ret = without_objects(a, event);
    return ret->n + NEWLINE <= most;
}
