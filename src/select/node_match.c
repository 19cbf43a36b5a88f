#include "select/node_match.h"

#include "base/idiom.h"
#include "base/banned.h"

struct label_set label_set_read(struct arena *a, const struct value *labels)
{
    struct label_set set = { 0 };
    if (!value_is(labels, VALUE_OBJECT) || !labels->n)
        return set;
    struct labels_pair *pairs = arena_array(a, struct labels_pair, labels->n);
    value_each_field (f, labels)
        pairs[set.n++] = (struct labels_pair){ f->key, value_str(&f->val) };
    set.items = pairs;
    return set;
}

struct str label_get(struct label_set labels, struct str key)
{
    for (size_t i = 0; i < labels.n; i++)
        if (str_eq(labels.items[i].key, key)) {
            struct str v = labels.items[i].value;
            return v.p ? v : STR("");
        }
    return (struct str){ 0 };
}

bool label_set_eq(struct label_set a, struct label_set b)
{
    bool same = a.n == b.n;
    for (size_t i = 0; same && i < a.n; i++) {
        struct str v = label_get(b, a.items[i].key);
        same = v.p && str_eq(v, a.items[i].value);
    }
    return same;
}

/* ---- Terms ---- */

static bool read_op(struct str word, uint8_t *ret)
{
    static const struct str ops[] = { STR("In"),           STR("NotIn"), STR("Exists"),
                                      STR("DoesNotExist"), STR("Gt"),    STR("Lt") };
    for (size_t i = 0; i < ARRAY_LEN(ops); i++)
        if (str_eq(word, ops[i])) {
            *ret = (uint8_t)i;
            return true;
        }
    return false;
}

static struct node_req read_req(struct arena *a, const struct value *v)
{
    struct node_req r = { .key = value_text(v, "key") };
    const struct value *values = value_get(v, STR("values"));
    r.is_bad = !read_op(value_text(v, "operator"), &r.op);
    if (value_is(values, VALUE_ARRAY) && values->n) {
        struct str *items = arena_array(a, struct str, values->n);
        value_each_item (it, values)
            items[r.n_values++] = value_str(it);
        r.values = items;
    }
    if (r.op == NODE_GREATER || r.op == NODE_LESS)
        r.is_bad |= r.n_values != 1 || !str_to_i64(r.values[0], &r.number);
    return r;
}

static const struct node_req *read_reqs(struct arena *a, const struct value *list, uint32_t *ret_n)
{
    *ret_n = 0;
    if (!value_is(list, VALUE_ARRAY) || !list->n)
        return NULL;
    struct node_req *reqs = arena_array(a, struct node_req, list->n);
    value_each_item (it, list)
        reqs[(*ret_n)++] = read_req(a, it);
    return reqs;
}

struct node_terms node_terms_read(struct arena *a, const struct value *list, bool weighted)
{
    struct node_terms all = { 0 };
    if (!value_is(list, VALUE_ARRAY) || !list->n)
        return all;
    struct node_term *terms = arena_array(a, struct node_term, list->n);
    value_each_item (it, list) {
        struct node_term *t = &terms[all.n++];
        const struct value *term = weighted ? value_get(it, STR("preference")) : it;
        int64_t weight = 0;
        (void)value_to_int(value_get(it, STR("weight")), &weight);
        t->weight = (int32_t)weight;
        t->labels = read_reqs(a, value_get(term, STR("matchExpressions")), &t->n_labels);
        t->fields = read_reqs(a, value_get(term, STR("matchFields")), &t->n_fields);
    }
    all.items = terms;
    return all;
}

static bool has_value(const struct node_req *r, struct str v)
{
    for (uint32_t i = 0; i < r->n_values; i++)
        if (str_eq(r->values[i], v))
            return true;
    return false;
}

/* `v.p` is NULL: there is no such label. */
static bool req_holds(const struct node_req *r, struct str v)
{
    int64_t number;
    if (r->is_bad)
        return false;
    switch ((enum node_op)r->op) {
    case NODE_IN:
        return v.p && has_value(r, v);
    case NODE_NOT_IN:
        return !v.p || !has_value(r, v);
    case NODE_EXISTS:
        return v.p;
    case NODE_NOT_EXISTS:
        return !v.p;
    case NODE_GREATER:
        return v.p && str_to_i64(v, &number) && number > r->number;
    case NODE_LESS:
        return v.p && str_to_i64(v, &number) && number < r->number;
    }
    return false;
}

bool node_term_holds(const struct node_term *t, struct str node_name, struct label_set labels)
{
    if (!t->n_labels && !t->n_fields)
        return false;
    for (uint32_t i = 0; i < t->n_labels; i++)
        if (!req_holds(&t->labels[i], label_get(labels, t->labels[i].key)))
            return false;
    for (uint32_t i = 0; i < t->n_fields; i++)
        if (!str_eq(t->fields[i].key, STR("metadata.name")) || !req_holds(&t->fields[i], node_name))
            return false;
    return true;
}

bool node_terms_hold(struct node_terms terms, struct str node_name, struct label_set labels)
{
    for (size_t i = 0; i < terms.n; i++)
        if (node_term_holds(&terms.items[i], node_name, labels))
            return true;
    return false;
}

/* ---- Taints ---- */

struct taint taint_read(const struct value *v)
{
    return (struct taint){ .key = value_text(v, "key"),
                           .value = value_text(v, "value"),
                           .effect = value_text(v, "effect") };
}

struct toleration toleration_read(const struct value *v)
{
    return (struct toleration){ .key = value_text(v, "key"),
                                .op = value_text(v, "operator"),
                                .value = value_text(v, "value"),
                                .effect = value_text(v, "effect") };
}

struct tolerations tolerations_read(struct arena *a, const struct value *list)
{
    struct tolerations all = { 0 };
    if (!value_is(list, VALUE_ARRAY) || !list->n)
        return all;
    struct toleration *items = arena_array(a, struct toleration, list->n);
    value_each_item (it, list)
        items[all.n++] = toleration_read(it);
    all.items = items;
    return all;
}

bool toleration_allows(const struct toleration *by, const struct taint *t)
{
    int64_t wanted, has;
    if (by->effect.n && !str_eq(by->effect, t->effect))
        return false;
    if (by->key.n && !str_eq(by->key, t->key))
        return false;
    if (str_eq(by->op, STR("Exists")))
        return true;
    if (str_eq(by->op, STR("Lt")) || str_eq(by->op, STR("Gt")))
        return str_to_i64(by->value, &wanted) && str_to_i64(t->value, &has) &&
               (by->op.p[0] == 'L' ? has < wanted : has > wanted);
    return (!by->op.n || str_eq(by->op, STR("Equal"))) && str_eq(by->value, t->value);
}

bool taint_tolerated(const struct taint *t, struct tolerations by)
{
    for (size_t i = 0; i < by.n; i++)
        if (toleration_allows(&by.items[i], t))
            return true;
    return false;
}

const struct taint *taint_in_the_way(const struct taint *taints, size_t n, struct tolerations by)
{
    for (size_t i = 0; i < n; i++)
        if ((str_eq(taints[i].effect, STR("NoSchedule")) ||
             str_eq(taints[i].effect, STR("NoExecute"))) &&
            !taint_tolerated(&taints[i], by))
            return &taints[i];
    return NULL;
}
