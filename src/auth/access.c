#include "auth/access.h"

#include "api/go/quote.h"
#include "base/idiom.h"
#include "base/banned.h"

static struct fields_selector copy_fields(struct arena *a, const struct fields_selector *s)
{
    struct fields_term *terms = arena_array(a, struct fields_term, s->n);
    for (size_t i = 0; i < s->n; i++) {
        terms[i] = s->terms[i];
        terms[i].field = arena_str(a, s->terms[i].field);
        terms[i].value = arena_str(a, s->terms[i].value);
    }
    return (struct fields_selector){ terms, s->n };
}

static struct labels_selector copy_labels(struct arena *a, const struct labels_selector *s)
{
    struct labels_req *reqs = arena_array(a, struct labels_req, s->n);
    for (size_t i = 0; i < s->n; i++) {
        struct str *values = arena_array(a, struct str, s->reqs[i].n_values);
        for (size_t k = 0; k < s->reqs[i].n_values; k++)
            values[k] = arena_str(a, s->reqs[i].values[k]);
        reqs[i] = s->reqs[i];
        reqs[i].key = arena_str(a, s->reqs[i].key);
        reqs[i].values = values;
    }
    return (struct labels_selector){ reqs, s->n, s->nothing };
}

struct access access_copy(struct arena *a, const struct access *q)
{
    struct access copy = *q;
    struct str *const texts[] = { &copy.verb, &copy.group, &copy.version, &copy.resource,
                                  &copy.sub,  &copy.ns,    &copy.name,    &copy.path };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        *texts[i] = arena_str(a, *texts[i]);
    copy.user = user_copy(a, q->user);
    copy.fields = copy_fields(a, &q->fields);
    copy.labels = copy_labels(a, &q->labels);
    return copy;
}

static void add_resource(struct buf *out, const struct access *q)
{
    buf_str_add(out, STR(" resource "));
    autobuf resource = { 0 };
    buf_str_add(&resource, q->resource);
    if (q->sub.n) {
        buf_byte(&resource, '/');
        buf_str_add(&resource, q->sub);
    }
    quote_go(out, buf_str(&resource));
    buf_str_add(out, STR(" in API group "));
    quote_go(out, q->group);
    if (!q->ns.n) {
        buf_str_add(out, STR(" at the cluster scope"));
        return;
    }
    buf_str_add(out, STR(" in the namespace "));
    quote_go(out, q->ns);
}

struct str access_refusal(struct arena *a, const struct access *q)
{
    autobuf out = { 0 };
    buf_str_add(&out, STR("User "));
    quote_go(&out, q->user->name);
    buf_str_add(&out, STR(" cannot "));
    buf_str_add(&out, q->verb);
    if (q->is_resource) {
        add_resource(&out, q);
    } else {
        buf_str_add(&out, STR(" path "));
        quote_go(&out, q->path);
    }
    return arena_str(a, buf_str(&out));
}
