#include "api/words.h"

#include "base/banned.h"

size_t words_find(struct str text, const struct str *words, size_t n)
{
    size_t i = 0;
    while (i < n && !str_eq(text, words[i]))
        i++;
    return i;
}

int words_compare(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

const void *words__row(struct str text, const struct str *first, size_t row_bytes, size_t n)
{
    const char *row = (const char *)first;
    for (size_t i = 0; i < n; i++, row += row_bytes)
        if (str_eq(text, *(const struct str *)(const void *)row))
            return row;
    return NULL;
}
