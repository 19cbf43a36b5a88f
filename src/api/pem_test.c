/* PEM blocks; broken ones above all. */
#include "api/pem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net/crypto/x509_data_test.h"
#include "base/idiom.h"

#define NL "\n"

/* The types of all blocks of a text, with their sizes. */
static void check_blocks(const char *text, const char *want)
{
    struct str rest = str_of(text);
    autobuf have = { 0 };
    autopem block = { 0 };
    while (pem_next(&rest, &block))
        buf_printf(&have, STR_FMT "%s %zu;", STR_ARG(block.type), block.has_headers ? "+" : "",
                   block.bytes.n);
    if (!str_eq(buf_str(&have), str_of(want)))
        fail_msg("%s\nwant: %s\nhave: " STR_FMT, text, want, STR_ARG(buf_str(&have)));
}

static void blocks_are_found(void **state)
{
    (void)state;
    check_blocks("", "");
    check_blocks("junk", "");
    check_blocks("-----BEGIN A-----\nAAAA\n-----END A-----\n", "A 3;");
    check_blocks("-----BEGIN A-----\nAAAA\n-----END A-----", "A 3;");
    check_blocks("-----BEGIN A-----\r\nAA\r\nAA\r\n-----END A-----\r\n", "A 3;");
    check_blocks("-----BEGIN A-----\n-----END A-----\n", "A 0;");
    check_blocks("words\n-----BEGIN A B-----\nAAAA\n-----END A B-----\nmore\n"
                 "-----BEGIN C-----\nAA==\n-----END C-----\n",
                 "A B 3;C 1;");
    check_blocks("-----BEGIN A-----\nK: v\nL: w\n\nAAAA\n-----END A-----\n", "A+ 3;");
    check_blocks(CA_PEM(NL) LEAF_PEM(NL), "CERTIFICATE 384;CERTIFICATE 307;");
}

static void broken_blocks_are_passed_over(void **state)
{
    (void)state;
    check_blocks("-----BEGIN A-----\nAAAA\n", "");
    check_blocks("-----BEGIN A-----\nAAAA\n-----END B-----\n", "");
    check_blocks("-----BEGIN A-----\nAAAA\n-----END A----\n", "");
    check_blocks("-----BEGIN A-----\nAAAA\n-----END A----- x\n", "");
    check_blocks("-----BEGIN A----\nAAAA\n-----END A-----\n", "");
    check_blocks("-----BEGIN A-----\nA*AA\n-----END A-----\n", "");
    check_blocks("-----BEGIN A-----\nAAA\n-----END A-----\n", "");
    check_blocks("x-----BEGIN A-----\nAAAA\n-----END A-----\n", "");
    check_blocks("-----BEGIN A-----\nAAAA-----END A-----\n", "");
    check_blocks("-----END A-----\n", "");
    check_blocks("-----BEGIN A-----\n-----BEGIN B-----\nAAAA\n-----END B-----\n", "B 3;");
    check_blocks("-----BEGIN A-----\nA\n-----END A-----\n-----BEGIN B-----\nAAAA\n"
                 "-----END B-----\n",
                 "B 3;");
}

/* Megabytes of beginnings end soon. */
static void many_beginnings_cost_little(void **state)
{
    (void)state;
    static const struct str starts[] = { STR("-----BEGIN A-----\n"), STR("-----BEGIN A:-----\n"),
                                         STR("-----END A-----\n"), STR("K: v\n") };
    for (size_t k = 0; k < ARRAY_LEN(starts); k++) {
        autobuf text = { 0 };
        autopem block = { 0 };
        while (text.n < 3 << 20)
            buf_str_add(&text, starts[k]);
        buf_str_add(&text, STR("-----END A-----\n"));
        struct str rest = buf_str(&text);
        while (pem_next(&rest, &block))
            ;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_found),
        cmocka_unit_test(broken_blocks_are_passed_over),
        cmocka_unit_test(many_beginnings_cost_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
