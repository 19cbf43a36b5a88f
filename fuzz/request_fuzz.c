/* A path and its query: whatever they are, what request_parse() finds is whole, and finding it
 * again from its own words gives the same. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/idiom.h"
#include "server/http/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

static bool same(struct str a, struct str b)
{
    return (a.p == NULL) == (b.p == NULL) && str_eq(a, b);
}

/* The path of what was found, percent-encoded where a byte is not plain. */
static struct str path_of(struct arena *a, const struct request *r)
{
    autobuf out = { 0 };
    const struct str parts[] = { r->ns, r->resource->plural, r->name,
                                 r->sub ? r->sub->name : (struct str){ NULL, 0 }, r->rest };
    if (r->resource->group.n)
        buf_printf(&out, "/apis/" STR_FMT, STR_ARG(r->resource->group));
    else
        buf_str_add(&out, STR("/api"));
    buf_printf(&out, "/" STR_FMT, STR_ARG(r->resource->version));
    if (r->ns.p)
        buf_str_add(&out, STR("/namespaces"));
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (parts[i].p)
            buf_byte(&out, '/');
        for (size_t j = 0; j < parts[i].n; j++)
            buf_printf(&out, "%%%02x", (unsigned char)parts[i].p[j]);
    }
    return arena_str(a, buf_str(&out));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena a;
    arena_init(&a);
    struct str query = { (const char *)bytes, n };
    struct http_request http = { .method = STR("GET") };
    http.path = str_cut(&query, '?');
    http.query = query;
    struct request r, again;
    if (request_parse(&a, &http, KIND_ALL_VERSIONS, NULL, &r) == REQUEST_FOUND) {
        (void)request_verb(&http, &r);
        http.path = path_of(&a, &r);
        must(request_parse(&a, &http, KIND_ALL_VERSIONS, NULL, &again) == REQUEST_FOUND);
        must(again.resource == r.resource && again.sub == r.sub);
        must(same(again.ns, r.ns) && same(again.name, r.name));
    }
    arena_done(&a);
    return 0;
}
