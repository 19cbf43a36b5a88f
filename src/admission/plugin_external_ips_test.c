/* Addresses that come from outside: none new, those that are there may stay. */
#include "admission/suite_admission.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define SERVICE(ips) "{'metadata':{'name':'s'},'spec':{'externalIPs':" ips "}}"
#define WHY          FORBIDDEN("services \"s\"") "Use of external IPs is denied by admission control"

static const struct suite_row rows[] = {
    { "", "services", SERVICE("['192.0.2.1']"), NULL, NULL, WHY },
    { "", "services", SERVICE("[]"), NULL, NULL, NULL },
    { "", "services", "{'metadata':{'name':'s'},'spec':{}}", NULL, NULL, NULL },
    { "", "services", SERVICE("['192.0.2.1']"), SERVICE("['192.0.2.2','192.0.2.1']"), NULL, NULL },
    { "", "services", SERVICE("['192.0.2.1','192.0.2.3']"), SERVICE("['192.0.2.1']"), NULL, WHY },
    { "", "services", SERVICE("['192.0.2.1']"), "{'metadata':{'name':'s'}}", NULL, NULL, "status" },
};

/* CVE-2020-8554 */
static void denied_when_asked_for(void **state)
{
    (void)state;
    struct suite s = { 0 };
    assert_int_equal(admission_choose(&s.choice, STR("DenyServiceExternalIPs"), true, NULL), 0);
    SUITE_CHECK(&s, rows);
}

static void allowed_else(void **state)
{
    (void)state;
    const struct suite s = { 0 };
    const struct suite_row row = { "", "services", SERVICE("['192.0.2.1']"), NULL, NULL, NULL };
    suite_check(&s, &row, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(denied_when_asked_for),
        cmocka_unit_test(allowed_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
