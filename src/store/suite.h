/* suite.h - the behaviour that every engine has; each engine's test runs all of it. */
#pragma once

#include "store/store.h"

/* Runs the whole suite; returns the number of failures. */
int suite_run(enum store_engine engine);
