#include "merge/suite_golden.h"

#include "api/defaults/defaults.h"
#include "api/typed.h"
#include "base/idiom.h"
#include "base/json.h"
#include "merge/merge_patch.h"

bool suite_has(struct str s, const char *part)
{
    return s.p && s.n && memmem(s.p, s.n, part, strlen(part));
}

/* ---- Steps ---- */

/* Placeholders that stand where a typed value must. */
static struct str with_values(struct arena *a, struct str line)
{
    static const struct str time = STR("<time>"), port = STR("\"<nodePort:");
    autobuf out = { 0 };
    while (line.n) {
        size_t skip = 1;
        if (str_starts(line, time)) {
            buf_str_add(&out, STR("2001-02-03T04:05:06Z"));
            skip = time.n;
        } else if (str_starts(line, port) && line.n > port.n + 2) {
            buf_printf(&out, "3000%c", line.p[port.n]);
            skip = port.n + 3;
        } else {
            buf_byte(&out, line.p[0]);
        }
        line = str_skip(line, skip);
    }
    return arena_str(a, buf_str(&out));
}

static struct str query_value(struct str query, struct str name)
{
    while (query.n) {
        struct str pair = str_cut(&query, '&');
        struct str key = str_cut(&pair, '=');
        if (str_eq(key, name))
            return pair;
    }
    return STR("");
}

static struct suite_step step_of(struct arena *a, const struct value *in)
{
    static const struct str below[] = { STR("/status"), STR("/ephemeralcontainers"),
                                        STR("/resize") };
    struct str query = value_str(value_get(in, STR("path"))), path = str_cut(&query, '?');
    struct str agent = value_str(value_dig(in, "headers", "User-Agent"));
    struct suite_step s = { .body = value_get(in, STR("body")),
                            .answer = value_dig(in, "expect", "body"),
                            .method = value_str(value_get(in, STR("method"))),
                            .path = path,
                            .object = path,
                            .type = value_str(value_dig(in, "headers", "Content-Type")),
                            .manager = query_value(query, STR("fieldManager")),
                            .is_dry_run = suite_has(query, "dryRun"),
                            .is_forced =
                                suite_has(query, "force=true") || suite_has(query, "force=1") };
    (void)value_to_int(value_dig(in, "expect", "code"), &s.code);
    if (!s.manager.n)
        s.manager = agent.n ? str_cut(&agent, '/') : STR("golden");
    for (size_t i = 0; i < 3; i++)
        if (str_ends(path, below[i])) {
            s.object = str_take(path, path.n - below[i].n);
            s.subresource = str_skip(below[i], 1);
        }
    if (str_eq(s.method, STR("POST"))) {
        struct str name = value_str(value_dig(s.answer, "metadata", "name"));
        s.object = arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(path), STR_ARG(name));
    }
    return s;
}

static void remember(struct suite_golden *run, const struct suite_step *s)
{
    if (s->code < 300 && !s->is_dry_run && value_dig(s->answer, "metadata", "name") &&
        !str_eq(s->method, STR("DELETE")))
        value_put(run->arena, &run->objects, s->object, value_borrow(s->answer));
}

const struct value *suite_golden_seen(const struct suite_golden *run, const struct suite_step *s)
{
    return value_get(&run->objects, s->object);
}

static void check_case(struct arena *a, struct str line,
                       void (*check)(struct suite_golden *run, const struct suite_step *s))
{
    struct value c;
    struct err err = ERR_INIT(a);
    if (json_read(a, with_values(a, line), NULL, &c, &err) < 0) {
        printf("unreadable case: " STR_FMT "\n", STR_ARG(err.msg));
        exit(1);
    }
    struct suite_golden run = { a, value_str(value_get(&c, STR("id"))), value_object() };
    value_each_item (it, value_get(&c, STR("steps"))) {
        struct suite_step s = step_of(a, it);
        check(&run, &s);
        remember(&run, &s);
    }
}

void suite_golden_each(struct arena *files, const char *name,
                       void (*check)(struct suite_golden *run, const struct suite_step *s))
{
    struct str rest = vectors_read(files, vectors_path(files, "golden", name));
    while (rest.n) {
        struct arena a;
        struct str line = str_cut(&rest, '\n');
        arena_init(&a);
        if (line.n)
            check_case(&a, line, check);
        arena_done(&a);
    }
}

/* ---- Objects ---- */

/* Takes away what the server decides, and identities that the traces have replaced. */
static void strip_decided(struct arena *a, struct value *obj)
{
    static const struct str names[] = {
        STR("managedFields"),     STR("resourceVersion"), STR("generation"), STR("uid"),
        STR("creationTimestamp"), STR("ownerReferences"), STR("namespace"),
    };
    struct value *meta = value_edit(a, obj, STR("metadata"));
    for (size_t i = 0; meta && i < ARRAY_LEN(names); i++)
        value_drop(a, meta, names[i]);
}

bool suite_golden_same(struct arena *a, const struct kind_type *kind, const struct value *have,
                       const struct value *want, void (*strip)(struct arena *a, struct value *obj))
{
    struct err err = ERR_INIT(a);
    struct value ours, theirs;
    if (typed_read(a, kind, have, NULL, &ours, &err) < 0 ||
        typed_read(a, kind, want, NULL, &theirs, &err) < 0) {
        printf(STR_FMT "\n", STR_ARG(err.msg));
        return false;
    }
    defaults_apply(a, kind, &ours);
    strip_decided(a, &ours);
    strip_decided(a, &theirs);
    strip(a, &ours);
    strip(a, &theirs);
    if (value_eq(&ours, &theirs))
        return true;
    autobuf diff = { 0 };
    struct value patch = merge_patch_create(a, &ours, &theirs);
    json_write(&diff, &patch);
    printf("object is to be changed by " STR_FMT "\n", STR_ARG(buf_str(&diff)));
    return false;
}

/* ---- Scores ---- */

void suite_golden_score(struct suite_score *score, bool passed, const struct suite_golden *run)
{
    score->total++;
    score->passed += passed;
    if (!passed)
        printf("FAILED %s: " STR_FMT "\n", score->name, STR_ARG(run->id));
}

bool suite_golden_report(const struct suite_score *scores, size_t n)
{
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        printf("%s: %zu/%zu (at least %zu)\n", scores[i].name, scores[i].passed, scores[i].total,
               scores[i].floor);
        good = good && scores[i].passed >= scores[i].floor;
    }
    return good;
}

int suite_golden_main(const char *const *names, size_t n_names,
                      void (*check)(struct suite_golden *run, const struct suite_step *s),
                      const struct suite_score *scores, size_t n_scores)
{
    struct arena files;
    arena_init(&files);
    bool there = vectors_are_there(&files, "golden");
    for (size_t i = 0; there && i < n_names; i++)
        suite_golden_each(&files, names[i], check);
    bool good = there && suite_golden_report(scores, n_scores);
    arena_done(&files);
    return !there ? VECTORS_SKIPPED : good ? 0 : 1;
}
