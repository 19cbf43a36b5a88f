/* suite_folder.h - a folder of its own for each test that needs files. */
#pragma once

#include "client/suite_client.h"

struct suite_folder {
    struct spn_arena *arena;
    const char *path;
};

/* As cmocka's setup and teardown; the state is a struct suite_folder. */
int suite_folder_setup(void **state);
int suite_folder_teardown(void **state);
#define suite_folder_test(fn) \
    cmocka_unit_test_setup_teardown(fn, suite_folder_setup, suite_folder_teardown)

/* Both give the whole path. Folders on the way are made. */
const char *suite_path(struct suite_folder *f, const char *name);
const char *suite_file(struct suite_folder *f, const char *name, const char *text);
/* The same, to be run. */
const char *suite_script(struct suite_folder *f, const char *name, const char *text);
