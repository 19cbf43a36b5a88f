/* Semantic versions, beside upstream. */
#include "base/idiom.h"
#include "cel/check_test.h"

/* Semantic versions: strict, normalised, compared. */
static void test_versions(void **state)
{
    (void)state;
    static const struct answer_case cases[] = {
        { "semver('1.2.3')", "1.2.3", 1 },
        { "semver('1.2.3-alpha.1+build.5')", "1.2.3-alpha.1+build.5", 3 },
        { "semver('0.0.0')", "0.0.0", 1 },
        { "semver('1.2')", "! No Major.Minor.Patch elements found", 1 },
        { "semver('1')", "! No Major.Minor.Patch elements found", 1 },
        { "semver('v1.2.3')", "! Invalid character(s) found in major number \"v1\"", 1 },
        { "semver('01.2.3')", "! Major number must not contain leading zeroes \"01\"", 1 },
        { "semver('1.02.3')", "! Minor number must not contain leading zeroes \"02\"", 1 },
        { "semver('1.2.03')", "! Patch number must not contain leading zeroes \"03\"", 1 },
        { "semver('1.2.3-')", "! Prerelease is empty", 1 },
        { "semver('1.2.3-01')",
          "! Numeric PreRelease version must not contain leading zeroes \"01\"", 1 },
        { "semver('1.2.3-a..b')", "! Prerelease is empty", 1 },
        { "semver('1.2.3-a_b')", "! Invalid character(s) found in prerelease \"a_b\"", 1 },
        { "semver('1.2.3+')", "! Build meta data is empty", 1 },
        { "semver('1.2.3+a..b')", "! Build meta data is empty", 1 },
        { "semver('1.2.3+01')", "1.2.3+01", 1 },
        { "semver('-1.2.3')", "! Invalid character(s) found in major number \"-1\"", 1 },
        { "semver('1.2.x')", "! Invalid character(s) found in patch number \"x\"", 1 },
        { "semver('1.2.3.4')", "! Invalid character(s) found in patch number \"3.4\"", 1 },
        { "semver('')", "! Version string empty" },
        { "semver(' 1.2.3')", "! Invalid character(s) found in major number \" 1\"", 1 },
        { "semver('99999999999999999999.0.0')",
          "! strconv.ParseUint: parsing \"99999999999999999999\": value out of range", 3 },
        { "semver('v1.2.3', true)", "1.2.3", 1 },
        { "semver('1.2', true)", "1.2.0", 1 },
        { "semver('1', true)", "1.0.0", 1 },
        { "semver('01.02.03', true)", "1.2.3", 1 },
        { "semver('v01.2-alpha', true)",
          "! short version cannot contain PreRelease/Build meta data", 2 },
        { "semver(' 1.2.3', true)", "! Invalid character(s) found in major number \"0 1\"", 1 },
        { "semver('1.2.3', false)", "1.2.3", 1 },
        { "semver('v1.2.3', false)", "! Invalid character(s) found in major number \"v1\"", 1 },
        { "semver('1.2.3.4', true)", "! Invalid character(s) found in patch number \"3.4\"", 1 },
        { "semver('1.2+b', true)", "! short version cannot contain PreRelease/Build meta data", 1 },
        { "semver('x', true)", "! Invalid character(s) found in major number \"x\"", 1 },
        { "isSemver('1.2.3')", "true", 1 },
        { "isSemver('1.2')", "false", 1 },
        { "isSemver('v1.2.3')", "false", 1 },
        { "isSemver('v1.2', true)", "true", 1 },
        { "isSemver('v1.2', false)", "false", 1 },
        { "isSemver('1.2.3-rc.1')", "true", 1 },
        { "isSemver('')", "false" },
        { "isSemver(s)", "false", 2 },
        { "semver('1.2.3').major()", "1", 2 },
        { "semver('1.2.3').minor()", "2", 2 },
        { "semver('1.2.3').patch()", "3", 2 },
        { "semver('1.2.3') == semver('1.2.3')", "true", 3 },
        { "semver('1.2.3') == semver('1.2.3+build')", "true", 4 },
        { "semver('1.2.3-a') == semver('1.2.3')", "false", 3 },
        { "semver('1.2.3').isLessThan(semver('1.2.4'))", "true", 3 },
        { "semver('1.2.3-a').isLessThan(semver('1.2.3'))", "true", 3 },
        { "semver('1.2.3-a').isLessThan(semver('1.2.3-b'))", "true", 3 },
        { "semver('1.2.3-1').isLessThan(semver('1.2.3-a'))", "true", 3 },
        { "semver('1.2.3-2').isLessThan(semver('1.2.3-10'))", "true", 3 },
        { "semver('1.2.3-a').isLessThan(semver('1.2.3-a.1'))", "true", 3 },
        { "semver('1.10.0').isGreaterThan(semver('1.9.0'))", "true", 3 },
        { "semver('2.0.0').isGreaterThan(semver('10.0.0'))", "false", 3 },
        { "semver('1.0.0').compareTo(semver('1.0.0'))", "0", 3 },
        { "semver('1.0.0').compareTo(semver('2.0.0'))", "-1", 3 },
        { "semver('1.0.0+a').compareTo(semver('1.0.0+b'))", "0", 3 },
        { "semver('1.0.0') < semver('2.0.0')",
          "! 1:17: found no matching overload for '_<_' applied to '(kubernetes.Semver, "
          "kubernetes.Semver)'" },
        { "semver(s)", "! No Major.Minor.Patch elements found", 2 },
        { "semver(1)", "! 1:7: found no matching overload for 'semver' applied to '(int)'" },
    };
    check_scene(cases, ARRAY_LEN(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE_TEST(test_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
