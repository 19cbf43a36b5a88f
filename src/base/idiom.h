/* idiom.h - small idioms of C, spelled once. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* How many elements an array has; only of an array, not of a pointer. */
#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

/* The struct that has `member` at `pointer`. */
#define container_of(pointer, type, member) ((type *)((uintptr_t)(pointer)-offsetof(type, member)))
