#include "controllers/namespace/plan.h"
#include "base/idiom.h"

#include <sampan/meta.h>
#include <sampan/typed.h>
#include <stdlib.h>

#include "base/str.h"
#include "base/banned.h"

/* Objects with finalizers are looked at again after so long. */
enum { FINALIZER_ESTIMATE_SEC = 15 };

/* ---- Counting ---- */

static void count(struct spn_arena *a, struct namespace_counts *counts, struct spn_text name,
                  int64_t n)
{
    for (size_t i = 0; i < counts->n; i++) {
        if (spn_text_eq(counts->items[i].name, name)) {
            counts->items[i].n += n;
            return;
        }
    }
    struct namespace_count *c = spn_append(a, counts);
    c->name = spn_arena_text(a, name);
    c->n = n;
}

void namespace_count_finalizers(struct spn_arena *a, const struct spn_value *items,
                                struct namespace_counts *counts)
{
    for (size_t i = 0; i < spn_value_count(items); i++) {
        const struct spn_value *all =
            spn_value_dig(spn_value_at(items, i), "metadata", "finalizers");
        for (size_t k = 0; k < spn_value_count(all); k++)
            count(a, counts, spn_value_text(spn_value_at(all, k)), 1);
    }
}

int64_t namespace_grace(const struct spn_value *pods, int64_t so_far)
{
    for (size_t i = 0; i < spn_value_count(pods); i++) {
        const struct spn_value *pod = spn_value_at(pods, i);
        struct spn_text phase = spn_value_text(spn_value_dig(pod, "status", "phase"));
        int64_t grace = 0;
        if (!spn_text_eq(phase, SPN_TEXT("Succeeded")) && !spn_text_eq(phase, SPN_TEXT("Failed")))
            (void)spn_value_int(spn_value_dig(pod, "spec", "terminationGracePeriodSeconds"),
                                &grace);
        if (grace > so_far)
            so_far = grace;
    }
    return so_far;
}

int64_t namespace_grace_left(int64_t grace, int64_t deleted_sec, int64_t now_sec)
{
    return now_sec - deleted_sec >= grace ? 0 : grace;
}

bool namespace_remain(struct spn_arena *a, struct namespace_pass *p, const struct spn_resource *r,
                      int64_t items, const struct namespace_counts *finalizers, int64_t grace)
{
    if (items == 0)
        return true;
    count(a, &p->resources,
          spn_arena_printf(a, SPN_FMT "." SPN_FMT, SPN_ARG(r->plural), SPN_ARG(r->group)), items);
    for (size_t i = 0; i < finalizers->n; i++)
        count(a, &p->finalizers, finalizers->items[i].name, finalizers->items[i].n);
    int64_t estimate = grace ? grace : finalizers->n ? FINALIZER_ESTIMATE_SEC : 0;
    if (estimate > p->estimate_sec)
        p->estimate_sec = estimate;
    return estimate != 0;
}

/* ---- Conditions ---- */

static int by_text(const void *a, const void *b)
{
    const struct spn_text *x = a, *y = b;
    return str_cmp((struct str){ x->p, x->n }, (struct str){ y->p, y->n });
}

/* In order, with commas between them. */
static struct spn_text join_sorted(struct spn_arena *a, const struct spn_text *texts, size_t n)
{
    struct spn_text *sorted = spn_arena_alloc(a, (n + 1) * sizeof(*sorted));
    struct spn_text all = SPN_TEXT("");
    for (size_t i = 0; i < n; i++)
        sorted[i] = texts[i];
    if (n)
        qsort(sorted, n, sizeof(*sorted), by_text);
    for (size_t i = 0; i < n; i++)
        all = spn_arena_printf(a, SPN_FMT "%s" SPN_FMT, SPN_ARG(all), i ? ", " : "",
                               SPN_ARG(sorted[i]));
    return all;
}

static struct spn_text counts_text(struct spn_arena *a, const struct namespace_counts *counts,
                                   const char *verb)
{
    struct spn_text *texts = spn_arena_alloc(a, (counts->n + 1) * sizeof(*texts));
    for (size_t i = 0; i < counts->n; i++)
        texts[i] =
            spn_arena_printf(a, SPN_FMT " %s %lld resource instances",
                             SPN_ARG(counts->items[i].name), verb, (long long)counts->items[i].n);
    return join_sorted(a, texts, counts->n);
}

static const char *missing_text(struct spn_arena *a, const struct namespace_pass *p)
{
    struct spn_text *texts = spn_arena_alloc(a, (p->missing.n + 1) * sizeof(*texts));
    for (size_t i = 0; i < p->missing.n; i++)
        texts[i] = spn_arena_printf(a, SPN_FMT ": stale GroupVersion discovery: " SPN_FMT,
                                    SPN_ARG(p->missing.items[i]), SPN_ARG(p->missing.items[i]));
    return spn_arena_printf(a,
                            "Discovery failed for some groups, %zu failing: unable to retrieve "
                            "the complete list of server APIs: " SPN_FMT,
                            p->missing.n, SPN_ARG(join_sorted(a, texts, p->missing.n)))
        .p;
}

static const char *failures_text(struct spn_arena *a, const struct namespace_pass *p)
{
    return spn_arena_printf(a, "Failed to delete all resource types, %zu remaining: " SPN_FMT,
                            p->failures.n,
                            SPN_ARG(join_sorted(a, p->failures.items, p->failures.n)))
        .p;
}

static const char *resources_text(struct spn_arena *a, const struct namespace_pass *p)
{
    return spn_arena_printf(a, "Some resources are remaining: " SPN_FMT,
                            SPN_ARG(counts_text(a, &p->resources, "has")))
        .p;
}

static const char *finalizers_text(struct spn_arena *a, const struct namespace_pass *p)
{
    return spn_arena_printf(a, "Some content in the namespace has finalizers remaining: " SPN_FMT,
                            SPN_ARG(counts_text(a, &p->finalizers, "in")))
        .p;
}

/* One of the conditions: what it says when all is well, and what if not. */
struct row {
    const char *type;
    const char *ok_reason, *ok_message;
    const char *bad_reason, *bad_message; /* NULL: all is well */
};

static bool set_row(struct spn_arena *a, struct spn_value *ns, const struct row *row)
{
    const struct spn_condition c = { .type = row->type,
                                     .status = row->bad_message ? "True" : "False",
                                     .reason = row->bad_message ? row->bad_reason : row->ok_reason,
                                     .message =
                                         row->bad_message ? row->bad_message : row->ok_message };
    return spn_condition_set(a, ns, &c);
}

bool namespace_conditions(struct spn_arena *a, struct spn_value *ns, struct namespace_pass *p,
                          bool is_whole)
{
    const struct row rows[] = {
        { "NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered",
          "All resources successfully discovered", "DiscoveryFailed",
          p->missing.n ? missing_text(a, p) : NULL },
        { "NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions",
          "All legacy kube types successfully parsed", "GroupVersionParsingFailed", NULL },
        { "NamespaceDeletionContentFailure", "ContentDeleted",
          "All content successfully deleted, may be waiting on finalization",
          "ContentDeletionFailed", p->failures.n ? failures_text(a, p) : NULL },
        { "NamespaceContentRemaining", "ContentRemoved", "All content successfully removed",
          "SomeResourcesRemain", is_whole && p->resources.n ? resources_text(a, p) : NULL },
        { "NamespaceFinalizersRemaining", "ContentHasNoFinalizers",
          "All content-preserving finalizers finished", "SomeFinalizersRemain",
          is_whole && p->finalizers.n ? finalizers_text(a, p) : NULL },
    };
    bool has_changed = false;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        has_changed |= set_row(a, ns, &rows[i]);
    return has_changed;
}

/* ---- The end ---- */

void namespace_finalize(struct spn_arena *a, struct spn_value *ns)
{
    struct spn_value *spec = spn_value_ensure(a, ns, "spec");
    const struct spn_value *now = spn_value_get(spec, "finalizers");
    struct spn_value *left = spn_value_new(a, SPN_ARRAY);
    for (size_t i = 0; i < spn_value_count(now); i++) {
        struct spn_text name = spn_value_text(spn_value_at(now, i));
        if (!spn_text_eq(name, SPN_TEXT("kubernetes")))
            spn_value_push(a, left, spn_value_new_text(a, name));
    }
    spn_value_set(a, spec, "finalizers", left);
}
