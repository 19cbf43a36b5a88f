#include "server/registry/suite_strategy.h"

static void volumes(void **state)
{
    static const struct suite_row rows[] = {
        { "", "persistentvolumes", NULL, NULL,
          "{'metadata':{'name':'n'},'spec':{},'status':{'phase':'Bound'}}",
          "{'metadata':{'name':'n'},'spec':{},'status':{'phase':'Pending',"
          "'lastPhaseTransitionTime':'2030-01-02T03:04:05Z'}}" },
        { "", "persistentvolumes", "status",
          "{'metadata':{'name':'n'},'spec':{},'status':{'phase':'Pending',"
          "'lastPhaseTransitionTime':'2020-01-02T03:04:05Z'}}",
          "{'metadata':{'name':'n'},'spec':{},'status':{'phase':'Bound'}}",
          "{'metadata':{'name':'n'},'spec':{},'status':{'phase':'Bound',"
          "'lastPhaseTransitionTime':'2030-01-02T03:04:05Z'}}" },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

static void claims(void **state)
{
    static const struct suite_row rows[] = {
        { "", "persistentvolumeclaims", NULL, NULL,
          "{'metadata':{'name':'n'},'spec':{'dataSource':{'kind':'PersistentVolumeClaim','name':"
          "'x'}}}",
          "{'metadata':{'name':'n'},'spec':{'dataSource':{'kind':'PersistentVolumeClaim','name':"
          "'x'},'dataSourceRef':{'kind':'PersistentVolumeClaim','name':'x'}},'status':{'phase':"
          "'Pending'}}" },
        { "", "persistentvolumeclaims", NULL, NULL,
          "{'metadata':{'name':'n'},'spec':{'dataSource':{'kind':'Other','name':'x'}}}",
          "{'metadata':{'name':'n'},'spec':{},'status':{'phase':'Pending'}}" },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

#define VOLUME(status) "{'metadata':{'name':'n'},'spec':{},'status':{" status "}}"
#define SINCE(year)    "'lastPhaseTransitionTime':'" year "-01-02T03:04:05Z'"

static void phases_of_volumes(void **state)
{
    static const struct suite_row rows[] = {
        { "", "persistentvolumes", "status", VOLUME("'phase':'Bound'," SINCE("2020")),
          VOLUME("'phase':'Bound','message':'m'"),
          VOLUME("'phase':'Bound','message':'m'," SINCE("2020")) },
        { "", "persistentvolumes", "status", VOLUME("'phase':'Bound'," SINCE("2020")),
          VOLUME("'phase':'Bound'," SINCE("2021")), VOLUME("'phase':'Bound'," SINCE("2021")) },
        { "", "persistentvolumes", "status", VOLUME("'phase':'Bound'," SINCE("2020")),
          VOLUME("'phase':'Released'," SINCE("2020")),
          VOLUME("'phase':'Released'," SINCE("2030")) },
        { "", "persistentvolumes", "status", VOLUME("'phase':'Bound'," SINCE("2020")),
          VOLUME("'phase':'Released'," SINCE("2021")),
          VOLUME("'phase':'Released'," SINCE("2021")) },
        { "", "persistentvolumes", "", VOLUME("'phase':'Bound'"), VOLUME("'phase':'Failed'"),
          VOLUME("'phase':'Bound'") },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

#define CLAIM(spec, phase) "{'metadata':{'name':'n'},'spec':{" spec "}" phase "}"
#define NEW                ",'status':{'phase':'Pending'}"
#define SNAPSHOT           "{'apiGroup':'snapshot.storage.k8s.io','kind':'VolumeSnapshot','name':'x'}"
#define OTHER              "{'apiGroup':'example.com','kind':'Any','name':'x'}"
#define FOREIGN            "{'kind':'PersistentVolumeClaim','name':'x','namespace':'y'}"

static void sources_of_claims(void **state)
{
    static const struct suite_row rows[] = {
        { "", "persistentvolumeclaims", NULL, NULL, CLAIM("'dataSource':" SNAPSHOT, ""),
          CLAIM("'dataSource':" SNAPSHOT ",'dataSourceRef':" SNAPSHOT, NEW) },
        { "", "persistentvolumeclaims", NULL, NULL, CLAIM("'dataSourceRef':" OTHER, ""),
          CLAIM("'dataSource':" OTHER ",'dataSourceRef':" OTHER, NEW) },
        { "", "persistentvolumeclaims", NULL, NULL, CLAIM("'dataSource':" OTHER, ""),
          CLAIM("", NEW) },
        /* From another namespace: a feature that is off. */
        { "", "persistentvolumeclaims", NULL, NULL, CLAIM("'dataSourceRef':" FOREIGN, ""),
          CLAIM("", NEW) },
        { "", "persistentvolumeclaims", "", CLAIM("'dataSourceRef':" FOREIGN, ""),
          CLAIM("'dataSourceRef':" FOREIGN, ""), CLAIM("'dataSourceRef':" FOREIGN, "") },
        /* Two that differ are for validation. */
        { "", "persistentvolumeclaims", NULL, NULL,
          CLAIM("'dataSource':" SNAPSHOT ",'dataSourceRef':" OTHER, ""),
          CLAIM("'dataSource':" SNAPSHOT ",'dataSourceRef':" OTHER, NEW) },
        { "", "persistentvolumeclaims", "", CLAIM("", NEW),
          CLAIM("", ",'status':{'phase':'Bound'}"), CLAIM("", NEW) },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volumes),
        cmocka_unit_test(claims),
        cmocka_unit_test(phases_of_volumes),
        cmocka_unit_test(sources_of_claims),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
