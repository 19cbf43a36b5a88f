/* The filled object of every kind, as Go wrote it, put into the store and read again by GET: in
 * each version that its resource is served in, and in each encoding. What comes back is the object.
 *
 * Its values are odd and few of them are valid, so it goes into the store without being checked. As
 * a create it is sent too, in each encoding: whatever the server says of it, it says the same.
 * Conversions of their own are tested in src/api; here it is that a server leads to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/codec/cbor.h"
#include "api/convert/convert.h"
#include "api/codec/round_trip_test.h"
#include "live.h"
#include "base/idiom.h"
#include "net/outgoing/fetch.h"
#include "server/object/stored.h"

static struct fetcher *fetcher;
static size_t n_objects, n_reads, n_creates;

static const struct media {
    const char *type;
    enum { AS_JSON, AS_YAML, AS_PROTO, AS_CBOR } as;
} medias[] = {
    { "application/json", AS_JSON },
    { "application/yaml", AS_YAML },
    { "application/vnd.kubernetes.protobuf", AS_PROTO },
    { "application/cbor", AS_CBOR },
};
enum { MEDIAS = ARRAY_LEN(medias) };

/* ---- Requests ---- */

static struct fetch_reply ask(struct arena *a, const char *method, struct str path,
                              const struct media *m, struct str body)
{
    const struct http_header headers[] = { { STR("Content-Type"), str_of(m->type) },
                                           { STR("Accept"), str_of(m->type) } };
    const struct fetch_request req = {
        .method = str_of(method),
        .url = arena_printf(a, "http://" STR_FMT STR_FMT, STR_ARG(live.address), STR_ARG(path)),
        .headers = headers,
        .n_headers = 2,
        .body = body,
    };
    struct fetch_reply reply;
    struct err err = ERR_INIT(a);
    if (fetch(fetcher, &req, a, &reply, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    return reply;
}

static void write_as(struct buf *out, const struct media *m, const struct kind_type *t,
                     const struct value *v)
{
    switch (m->as) {
    case AS_JSON:
        json_write(out, v);
        break;
    case AS_YAML:
        yaml_write(out, v);
        break;
    case AS_PROTO:
        proto_envelope_write(out, t, v);
        break;
    case AS_CBOR:
        cbor_write(out, t, v);
        break;
    }
}

static int read_proto(struct arena *a, const struct kind_type *t, struct str bytes,
                      struct value *ret, struct err *err)
{
    struct proto_envelope envelope;
    int r = proto_envelope_read(bytes, &envelope, err);
    if (r < 0)
        return r;
    const struct kind_type *its = kind_find(envelope.api_version, envelope.kind);
    return proto_read(a, its ? its : t, envelope.raw, envelope.api_version, envelope.kind, ret,
                      err);
}

/* An answer as the tree that its type makes of it; a Status if it is one. */
static struct value read_as(struct arena *a, const struct media *m, const struct kind_type *t,
                            struct str bytes)
{
    struct err err = ERR_INIT(a);
    struct value raw, tree;
    int r = m->as == AS_JSON   ? json_read(a, bytes, NULL, &raw, &err)
            : m->as == AS_YAML ? yaml_read(a, bytes, NULL, &raw, &err)
            : m->as == AS_CBOR ? cbor_read(a, bytes, &raw, &err)
                               : read_proto(a, t, bytes, &raw, &err);
    if (r == 0) {
        const struct kind_type *its = kind_find(value_str(value_get(&raw, STR("apiVersion"))),
                                                value_str(value_get(&raw, STR("kind"))));
        r = typed_read(a, its ? its : t, &raw, NULL, &tree, &err);
    }
    if (r < 0)
        fail_msg("%s: " STR_FMT, m->type, STR_ARG(err.msg));
    return tree;
}

/* ---- Resources ---- */

static const struct kind_resource *resource_of(const struct kind_type *t)
{
    for (size_t i = 0; i < n_kind_versions; i++)
        for (size_t k = 0; k < kind_versions[i].n_resources; k++) {
            const struct kind_resource *r = &kind_versions[i].resources[k];
            if (r->type == t && r->list && r->verbs & KIND_GET && r->verbs & KIND_CREATE)
                return r;
        }
    return NULL;
}

static struct str path_of(struct arena *a, const struct kind_resource *r, struct str ns,
                          struct str name)
{
    struct str group =
        r->group.n ? arena_printf(a, "/apis/" STR_FMT, STR_ARG(r->group)) : STR("/api");
    struct str in = r->namespaced ? arena_printf(a, "/namespaces/" STR_FMT, STR_ARG(ns)) : STR("");
    return arena_printf(a, STR_FMT "/" STR_FMT STR_FMT "/" STR_FMT "%s" STR_FMT, STR_ARG(group),
                        STR_ARG(r->version), STR_ARG(in), STR_ARG(r->plural), name.n ? "/" : "",
                        STR_ARG(name));
}

/* ---- Reading ---- */

static void differs(const char *what, const struct kind_resource *r, const char *type,
                    const struct value *want, const struct value *got)
{
    autobuf a = { 0 }, b = { 0 };
    json_write(&a, want);
    json_write(&b, got);
    fail_msg("%s, " STR_FMT "/" STR_FMT " as %s:\nwant " STR_FMT "\ngot  " STR_FMT, what,
             STR_ARG(r->group), STR_ARG(r->version), type, STR_ARG(buf_str(&a)),
             STR_ARG(buf_str(&b)));
}

/* The object in one version, in every encoding. */
static void read_in(struct round_trip *rt, const struct kind_resource *stored,
                    const struct kind_resource *r, struct value *obj, uint64_t rev)
{
    struct arena *a = &rt->arena;
    struct err err = ERR_INIT(a);
    struct value kept = value_share(obj), shown, want;
    if (convert_object(a, stored->type, r->type, &kept, &shown, &err) < 0)
        fail_msg("%s: " STR_FMT, rt->name, STR_ARG(err.msg));
    struct str text = arena_printf(a, "%llu", (unsigned long long)rev);
    value_put(a, value_ensure(a, &shown, STR("metadata")), STR("resourceVersion"),
              value_string(text));
    if (typed_read(a, r->type, &shown, NULL, &want, &err) < 0)
        fail_msg("%s: " STR_FMT, rt->name, STR_ARG(err.msg));
    struct str path = path_of(a, r, value_str(value_dig(obj, "metadata", "namespace")),
                              value_str(value_dig(obj, "metadata", "name")));
    for (size_t i = 0; i < MEDIAS; i++) {
        if (medias[i].as == AS_PROTO && r->type->flags & KIND_JSON_ONLY)
            continue;
        struct fetch_reply reply = ask(a, "GET", path, &medias[i], STR(""));
        struct value got = read_as(a, &medias[i], r->type, reply.body);
        if (reply.status != 200 || !value_eq(&got, &want))
            differs(rt->name, r, medias[i].type, &want, &got);
        n_reads++;
    }
}

static void read_everywhere(struct round_trip *rt, const struct kind_resource *stored,
                            struct value *obj, uint64_t rev)
{
    for (size_t i = 0; i < n_kind_versions; i++)
        for (size_t k = 0; k < kind_versions[i].n_resources; k++) {
            const struct kind_resource *r = &kind_versions[i].resources[k];
            if (kind_stored(r) == stored && r->list && r->verbs & KIND_GET)
                read_in(rt, stored, r, obj, rev);
        }
}

/* ---- Creating ---- */

/* Without what is new each time. */
static void forget(struct arena *a, struct value *obj)
{
    static const struct str fields[] = { STR("uid"), STR("creationTimestamp"),
                                         STR("managedFields") };
    struct value *meta = value_ensure(a, obj, STR("metadata"));
    for (size_t i = 0; meta && i < ARRAY_LEN(fields); i++)
        value_drop(a, meta, fields[i]);
}

/* It is sent in every encoding; what is said of it is said in each of them alike. */
static void create_everyhow(struct round_trip *rt, const struct kind_resource *r,
                            const struct value *given)
{
    struct arena *a = &rt->arena;
    struct value obj = value_clone(a, given), first = value_null();
    struct value *meta = value_ensure(a, &obj, STR("metadata"));
    struct str path = path_of(a, r, STR("default"), STR(""));
    path = arena_printf(a, STR_FMT "?dryRun=All", STR_ARG(path));
    value_put(a, meta, STR("name"), value_string(STR("name-value")));
    if (r->namespaced)
        value_put(a, meta, STR("namespace"), value_string(STR("default")));
    for (size_t i = 0; i < MEDIAS; i++) {
        if (medias[i].as == AS_PROTO && r->type->flags & KIND_JSON_ONLY)
            continue;
        autobuf body = { 0 };
        write_as(&body, &medias[i], r->type, &obj);
        struct fetch_reply reply = ask(a, "POST", path, &medias[i], buf_str(&body));
        struct value got = read_as(a, &medias[i], r->type, reply.body);
        forget(a, &got);
        if (reply.status == 400 || reply.status == 404)
            fail_msg("%s as %s: " STR_FMT, rt->name, medias[i].type,
                     STR_ARG(value_str(value_get(&got, STR("message")))));
        if (i == 0)
            first = got;
        else if (!value_eq(&got, &first))
            differs(rt->name, r, medias[i].type, &first, &got);
        n_creates++;
    }
}

static void check(struct round_trip *rt)
{
    struct arena *a = &rt->arena;
    struct err err = ERR_INIT(a);
    struct value raw, given, obj, shared;
    const struct kind_resource *r = rt->type ? resource_of(rt->type) : NULL;
    if (!r)
        return;
    const struct kind_resource *stored = kind_stored(r);
    assert_int_equal(json_read(a, rt->files[ROUND_TRIP_JSON], NULL, &raw, &err), 0);
    assert_int_equal(typed_read(a, rt->type, &raw, NULL, &given, &err), 0);
    shared = value_share(&given);
    if (convert_object(a, rt->type, stored->type, &shared, &obj, &err) < 0)
        fail_msg("%s: " STR_FMT, rt->name, STR_ARG(err.msg));
    if (rt->type == stored->type && !value_eq(&obj, &given))
        differs(rt->name, r, "what is stored", &given, &obj);
    autobuf bytes = { 0 };
    stored_write(&bytes, stored, &obj);
    struct str ns =
        stored->namespaced ? value_str(value_dig(&obj, "metadata", "namespace")) : STR("");
    uint64_t rev = live_put_bytes(
        &live, stored_key(a, stored, ns, value_str(value_dig(&obj, "metadata", "name"))),
        buf_str(&bytes));
    read_everywhere(rt, stored, &obj, rev);
    create_everyhow(rt, r, &given);
    n_objects++;
}

static void objects_come_back(void **state)
{
    (void)state;
    round_trips_each(check);
    print_message("%zu objects, read %zu times, sent %zu times\n", n_objects, n_reads, n_creates);
    assert_true(n_objects > 50);
}

int main(void)
{
    struct arena a;
    arena_init(&a);
    bool there = vectors_are_there(&a, "k8s-roundtrip");
    arena_done(&a);
    if (!there)
        return VECTORS_SKIPPED;
    const struct CMUnitTest tests[] = { cmocka_unit_test(objects_come_back) };
    live_start(&live);
    live_populate(&live);
    fetcher = fetcher_new(&(struct fetcher_options){ 0 });
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fetcher_free(fetcher);
    live_stop(&live);
    return failed;
}
