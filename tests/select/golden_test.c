/* Every request of the golden traces that carries a selector: where a real kube-apiserver refused
 * it, our message is the same word for word; where it took it, we take it too.
 *
 * Left out, with the reason:
 *  - answers other than 200 and 400: something else than the selector was wrong;
 *  - field selectors that were taken by custom resources (/apis/ of a group that kinds/ does not
 *    have): their fields come from a definition that the case created. Refused ones are checked as
 *    if the definition had no fields of its own. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/vectors_test.h"
#include "select/labels.h"
#include "rules.h"

struct tally {
    size_t refused, refused_same; /* expected 400 */
    size_t taken, taken_too;      /* expected 200 */
    size_t other_answer, custom;
};

static int hex(char c)
{
    return c >= '0' && c <= '9'                 ? c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                : -1;
}

/* Also puts a name where the traces have {ns}. */
static struct str url_decode(struct arena *a, struct str s)
{
    char *out = arena_alloc(a, s.n + 1, 1);
    size_t n = 0;
    while (s.n) {
        bool escape = s.p[0] == '%' && s.n > 2 && hex(s.p[1]) >= 0 && hex(s.p[2]) >= 0;
        bool ns = str_starts(s, STR("{ns}"));
        out[n++] = escape          ? (char)(hex(s.p[1]) * 16 + hex(s.p[2]))
                   : ns            ? 'n'
                   : s.p[0] == '+' ? ' '
                                   : s.p[0];
        s = str_skip(s, escape ? 3 : ns ? 4 : 1);
    }
    return (struct str){ out, n };
}

/* False where the query has no such parameter. */
static bool query(struct arena *a, struct str path, struct str name, struct str *ret)
{
    struct str rest = path;
    (void)str_cut(&rest, '?');
    while (rest.n) {
        struct str value = str_cut(&rest, '&');
        if (str_eq(str_cut(&value, '='), name)) {
            *ret = url_decode(a, value);
            return true;
        }
    }
    return false;
}

/* /api/v1/..., /apis/GROUP/VERSION/...; then [watch/] [namespaces/NAME/] PLURAL. NULL for what
 * kinds/ does not have. */
static const struct kind_resource *resource_of(struct str path)
{
    struct str rest = str_cut(&path, '?');
    (void)str_cut(&rest, '/');
    bool core = str_eq(str_cut(&rest, '/'), STR("api"));
    struct str group = core ? STR("") : str_cut(&rest, '/');
    struct str version = str_cut(&rest, '/');
    struct str word = str_cut(&rest, '/');
    if (str_eq(word, STR("watch")))
        word = str_cut(&rest, '/');
    struct str after = rest;
    (void)str_cut(&after, '/');
    if (str_eq(word, STR("namespaces")) && after.n)
        word = str_cut(&after, '/');
    return rules_resource(group, version, word);
}

/* 0 where both selectors of the path are good, else the code; the message is in `err`. */
static int parse_both(struct arena *a, struct str path, struct err *err)
{
    static const struct str plain[] = { { "metadata.name", 13 }, { "metadata.namespace", 18 } };
    struct str text;
    if (query(a, path, STR("labelSelector"), &text)) {
        struct labels_selector s;
        int r = labels_parse(a, text, &s, err);
        if (r < 0)
            return r;
    }
    if (!query(a, path, STR("fieldSelector"), &text))
        return 0;
    const struct kind_resource *res = resource_of(path);
    struct fields_rules rules = { .selectors = plain, .n_selectors = 2 };
    if (res)
        rules = rules_of(res);
    struct fields_selector s;
    return fields_parse(a, text, &rules, &s, err);
}

static void check_step(struct arena *a, struct str id, const struct value *step, struct tally *t)
{
    struct str path = value_str(value_get(step, STR("path")));
    struct str ignored;
    struct err err = ERR_INIT(a);
    int64_t code = 0;
    if (!query(a, path, STR("labelSelector"), &ignored) &&
        !query(a, path, STR("fieldSelector"), &ignored))
        return;
    (void)value_to_int(value_dig(step, "expect", "code"), &code);
    if (code != 200 && code != 400) {
        t->other_answer++;
        return;
    }
    if (code == 200 && !resource_of(path) && query(a, path, STR("fieldSelector"), &ignored)) {
        t->custom++;
        return;
    }
    int r = parse_both(a, path, &err);
    struct str want =
        code == 400 ? value_str(value_dig(step, "expect", "body", "message")) : STR("");
    bool same = str_eq(err.msg, want) && (r < 0) == (code == 400);
    *(code == 400 ? &t->refused : &t->taken) += 1;
    *(code == 400 ? &t->refused_same : &t->taken_too) += same;
    if (!same)
        printf("FAILED " STR_FMT " " STR_FMT "\n  want: " STR_FMT "\n  have: " STR_FMT "\n",
               STR_ARG(id), STR_ARG(path), STR_ARG(want), STR_ARG(err.msg));
}

static void check_case(struct arena *a, struct str line, struct tally *t)
{
    struct value c;
    struct err err = ERR_INIT(a);
    if (json_read(a, line, NULL, &c, &err) < 0) {
        printf("unreadable case: " STR_FMT "\n", STR_ARG(err.msg));
        exit(1);
    }
    value_each_item (step, value_get(&c, STR("steps")))
        check_step(a, value_str(value_get(&c, STR("id"))), step, t);
}

static bool check_file(struct arena *files, const char *name)
{
    struct tally t = { 0 };
    struct str rest = vectors_read(files, vectors_path(files, "golden", name));
    while (rest.n) {
        struct arena a;
        struct str line = str_cut(&rest, '\n');
        if (line.n == 0)
            continue;
        arena_init(&a);
        check_case(&a, line, &t);
        arena_done(&a);
    }
    printf("%s: refused alike %zu/%zu, accepted alike %zu/%zu; left out: %zu of custom resources, "
           "%zu with another answer\n",
           name, t.refused_same, t.refused, t.taken_too, t.taken, t.custom, t.other_answer);
    return t.refused && t.refused_same == t.refused && t.taken && t.taken_too == t.taken;
}

int main(void)
{
    struct arena files;
    arena_init(&files);
    bool there = vectors_are_there(&files, "golden");
    bool good = there && check_file(&files, "verbs.jsonl");
    good = there && check_file(&files, "crd.jsonl") && good;
    arena_done(&files);
    return !there ? VECTORS_SKIPPED : good ? 0 : 1;
}
