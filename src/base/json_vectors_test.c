/* The JSON parsing suite (y_ accepted, n_ refused, i_ as decided below) and the JSON files that
 * Go's encoder wrote for every built-in kind, which must come out of json_write_pretty byte for
 * byte. */
#include "base/idiom.h"
#include "base/json.h"
#include "base/vectors_test.h"

#define LONE "half a surrogate pair becomes U+FFFD, as in Go"

/* What the suite leaves open. Go's decoder puts U+FFFD also where bytes are not UTF-8; we refuse
 * them, because an object must not change on its way in. */
static const struct {
    const char *prefix;
    bool accepted;
    const char *reason;
} decisions[] = {
    { "i_number_", true, "a number of any size is kept as text; a schema may refuse it later" },
    { "i_structure_500_nested_arrays", true, "within the depth limit" },
    { "i_structure_UTF-8_BOM", false, "RFC 8259 section 8.1; Go refuses it too" },
    { "i_string_UTF-16", false, "UTF-8 only" },
    { "i_string_utf16", false, "UTF-8 only" },
    { "i_object_key_lone_2nd_surrogate", true, LONE },
    { "i_string_1st_", true, LONE },
    { "i_string_incomplete_surrogate", true, LONE },
    { "i_string_invalid_lonely_surrogate", true, LONE },
    { "i_string_invalid_surrogate", true, LONE },
    { "i_string_inverted_surrogates", true, LONE },
    { "i_string_lone_second_surrogate", true, LONE },
    { "i_string_", false, "bytes that are not UTF-8" },
};

static bool is_accepted(struct arena *a, struct str text)
{
    struct value v;
    if (json_read(a, text, NULL, &v, NULL) < 0)
        return false;
    autobuf out = { 0 };
    json_write(&out, &v);
    struct value again;
    if (json_read(a, buf_str(&out), NULL, &again, NULL) < 0 || !value_eq(&v, &again)) {
        printf("FAILED: what was accepted cannot be written and read again\n");
        exit(1);
    }
    return true;
}

static bool decided(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(decisions); i++)
        if (str_starts(str_of(name), str_of(decisions[i].prefix)))
            return decisions[i].accepted;
    printf("FAILED: no decision for %s\n", name);
    exit(1);
}

enum { SUITE_Y, SUITE_N, SUITE_I, SUITE_PRETTY, SUITE_EXCLUDED, SUITE_COUNT };

static void run_parsing(struct vectors_count *counts)
{
    struct arena a;
    arena_init(&a);
    struct dirent **entries;
    size_t n = vectors_list(vectors_path(&a, "json", ""), &entries);
    for (size_t i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        bool accepted = is_accepted(&a, vectors_read(&a, vectors_path(&a, "json", name)));
        if (name[0] == 'y')
            vectors_score(&counts[SUITE_Y], accepted, name);
        else if (name[0] == 'n')
            vectors_score(&counts[SUITE_N], !accepted, name);
        else
            vectors_score(&counts[SUITE_I], accepted == decided(name), name);
        free(entries[i]);
    }
    free(entries);
    arena_done(&a);
}

/* Files that come out equal in content but not in bytes. */
static const struct {
    const char *name, *reason;
} exclusions[] = {
    { "apiextensions.k8s.io.v1.CustomResourceDefinition.json", "Go wrote \\u003c for <" },
    { "apiextensions.k8s.io.v1beta1.CustomResourceDefinition.json", "Go wrote \\u003c for <" },
};

static bool is_excluded(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(exclusions); i++)
        if (strcmp(exclusions[i].name, name) == 0)
            return true;
    return false;
}

static bool is_byte_identical(struct arena *a, struct str text)
{
    struct value v;
    if (json_read(a, text, NULL, &v, NULL) < 0)
        return false;
    autobuf out = { 0 };
    json_write_pretty(&out, &v);
    return str_eq(buf_str(&out), str_trim(text));
}

static void run_pretty(struct vectors_count *counts, const char *folder)
{
    struct arena a;
    arena_init(&a);
    struct dirent **entries;
    size_t n = vectors_list(vectors_path(&a, folder, ""), &entries);
    for (size_t i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        if (str_ends(str_of(name), STR(".json"))) {
            struct str text = vectors_read(&a, vectors_path(&a, folder, name));
            if (is_excluded(name))
                vectors_score(&counts[SUITE_EXCLUDED], !is_byte_identical(&a, text), name);
            else
                vectors_score(&counts[SUITE_PRETTY], is_byte_identical(&a, text), name);
        }
        free(entries[i]);
        arena_reset(&a);
    }
    free(entries);
    arena_done(&a);
}

int main(void)
{
    struct vectors_count counts[SUITE_COUNT] = {
        [SUITE_Y] = { .name = "json: y_ accepted" },
        [SUITE_N] = { .name = "json: n_ refused" },
        [SUITE_I] = { .name = "json: i_ as decided" },
        [SUITE_PRETTY] = { .name = "json: built-in kinds written byte for byte" },
        [SUITE_EXCLUDED] = { .name = "json: exclusions that still differ" },
    };
    struct arena a;
    arena_init(&a);
    bool there = vectors_are_there(&a, "json") && vectors_are_there(&a, "k8s-roundtrip");
    arena_done(&a);
    if (!there)
        return VECTORS_SKIPPED;
    run_parsing(counts);
    run_pretty(counts, "k8s-roundtrip");
    run_pretty(counts, "k8s-roundtrip-apiextensions");
    return vectors_report(counts, SUITE_COUNT) ? 0 : 1;
}
