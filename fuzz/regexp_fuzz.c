/* A pattern, a newline and a text: whatever matches is found inside the text, at a boundary of
 * characters, and both functions agree. */
#include <assert.h>

#include "base/regexp.h"
#include "base/utf8.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    struct str text = { (const char *)data, n }, pattern = str_cut(&text, '\n');
    struct regexp *re;
    size_t start, end;
    if (utf8_valid(text) && regexp_compile(&a, pattern, &re, &err) == 0) {
        bool found = regexp_find(re, text, 0, NULL, &start, &end);
        assert(found == regexp_match(re, text, NULL));
        assert(!found || (start <= end && end <= text.n));
        assert(!found || utf8_valid(str_take(str_skip(text, start), end - start)));
    }
    arena_done(&a);
    return 0;
}
