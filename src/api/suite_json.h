/* suite_json.h - for tests: trees from texts that can be read. JSON is written with ' for ". */
#pragma once

#include "base/value.h"

struct arena;

/* The text with each `from` as `to`. In the arena. */
struct str suite_swap(struct arena *a, struct str text, char from, char to);
/* Fails the test if the text is no JSON. */
struct value suite_json(struct arena *a, const char *text);
/* Where a path leads: steps between slashes, | for a slash in a key, numbers in lists. NULL: there
 * is nothing. */
const struct value *suite_json_at(struct arena *a, const struct value *v, const char *path);
/* Fails the test unless they are equal, and shows both. `about` says what was looked at. */
void suite_json_same(const struct value *got, const struct value *want, const char *about);

/* An arena that lives as long as one test, with the set-up and tear-down that make it so. */
extern struct arena suite_arena;
int suite_arena_set_up(void **state);
int suite_arena_tear_down(void **state);
