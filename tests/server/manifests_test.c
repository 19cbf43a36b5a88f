/* Real manifests: every object of a built-in kind in the vectors, sent to a server with
 * fieldValidation=Strict and dryRun=All, into a namespace that exists. All are accepted but those
 * of manifests_refused.h, where each stands with what upstream says of it too.
 *
 * What stands in no namespace comes first, because namespaces are then made for the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/idiom.h"
#include "base/json.h"
#include "base/map.h"
#include "base/vectors_test.h"
#include "base/yaml.h"
#include "live.h"
#include "manifests_refused.h"
#include "net/outgoing/fetch.h"

static struct fetcher *fetcher;
static struct map namespaces; /* that have been made */
static size_t n_accepted, n_refused, n_wrong;

struct reply {
    int status;
    struct str msg;
};

static struct reply post(struct arena *a, struct str path, const struct value *obj)
{
    const struct http_header headers[] = { { STR("Content-Type"), STR("application/json") } };
    autobuf body = { 0 };
    json_write(&body, obj);
    const struct fetch_request req = {
        .method = STR("POST"),
        .url = arena_printf(a, "http://" STR_FMT STR_FMT, STR_ARG(live.address), STR_ARG(path)),
        .headers = headers,
        .n_headers = 1,
        .body = buf_str(&body),
    };
    struct fetch_reply reply;
    struct value answer;
    struct err err = ERR_INIT(a);
    if (fetch(fetcher, &req, a, &reply, &err) < 0)
        fail_msg(STR_FMT, STR_ARG(err.msg));
    struct reply ret = { .status = reply.status };
    if (reply.status >= 300 && json_read(a, reply.body, NULL, &answer, &err) == 0)
        ret.msg = value_str(value_get(&answer, STR("message")));
    return ret;
}

/* ---- Where an object goes ---- */

static const struct kind_resource *resource_of(const struct value *obj)
{
    const struct kind_type *t = kind_find(value_str(value_get(obj, STR("apiVersion"))),
                                          value_str(value_get(obj, STR("kind"))));
    for (size_t i = 0; t && i < n_kind_versions; i++)
        for (size_t k = 0; k < kind_versions[i].n_resources; k++) {
            const struct kind_resource *r = &kind_versions[i].resources[k];
            if (r->type == t && r->verbs & KIND_CREATE)
                return r;
        }
    return NULL;
}

static struct str namespace_of(const struct value *obj)
{
    struct str ns = value_str(value_dig(obj, "metadata", "namespace"));
    return ns.n ? ns : STR("default");
}

static void make_namespace(struct arena *a, struct str name)
{
    struct value ns = value_object(), meta = value_object();
    if (map_get(&namespaces, name))
        return;
    value_put_new(a, &meta, STR("name"), value_string(name));
    value_put_new(a, &ns, STR("metadata"), meta);
    int status = post(a, STR("/api/v1/namespaces"), &ns).status;
    assert_true(status == 201 || status == 409);
    (void)map_set(&namespaces, arena_str(&live.arena, name), &live);
}

static struct str path_of(struct arena *a, const struct kind_resource *r, const struct value *obj)
{
    struct str group =
        r->group.n ? arena_printf(a, "/apis/" STR_FMT, STR_ARG(r->group)) : STR("/api");
    struct str ns = STR("");
    if (r->namespaced)
        ns = arena_printf(a, "/namespaces/" STR_FMT, STR_ARG(namespace_of(obj)));
    return arena_printf(
        a, STR_FMT "/" STR_FMT STR_FMT "/" STR_FMT "?dryRun=All&fieldValidation=Strict",
        STR_ARG(group), STR_ARG(r->version), STR_ARG(ns), STR_ARG(r->plural));
}

/* ---- One object ---- */

static const struct refused *find_refused(struct str file, size_t doc)
{
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (refused[i].doc == doc && str_eq(str_of(refused[i].file), file))
            return &refused[i];
    return NULL;
}

static void judge(struct str file, size_t doc, const struct reply *got)
{
    const struct refused *known = find_refused(file, doc);
    bool accepted = got->status < 300;
    if (accepted)
        n_accepted++;
    else
        n_refused++;
    if (known ? !accepted && memmem(got->msg.p, got->msg.n, known->why, strlen(known->why))
              : accepted)
        return;
    n_wrong++;
    if (accepted)
        printf("%.*s, document %zu: accepted, and listed as refused\n", STR_ARG(file), doc);
    else
        printf("%.*s, document %zu: %d " STR_FMT "\n", STR_ARG(file), doc, got->status,
               STR_ARG(got->msg));
}

static void send_one(struct arena *a, struct str file, size_t doc, const struct value *obj,
                     bool namespaced)
{
    const struct kind_resource *r = resource_of(obj);
    if (!r || r->type->custom || r->namespaced != namespaced)
        return;
    if (str_eq(r->plural, STR("customresourcedefinitions")))
        return; /* those are another test's */
    if (namespaced)
        make_namespace(a, namespace_of(obj));
    struct reply got = post(a, path_of(a, r, obj), obj);
    judge(file, doc, &got);
}

/* ---- All of them ---- */

static void send_file(struct str file, bool namespaced)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct str text = vectors_read(&a, vectors_path(&a, "manifests", str_cstr(&a, file)));
    struct yaml_stream *s = yaml_stream_new(&a, text, NULL);
    struct value doc;
    size_t n = 0;
    int r;
    while ((r = yaml_stream_next(s, &doc, &err)) == 1) {
        const struct value *items = value_get(&doc, STR("items"));
        bool is_list = str_ends(value_str(value_get(&doc, STR("kind"))), STR("List")) &&
                       value_is(items, VALUE_ARRAY);
        if (!is_list)
            send_one(&a, file, n, &doc, namespaced);
        value_each_item (it, is_list ? items : NULL)
            send_one(&a, file, n, it, namespaced);
        n++;
    }
    if (r < 0)
        fail_msg(STR_FMT ": " STR_FMT, STR_ARG(file), STR_ARG(err.msg));
    yaml_stream_free(s);
    arena_done(&a);
}

/* The files of the index that have an object of a built-in kind, each once. */
static size_t list_files(struct arena *a, struct str **ret)
{
    struct str index = vectors_read(a, vectors_path(a, "manifests", "index.jsonl"));
    struct str *files = NULL;
    size_t n = 0;
    struct map seen = { 0 };
    while (index.n) {
        struct value row;
        struct str line = str_cut(&index, '\n');
        if (!line.n || json_read(a, line, NULL, &row, NULL) < 0)
            continue;
        struct str file = value_str(value_get(&row, STR("file")));
        if (!str_eq(value_str(value_get(&row, STR("class"))), STR("builtin")) ||
            map_set(&seen, file, a))
            continue;
        files =
            arena_grow(a, files, n * sizeof(*files), (n + 1) * sizeof(*files), alignof(struct str));
        files[n++] = file;
    }
    map_done(&seen);
    *ret = files;
    return n;
}

static void manifests_are_accepted(void **state)
{
    (void)state;
    struct str *files;
    struct arena a;
    arena_init(&a);
    size_t n = list_files(&a, &files);
    for (size_t i = 0; i < n; i++)
        send_file(files[i], false);
    for (size_t i = 0; i < n; i++)
        send_file(files[i], true);
    printf("%zu files: %zu objects accepted, %zu refused\n", n, n_accepted, n_refused);
    assert_int_equal(n_wrong, 0);
    assert_true(n_accepted > 1000);
    arena_done(&a);
}

int main(void)
{
    struct arena a;
    arena_init(&a);
    bool there = vectors_are_there(&a, "manifests");
    arena_done(&a);
    if (!there)
        return VECTORS_SKIPPED;
    const struct CMUnitTest tests[] = { cmocka_unit_test(manifests_are_accepted) };
    live_start(&live);
    live_populate(&live);
    fetcher = fetcher_new(&(struct fetcher_options){ 0 });
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fetcher_free(fetcher);
    map_done(&namespaces);
    live_stop(&live);
    return failed;
}
