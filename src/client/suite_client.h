/* suite_client.h - what the tests of this folder share. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <sampan/object.h>

/* Each test gets an arena as its state. */
int suite_arena_setup(void **state);
int suite_arena_teardown(void **state);
#define suite_test(fn) cmocka_unit_test_setup_teardown(fn, suite_arena_setup, suite_arena_teardown)

void assert_text(struct spn_text got, const char *want);

/* An object from JSON, which must be right. The caller owns it. */
struct spn_object *suite_object(struct spn_arena *a, const char *json);
/* One of that key ("ns/name" or "name") and resourceVersion. */
struct spn_object *suite_keyed(struct spn_arena *a, const char *key, unsigned version);
