/* Real definitions and objects of theirs: every CustomResourceDefinition in the vectors is
 * accepted, established and served, and every object whose definition lies in the same repository
 * is accepted with fieldValidation=Strict, but for those of definitions_refused.h. Then the cases
 * of expressions in definitions (crd-cel): created or updated, accepted or refused with the words
 * that upstream's own tests expect.
 *
 * A repository may have several definitions of one name (standard and experimental ones); its
 * objects are tried with each, and one that takes it is enough. Conversion webhooks are left out of
 * the definitions that objects are tried with: there is nobody who would answer. */
#include <stdio.h>

#include "base/idiom.h"
#include "base/json.h"
#include "base/map.h"
#include "base/vectors_test.h"
#include "base/yaml.h"
#include "definitions_refused.h"
#include "requests.h"

#define DEFINITIONS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

static struct requests *requests;

/* ---- Reading ---- */

struct document {
    struct str file;
    size_t doc; /* in the file, from 0 */
    struct value obj;
    size_t round;        /* of a definition: how many of its name come before it */
    struct str why;      /* of an object: what was said against it last */
    bool is_tried, fits; /* of an object */
};

struct repository {
    struct arena a;
    struct document *crds, *objects;
    size_t n_crds, n_objects, n_rounds;
};

static void add(struct arena *a, struct document **list, size_t *n, const struct document *d)
{
    *list = arena_grow(a, *list, *n * sizeof(**list), (*n + 1) * sizeof(**list), 16);
    (*list)[(*n)++] = *d;
}

static void add_object(struct repository *r, struct str file, size_t doc, const struct value *obj)
{
    struct document d = { .file = file, .doc = doc, .obj = value_borrow(obj) };
    if (!str_eq(value_str(value_get(obj, STR("kind"))), STR("CustomResourceDefinition"))) {
        add(&r->a, &r->objects, &r->n_objects, &d);
        return;
    }
    struct str name = value_str(value_dig(obj, "metadata", "name"));
    for (size_t i = 0; i < r->n_crds; i++)
        d.round += str_eq(name, value_str(value_dig(&r->crds[i].obj, "metadata", "name")));
    if (d.round >= r->n_rounds)
        r->n_rounds = d.round + 1;
    add(&r->a, &r->crds, &r->n_crds, &d);
}

static void read_file(struct repository *r, struct str file)
{
    struct err err = ERR_INIT(&r->a);
    struct str text = vectors_read(&r->a, vectors_path(&r->a, "manifests", str_cstr(&r->a, file)));
    struct yaml_stream *s = yaml_stream_new(&r->a, text, NULL);
    struct value doc;
    int more;
    for (size_t n = 0; (more = yaml_stream_next(s, &doc, &err)) == 1; n++) {
        const struct value *items = value_get(&doc, STR("items"));
        bool is_list = str_ends(value_str(value_get(&doc, STR("kind"))), STR("List")) &&
                       value_is(items, VALUE_ARRAY);
        if (!is_list)
            add_object(r, file, n, &doc);
        value_each_item (it, is_list ? items : NULL)
            add_object(r, file, n, it);
    }
    if (more < 0)
        fail_msg(STR_FMT ": " STR_FMT, STR_ARG(file), STR_ARG(err.msg));
    yaml_stream_free(s);
}

/* ---- Definitions ---- */

static struct str collection(struct arena *a, const struct value *crd, struct str version)
{
    const struct value *spec = value_get(crd, STR("spec"));
    return arena_printf(a, "/apis/" STR_FMT "/" STR_FMT "/" STR_FMT,
                        STR_ARG(value_str(value_get(spec, STR("group")))), STR_ARG(version),
                        STR_ARG(value_str(value_dig(spec, "names", "plural"))));
}

static struct str definitions_of(struct arena *a, const struct value *crd)
{
    struct str version = value_str(value_get(crd, STR("apiVersion")));
    return arena_printf(a, "/apis/" STR_FMT "/customresourcedefinitions", STR_ARG(version));
}

/* The document does not have to be one that a client may send again. */
static struct value plain(struct arena *a, const struct value *crd, bool converts)
{
    struct value v = value_borrow(crd);
    value_drop(a, &v, STR("status"));
    if (!converts)
        value_drop(a, value_edit(a, &v, STR("spec")), STR("conversion"));
    return v;
}

static bool is_established(const struct value *crd)
{
    value_each_item (it, value_dig(crd, "status", "conditions"))
        if (str_eq(value_str(value_get(it, STR("type"))), STR("Established")))
            return str_eq(value_str(value_get(it, STR("status"))), STR("True"));
    return false;
}

static bool expect(struct str file, size_t doc, const char *what, const struct sent *got, int want)
{
    if (got->status == want)
        return true;
    printf(STR_FMT ", document %zu: %s: %d " STR_FMT "\n", STR_ARG(file), doc, what, got->status,
           STR_ARG(sent_message(got)));
    return false;
}

static struct str named(struct arena *a, const struct value *crd)
{
    return arena_printf(a, DEFINITIONS "/" STR_FMT,
                        STR_ARG(value_str(value_dig(crd, "metadata", "name"))));
}

static void drop(struct arena *a, const struct value *crd)
{
    (void)requests_json(requests, a, "DELETE", named(a, crd), NULL);
    assert_int_equal(requests_json(requests, a, "GET", named(a, crd), NULL).status, 404);
}

static size_t check_versions(struct arena *a, const struct document *d, const struct value *crd)
{
    size_t n_wrong = 0;
    value_each_item (it, value_dig(crd, "spec", "versions")) {
        const struct value *served = value_get(it, STR("served"));
        struct str path = collection(a, crd, value_str(value_get(it, STR("name"))));
        struct sent got = requests_json(requests, a, "GET", path, NULL);
        n_wrong += !expect(d->file, d->doc, "list", &got, served && served->b ? 200 : 404);
    }
    return n_wrong;
}

/* Sent as it is, it is served in all of its versions at once. */
static size_t check_definition(const struct document *d)
{
    struct arena a;
    arena_init(&a);
    struct str path =
        arena_printf(&a, STR_FMT "?fieldValidation=Strict", STR_ARG(definitions_of(&a, &d->obj)));
    struct value crd = plain(&a, &d->obj, true);
    struct sent got = requests_json(requests, &a, "POST", path, &crd);
    bool good = expect(d->file, d->doc, "definition", &got, 201);
    size_t n_wrong = !good;
    if (good) {
        struct sent now = requests_json(requests, &a, "GET", named(&a, &crd), NULL);
        if (!is_established(&now.obj)) {
            printf(STR_FMT ", document %zu: not established\n", STR_ARG(d->file), d->doc);
            n_wrong++;
        }
        n_wrong += check_versions(&a, d, &now.obj);
        drop(&a, &crd);
    }
    arena_done(&a);
    return n_wrong;
}

/* Of each name, the definition of that round, or else the last one. */
static bool is_of_round(const struct repository *r, const struct document *d, size_t round)
{
    if (d->round >= round)
        return d->round == round;
    struct str name = value_str(value_dig(&d->obj, "metadata", "name"));
    for (size_t i = 0; i < r->n_crds; i++)
        if (r->crds[i].round == d->round + 1 &&
            str_eq(name, value_str(value_dig(&r->crds[i].obj, "metadata", "name"))))
            return false;
    return true;
}

/* ---- Objects ---- */

static const struct value *definition_of(const struct repository *r, const struct value *obj)
{
    struct str group = value_str(value_get(obj, STR("apiVersion"))),
               kind = value_str(value_get(obj, STR("kind")));
    group = str_cut(&group, '/');
    for (size_t i = 0; i < r->n_crds; i++) {
        const struct value *spec = value_get(&r->crds[i].obj, STR("spec"));
        if (str_eq(value_str(value_get(spec, STR("group"))), group) &&
            str_eq(value_str(value_dig(spec, "names", "kind")), kind))
            return &r->crds[i].obj;
    }
    return NULL;
}

static void make_namespace(struct arena *a, struct str name)
{
    struct str text = arena_printf(a, "metadata: {name: " STR_FMT "}", STR_ARG(name));
    struct value ns = requests_parse(a, text);
    int status = requests_json(requests, a, "POST", STR("/api/v1/namespaces"), &ns).status;
    assert_true(status == 201 || status == 409);
}

static struct str path_of(struct arena *a, const struct value *crd, const struct value *obj)
{
    struct str group = value_str(value_get(obj, STR("apiVersion"))), version = group;
    (void)str_cut(&version, '/');
    const struct value *spec = value_get(crd, STR("spec"));
    struct str ns = value_str(value_dig(obj, "metadata", "namespace"));
    if (!ns.n)
        ns = STR("default");
    if (!str_eq(value_str(value_get(spec, STR("scope"))), STR("Namespaced")))
        return collection(a, crd, version);
    if (!str_eq(ns, STR("default")))
        make_namespace(a, ns);
    return arena_printf(a, "/apis/" STR_FMT "/namespaces/" STR_FMT "/" STR_FMT, STR_ARG(group),
                        STR_ARG(ns), STR_ARG(value_str(value_dig(spec, "names", "plural"))));
}

static void try_object(struct repository *r, struct document *d)
{
    const struct value *crd = definition_of(r, &d->obj);
    if (!crd || d->fits)
        return;
    struct arena a;
    arena_init(&a);
    d->is_tried = true;
    struct str path = arena_printf(&a, STR_FMT "?dryRun=All&fieldValidation=Strict",
                                   STR_ARG(path_of(&a, crd, &d->obj)));
    struct sent got = requests_json(requests, &a, "POST", path, &d->obj);
    d->fits = got.status == 201;
    d->why = arena_printf(&r->a, "%d " STR_FMT, got.status, STR_ARG(sent_message(&got)));
    arena_done(&a);
}

static void try_round(struct repository *r, size_t round)
{
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < r->n_crds; i++) {
        if (!is_of_round(r, &r->crds[i], round))
            continue;
        struct value crd = plain(&a, &r->crds[i].obj, false);
        struct sent got = requests_json(requests, &a, "POST", definitions_of(&a, &crd), &crd);
        (void)expect(r->crds[i].file, r->crds[i].doc, "definition", &got, 201);
    }
    for (size_t i = 0; i < r->n_objects; i++)
        try_object(r, &r->objects[i]);
    for (size_t i = 0; i < r->n_crds; i++)
        if (is_of_round(r, &r->crds[i], round))
            drop(&a, &r->crds[i].obj);
    arena_done(&a);
}

static const struct refused *find_refused(const struct document *d)
{
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (refused[i].doc == d->doc && str_eq(str_of(refused[i].file), d->file))
            return &refused[i];
    return NULL;
}

/* ---- All of them ---- */

static size_t n_definitions, n_accepted, n_refused, n_wrong;

static void judge(const struct document *d)
{
    const struct refused *known = find_refused(d);
    if (!d->is_tried)
        return;
    if (d->fits)
        n_accepted++;
    else
        n_refused++;
    if (known ? !d->fits && memmem(d->why.p, d->why.n, known->why, strlen(known->why)) : d->fits)
        return;
    n_wrong++;
    printf(STR_FMT ", document %zu: " STR_FMT "\n", STR_ARG(d->file), d->doc,
           STR_ARG(d->fits ? STR("accepted, and listed as refused") : d->why));
}

static void check_repository(struct repository *r)
{
    for (size_t i = 0; i < r->n_crds; i++)
        n_wrong += check_definition(&r->crds[i]);
    n_definitions += r->n_crds;
    for (size_t round = 0; round < r->n_rounds; round++)
        try_round(r, round);
    for (size_t i = 0; i < r->n_objects; i++)
        judge(&r->objects[i]);
}

static struct str repository_of(struct str file)
{
    return str_cut(&file, '/');
}

/* The files of the index are in order of their repositories. */
static void all_fit(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    struct str index = vectors_read(&a, vectors_path(&a, "manifests", "index.jsonl")), last = { 0 };
    struct repository r = { 0 };
    struct map seen = { 0 };
    arena_init(&r.a);
    while (index.n) {
        struct value row;
        struct str line = str_cut(&index, '\n');
        if (!line.n || json_read(&a, line, NULL, &row, NULL) < 0)
            continue;
        struct str file = value_str(value_get(&row, STR("file"))),
                   class = value_str(value_get(&row, STR("class")));
        if ((!str_eq(class, STR("crd")) && !str_eq(class, STR("custom"))) ||
            map_set(&seen, file, &live))
            continue;
        if (last.n && !str_eq(repository_of(file), repository_of(last))) {
            check_repository(&r);
            arena_done(&r.a);
            r = (struct repository){ 0 };
            arena_init(&r.a);
        }
        read_file(&r, file);
        last = file;
    }
    check_repository(&r);
    arena_done(&r.a);
    map_done(&seen);
    arena_done(&a);
    printf("%zu definitions; %zu objects accepted, %zu refused\n", n_definitions, n_accepted,
           n_refused);
    assert_int_equal(n_wrong, 0);
    assert_true(n_definitions > 100 && n_accepted > 500);
}

/* ---- Expressions ---- */

static void define_snapshots(struct arena *a)
{
    const char *folder =
        vectors_path(a, "manifests", "kubernetes-csi-external-snapshotter/client/config/crd");
    struct dirent **names;
    size_t n = vectors_list(folder, &names);
    for (size_t i = 0; i < n; i++) {
        struct str path = arena_printf(a, "%s/%s", folder, names[i]->d_name);
        if (str_ends(path, STR(".yaml")) && !str_ends(path, STR("kustomization.yaml"))) {
            struct value crd = requests_parse(a, vectors_read(a, str_cstr(a, path)));
            crd = plain(a, &crd, false);
            struct sent got = requests_json(requests, a, "POST", STR(DEFINITIONS), &crd);
            assert_true(expect(path, 0, "definition", &got, 201));
        }
        free(names[i]);
    }
    free(names);
}

/* Only the resource's name is not in the object. */
static struct str snapshots_path(struct arena *a, const struct value *obj)
{
    struct str group = value_str(value_get(obj, STR("apiVersion"))),
               kind = value_str(value_get(obj, STR("kind")));
    char *plural = arena_dup(a, kind.p, kind.n);
    for (size_t i = 0; i < kind.n; i++)
        plural[i] |= 0x20;
    bool cluster = str_ends(kind, STR("Content")) || str_ends(kind, STR("Class"));
    return arena_printf(a, "/apis/" STR_FMT "%s/%.*s%s", STR_ARG(group),
                        cluster ? "" : "/namespaces/default", (int)kind.n, plural,
                        str_ends(kind, STR("Class")) ? "es" : "s");
}

static struct sent update(struct arena *a, struct str path, const struct value *row)
{
    const struct value *old = value_get(row, STR("old"));
    struct sent made = requests_json(requests, a, "POST", path, old);
    if (made.status != 201)
        return made;
    struct str one = arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(path),
                                  STR_ARG(value_str(value_dig(old, "metadata", "name"))));
    struct value obj = value_borrow(value_get(row, STR("object")));
    const struct value *rev = value_dig(&made.obj, "metadata", "resourceVersion");
    value_put(a, value_edit(a, &obj, STR("metadata")), STR("resourceVersion"), value_borrow(rev));
    struct sent got = requests_json(requests, a, "PUT", one, &obj);
    assert_int_equal(requests_json(requests, a, "DELETE", one, NULL).status, 200);
    return got;
}

/* The words were written down with a server that showed the type of a value, where those of today
 * show the value itself, or nothing. */
static bool says(const struct sent *got, struct arena *a, struct str words)
{
    static const char mark[] = "Invalid value: \"";
    const char *at = memmem(words.p, words.n, mark, strlen(mark));
    if (!at)
        return sent_says(got, str_cstr(a, words));
    struct str rest = str_skip(words, (size_t)(at - words.p) + strlen(mark));
    (void)str_cut(&rest, '"');
    return sent_says(got, str_cstr(a, str_take(words, (size_t)(at - words.p)))) &&
           sent_says(got, str_cstr(a, rest));
}

static bool check_case(struct arena *a, const struct value *row)
{
    const struct value *obj = value_get(row, STR("object"));
    struct str words = value_str(value_get(row, STR("errorContains"))),
               path = snapshots_path(a, obj);
    bool is_update = str_eq(value_str(value_get(row, STR("operation"))), STR("update"));
    struct sent got =
        is_update ? update(a, path, row)
                  : requests_json(requests, a, "POST",
                                  arena_printf(a, STR_FMT "?dryRun=All", STR_ARG(path)), obj);
    bool good =
        words.n ? got.status == 422 && says(&got, a, words) : got.status == (is_update ? 200 : 201);
    if (!good)
        printf(STR_FMT ": %d " STR_FMT "\n", STR_ARG(value_str(value_get(row, STR("id")))),
               got.status, STR_ARG(sent_message(&got)));
    return good;
}

static void expressions_decide(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    if (!vectors_are_there(&a, "crd-cel")) {
        arena_done(&a);
        skip();
    }
    define_snapshots(&a);
    struct value all =
        requests_parse(&a, vectors_read(&a, vectors_path(&a, "crd-cel", "cases.json")));
    struct vectors_count count = { .name = "crd-cel" };
    value_each_item (it, value_get(&all, STR("cases")))
        vectors_score(&count, check_case(&a, it),
                      str_cstr(&a, value_str(value_get(it, STR("id")))));
    assert_true(vectors_report(&count, 1));
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_fit),
        cmocka_unit_test(expressions_decide),
    };
    live_start(&live);
    live_populate(&live);
    requests = requests_new(&live);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    requests_free(requests);
    live_stop(&live);
    return failed;
}
