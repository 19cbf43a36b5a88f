/* Paths that lead to a node or a container: what is asked for is checked before anybody is dialled.
 * How it is passed on is in kubelet_test.sh. */
#include "script.h"

static struct script script;

#define PODS SCRIPT_DEFAULT "/pods"

static void logs(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        SCRIPT_POST(PODS, "{metadata: {name: one}, spec: {containers: [{name: c, image: i}]}}", 201,
                    NULL),
        /* It runs nowhere, and has said nothing. */
        SCRIPT_GET(PODS "/one/log", 204, NULL),
        SCRIPT_GET(PODS "/none/log", 404, "pods \\\"none\\\" not found"),
        SCRIPT_GET(PODS "/one/log?container=zz", 400, "container zz is not valid for pod one"),
        SCRIPT_GET(PODS "/one/log?tailLines=-1", 422,
                   "tailLines: Invalid value: -1: must be greater than or equal to 0"),
        SCRIPT_GET(PODS "/one/log?limitBytes=0", 422,
                   "limitBytes: Invalid value: 0: must be greater than 0"),
        SCRIPT_GET(PODS "/one/log?sinceSeconds=0", 422,
                   "sinceSeconds: Invalid value: 0: must be greater than 0"),
        SCRIPT_GET(PODS "/one/log?sinceSeconds=5&sinceTime=2020-01-02T03:04:05Z", 422,
                   "at most one of `sinceTime` or `sinceSeconds` may be specified"),
        SCRIPT_GET(PODS "/one/log?stream=Stdout", 422, "stream: Forbidden: may not be specified"),
        SCRIPT_GET(PODS "/one/log?tailLines=many", 400,
                   "strconv.ParseInt: parsing \\\"many\\\": invalid syntax"),
        SCRIPT_POST(
            PODS,
            "{metadata: {name: two}, spec: {nodeName: n1, initContainers: [{name: i, image: "
            "i}], containers: [{name: c, image: i}, {name: d, image: i}]}}",
            201, NULL),
        SCRIPT_GET(PODS "/two/log", 400,
                   "a container name must be specified for pod two, choose one of: [c d] or one of "
                   "the init containers: [i]"),
        SCRIPT_GET(PODS "/two/log?container=i", 404, "pods \\\"n1\\\" not found"),
        SCRIPT_GET(PODS "/two/log?container=d", 404, "pods \\\"n1\\\" not found"),
    };
    SCRIPT_PLAY(&script, steps);
}

static void streams_and_proxies(void **state)
{
    (void)state;
    static const struct script_step steps[] = {
        SCRIPT_POST(PODS "/one/exec?command=ls", NULL, 400,
                    "pod one does not have a host assigned"),
        SCRIPT_POST(PODS "/two/exec?command=ls", NULL, 400,
                    "a container name must be specified for pod two, choose one of: [c d]"),
        SCRIPT_POST(PODS "/two/exec?command=ls&container=x", NULL, 400,
                    "container x is not valid for pod two"),
        SCRIPT_POST(PODS "/two/exec?command=ls&container=c", NULL, 404,
                    "pods \\\"n1\\\" not found"),
        SCRIPT_POST(PODS "/two/attach?container=d", NULL, 404, "pods \\\"n1\\\" not found"),
        SCRIPT_POST(PODS "/two/portforward", NULL, 404, "pods \\\"n1\\\" not found"),
        SCRIPT_GET(PODS "/two/proxy", 400, "address not allowed"),
        { "PATCH", PODS "/two/status", "application/merge-patch+json", NULL,
          "{\"status\":{\"podIP\":\"198.19.2.3\",\"podIPs\":[{\"ip\":\"198.19.2.3\"}]}}", 200,
          "198.19.2.3", NULL },
        SCRIPT_GET(PODS "/two/proxy", 301, NULL),
        /* A name may have a scheme before it and a port behind it. */
        SCRIPT_GET(PODS "/https:two:8443/proxy/path", 503, "connect: no route to host"),
        SCRIPT_GET(PODS "/two:8080/proxy/", 503, "connect: no route to host"),
        SCRIPT_GET(PODS "/https:none:8443/proxy", 404, "pods \\\"none\\\" not found"),
        SCRIPT_POST(PODS "/none/exec?command=ls", NULL, 404, "pods \\\"none\\\" not found"),
    };
    SCRIPT_PLAY(&script, steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs),
        cmocka_unit_test(streams_and_proxies),
    };
    script_start(&script);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    script_stop(&script);
    return failed;
}
