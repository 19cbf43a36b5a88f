/* words.h - a text that should be one of a few words: looked up in a list, or in a table that has a
 * row for each word.
 *
 * Lists are short and in the order in which messages name the words. A lookup goes from the front
 * and compares lengths first. */
#pragma once

#include "base/idiom.h"
#include "base/str.h"

/* The place of `text` among the words; `n` if it is none of them. */
size_t words_find(struct str text, const struct str *words, size_t n);
static inline bool words_have(struct str text, const struct str *words, size_t n)
{
    return words_find(text, words, n) < n;
}
/* The order of bytes, for qsort() of an array of words. */
int words_compare(const void *a, const void *b);
/* An array of words as these functions take it. */
#define WORDS(array) (array), ARRAY_LEN(array)

/* The first row whose word is `text`; NULL if there is none. `rows` is an array of structs whose
 * first member is `struct str word`. */
#define words_row(text, rows)                                                              \
    ((const __typeof__((rows)[0]) *)words__row((text), &(rows)[0].word, sizeof((rows)[0]), \
                                               ARRAY_LEN(rows)))
const void *words__row(struct str text, const struct str *first, size_t row_bytes, size_t n);
