/* Fields of features that are off: an object keeps what it has, and gets nothing new. */
#include "server/registry/suite_strategy.h"

#define META        "'metadata':{'name':'p','generation':1}"
#define PENDING     "'status':{'phase':'Pending','qosClass':'BestEffort'}"
#define POD(spec)   "{" META ",'spec':{" spec "}}"
#define MADE(spec)  "{" META ",'spec':{" spec "}," PENDING "}"
#define HANGUP      "'lifecycle':{'stopSignal':'SIGHUP'}"
#define STOP        "'lifecycle':{'preStop':{'sleep':{'seconds':1}}"
#define PROBE(more) "'containers':[{'name':'a','livenessProbe':{'httpGet':{'port':1" more "}}}]"

static void new_objects(void **state)
{
    static const struct suite_row rows[] = {
        /* A struct that is empty then is left, but for this one. */
        { "", "pods", NULL, NULL, POD("'containers':[{'name':'a'," HANGUP "}]"),
          MADE("'containers':[{'name':'a'}]") },
        { "", "pods", NULL, NULL,
          POD("'containers':[{'name':'a'," STOP ",'stopSignal':'SIGHUP'}}]"),
          MADE("'containers':[{'name':'a'," STOP "}}]") },
        { "", "pods", NULL, NULL, POD("'containers':[{'name':'a','lifecycle':{}}]"),
          MADE("'containers':[{'name':'a','lifecycle':{}}]") },
        { "", "pods", NULL, NULL, POD("'initContainers':[{'name':'a'," HANGUP "}]"),
          MADE("'initContainers':[{'name':'a'}]") },
        { "", "pods", NULL, NULL, POD("'volumes':[{'name':'v','emptyDir':{'mode':448}}]"),
          MADE("'volumes':[{'name':'v','emptyDir':{}}]") },
        { "", "pods", NULL, NULL, POD(PROBE(",'protocol':'H2C'")), MADE(PROBE("")) },
        { "", "pods", NULL, NULL, POD("'schedulingGroup':{}"), MADE("") },
        /* Templates are pods to be. */
        { "apps", "deployments", NULL, NULL,
          "{" META ",'spec':{'template':{'spec':{'containers':[{'name':'a'," HANGUP "}]}}}}",
          "{" META ",'spec':{'template':{'spec':{'containers':[{'name':'a'}]}}}}" },
        { "coordination.k8s.io", "leases", NULL, NULL,
          "{'metadata':{'name':'l'},'spec':{'holderIdentity':'h','preferredHolder':'i'}}",
          "{'metadata':{'name':'l'},'spec':{'holderIdentity':'h'}}" },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

static void changed_objects(void **state)
{
    static const struct suite_row rows[] = {
        /* Whoever uses a feature may use it more. */
        { "", "pods", "", POD("'containers':[{'name':'a'," HANGUP "},{'name':'b'}]"),
          POD("'containers':[{'name':'a'},{'name':'b'," HANGUP "}]"),
          "{'metadata':{'name':'p','generation':2},'spec':{'containers':[{'name':'a'},{'name':'b'"
          "," HANGUP "}]}}" },
        { "", "pods", "", POD("'containers':[{'name':'a'}]"),
          POD("'containers':[{'name':'a'," HANGUP "}]"), POD("'containers':[{'name':'a'}]") },
        /* Each feature for itself. */
        { "", "pods", "", POD("'containers':[{'name':'a'," HANGUP "}]"),
          POD("'containers':[{'name':'a'," HANGUP "}],'schedulingGroup':{}"),
          POD("'containers':[{'name':'a'," HANGUP "}]") },
        { "", "pods", "ephemeralcontainers", POD("'containers':[{'name':'a'}]"),
          POD("'ephemeralContainers':[{'name':'d'," HANGUP "}]"),
          "{'metadata':{'name':'p','generation':2},'spec':{'containers':[{'name':'a'}],"
          "'ephemeralContainers':[{'name':'d'}]}}" },
        { "", "pods", "status", "{" META ",'status':{}}",
          "{" META ",'status':{'containerStatuses':[{'name':'a','stopSignal':'SIGHUP'}]}}",
          "{" META ",'status':{'containerStatuses':[{'name':'a'}]}}" },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_objects),
        cmocka_unit_test(changed_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
