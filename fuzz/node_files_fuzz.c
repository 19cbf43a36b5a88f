/* Files that the node agent reads: resolv.conf, and variables that containers wrote; and texts with
 * $(NAME) in them. A resolv.conf that was read holds no blank in any word; a text whose every name
 * is unknown loses nothing but one of two `$`; a value of a file is part of the file. The input is
 * read as each of them. */
#include <stdlib.h>

#include "node/pod/env_file.h"
#include "node/pod/expand.h"
#include "node/pod/pod_dns.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool good)
{
    if (!good)
        abort();
}

static void check_words(const struct value *list)
{
    value_each_item (it, list)
        must(str_find(value_str(it), ' ') < 0 && str_find(value_str(it), '\n') < 0);
}

static bool know_none(void *arg, struct str name, struct str *ret)
{
    (void)arg;
    (void)ret;
    must(str_find(name, ')') < 0);
    return false;
}

static bool know_all(void *arg, struct str name, struct str *ret)
{
    (void)arg;
    *ret = name;
    return true;
}

static void check_expand(struct arena *a, struct str text)
{
    struct str same = expand(a, text, know_none, NULL), less = expand(a, text, know_all, NULL);
    must(same.n <= text.n && less.n <= text.n);
    if (str_find(text, '$') < 0)
        must(str_eq(same, text) && str_eq(less, text));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct arena a;
    struct resolv_conf conf;
    struct str text = { (const char *)bytes, n }, value;
    arena_init(&a);
    struct err err = ERR_INIT(&a);
    if (resolv_conf_read(&a, text, &conf, &err) == 0) {
        check_words(&conf.servers);
        check_words(&conf.searches);
        check_words(&conf.options);
    }
    err_clear(&err);
    if (env_file_get(&a, text, STR("A"), &value, &err) == 0)
        must(value.n <= n);
    check_expand(&a, text);
    arena_done(&a);
    return 0;
}
