/* A file of static tokens: what is read has users with names of its own bytes, and no empty token
 * is anybody's. The input is the file. */
#include <stdlib.h>

#include "auth/token_file.h"
#include "base/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct str text = { (const char *)bytes, n };
    struct token_file *f = NULL;
    struct arena a;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    log_setup(LOG_TEXT, LOG_ERROR, 2);
    int r = token_file_read(text, STR("file"), &f, &err);
    must(r == 0 || (r == -ERR_INVALID && err.msg.n));
    if (r == 0) {
        struct str rest = text, first = str_cut(&rest, ',');
        const struct user *u = token_file_user(f, first);
        must(!token_file_user(f, STR("")));
        must(!u || (u->n_groups > 0 && user_is_in(u, USER_AUTHENTICATED)));
    }
    token_file_free(f);
    arena_done(&a);
    return 0;
}
