/* suite_golden.h - for tests: the golden traces without a server. Each case is a list of requests
 * and of what a real kube-apiserver answered; a test looks at the requests that it knows, beside
 * the object that the case has last seen. */
#pragma once

#include "api/kind.h"
#include "base/value.h"
#include "base/vectors_test.h"

/* Of one kind of requests: how many passed, and how many have to. */
struct suite_score {
    const char *name;
    size_t floor, passed, total;
};

/* A case on its way. */
struct suite_golden {
    struct arena *arena;
    struct str id;
    struct value objects; /* what each path has last answered */
};

/* One request, and its answer. */
struct suite_step {
    const struct value *body, *answer;
    struct str method, path, type, manager;
    struct str object, subresource; /* the path of the object itself, and what came after it */
    bool is_dry_run, is_forced;
    int64_t code;
};

bool suite_has(struct str s, const char *part);

/* Shows each step of each case of a file to the test, in order. */
void suite_golden_each(struct arena *files, const char *name,
                       void (*check)(struct suite_golden *run, const struct suite_step *s));
/* The object that a step is about, as it was answered last. NULL: no step has answered with it. */
const struct value *suite_golden_seen(const struct suite_golden *run, const struct suite_step *s);

/* Compares objects of a kind, the first one with its defaults, but for what the server decides and
 * for what `strip` takes away. Prints how they differ. */
bool suite_golden_same(struct arena *a, const struct kind_type *kind, const struct value *have,
                       const struct value *want, void (*strip)(struct arena *a, struct value *obj));

void suite_golden_score(struct suite_score *score, bool passed, const struct suite_golden *run);
/* Prints the scores; false if one is below its floor. */
bool suite_golden_report(const struct suite_score *scores, size_t n);

/* Looks at the files in turn, and reports. For main(). */
int suite_golden_main(const char *const *names, size_t n_names,
                      void (*check)(struct suite_golden *run, const struct suite_step *s),
                      const struct suite_score *scores, size_t n_scores);
