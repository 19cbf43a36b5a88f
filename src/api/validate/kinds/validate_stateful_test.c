/* StatefulSets: their updates, claims and statuses. */
#include "api/validate/suite_validate.h"

#define SET(more)                                                                                  \
    "'spec':{" more                                                                                \
    "'serviceName':'s','selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':{'a'" \
    ":'b'}},'spec':{'containers':[{'name':'c','image':'c:1'}]}}}"

static const char set[] =
    "{" META "," SET("'volumeClaimTemplates':[{'metadata':{'name':'d'},'spec':{'accessModes':['"
                     "ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}],") "}";

static const struct suite_change sets[] = {
    { "spec/replicas", "-1",
      "spec.replicas: Invalid value: -1: must be greater than or equal to 0" },
    { "spec/minReadySeconds", "-1",
      "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0" },
    { "spec/revisionHistoryLimit", "-1", NULL },
    { "spec/ordinals", "{'start':-1}",
      "spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0" },
    { "spec/ordinals", "{'start':5}", NULL },
    { "spec/podManagementPolicy", "'Parallel'", NULL },
    { "spec/updateStrategy", "{'type':'OnDelete','rollingUpdate':{'partition':1}}",
      "spec.updateStrategy.rollingUpdate: Invalid value: {'Partition':1,'MaxUnavailable':null}: "
      "only allowed for updateStrategy 'RollingUpdate'" },
    { "spec/updateStrategy", "{'type':'RollingUpdate','rollingUpdate':{'partition':-1}}",
      "spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or "
      "equal to 0" },
    { "spec/updateStrategy", "{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':0}}",
      "spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: 0: cannot be 0" },
    { "spec/updateStrategy", "{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':'101%'}}",
      "spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: '101%': must not be "
      "greater than 100%" },
    { "spec/updateStrategy", "{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':'half'}}",
      "spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: 'half': a valid percent "
      "string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used "
      "for validation is '[0-9]+%')\n"
      "spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: 'half': cannot be 0" },
    { "spec/persistentVolumeClaimRetentionPolicy", "{'whenDeleted':'Delete','whenScaled':'Odd'}",
      "spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: 'Odd': supported "
      "values: 'Retain', 'Delete'" },
    { "spec/selector", "{}",
      "spec.selector: Invalid value: {}: empty selector is invalid for statefulset" },
    { "spec/selector", NULL,
      "spec.selector: Required value\n"
      "spec.template.metadata.labels: Invalid value: {'a':'b'}: `selector` does not match template "
      "`labels`" },
    { "spec/selector/matchLabels/a", "'c'",
      "spec.template.metadata.labels: Invalid value: {'a':'b'}: `selector` does not match template "
      "`labels`" },
    { "spec/template/spec/restartPolicy", "'OnFailure'",
      "spec.template.spec.restartPolicy: Unsupported value: 'OnFailure': supported values: "
      "'Always'" },
    { "spec/template/spec/activeDeadlineSeconds", "5",
      "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in StatefulSet "
      "is not Supported" },
    { "spec/template/spec/volumes", "[{'name':'d','emptyDir':{}}]", NULL },
    { "spec/volumeClaimTemplates/0/spec/resources", "{}",
      "spec.volumeClaimTemplates[0].spec.resources[storage]: Required value" },
};

/* ---- Changes ---- */

static const struct suite_change changes[] = {
    { "spec/replicas", "2", NULL },
    { "spec/template/spec/containers/0/image", "'c:2'", NULL },
    { "spec/updateStrategy", "{'type':'OnDelete'}", NULL },
    { "spec/persistentVolumeClaimRetentionPolicy", "{'whenDeleted':'Delete','whenScaled':'Delete'}",
      NULL },
    { "spec/minReadySeconds", "3", NULL },
    { "spec/ordinals", "{'start':1}", NULL },
    { "spec/selector", "{'matchLabels':{'a':'b','c':'d'}}",
      "spec.template.metadata.labels: Invalid value: {'a':'b'}: `selector` does not match template "
      "`labels`\n"
      "spec.selector: Invalid value: {'matchLabels':{'a':'b','c':'d'}}: field is immutable" },
    { "spec/volumeClaimTemplates", NULL,
      "spec.volumeClaimTemplates: Invalid value: null: field is immutable" },
    { "spec/revisionHistoryLimit", "3", NULL },
};

/* ---- Statuses ---- */

static const struct suite_change statuses[] = {
    { "status",
      "{'replicas':3,'readyReplicas':2,'availableReplicas':1,'currentReplicas':1,'updatedReplicas':"
      "1}",
      NULL },
    { "status", "{'replicas':-1}",
      "status.replicas: Invalid value: -1: must be greater than or equal to 0\n"
      "status.readyReplicas: Invalid value: 0: cannot be greater than status.replicas\n"
      "status.currentReplicas: Invalid value: 0: cannot be greater than status.replicas\n"
      "status.updatedReplicas: Invalid value: 0: cannot be greater than status.replicas\n"
      "status.availableReplicas: Invalid value: 0: cannot be greater than status.replicas" },
    { "status", "{'replicas':1,'readyReplicas':2}",
      "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas" },
    { "status", "{'replicas':2,'readyReplicas':1,'availableReplicas':2}",
      "status.availableReplicas: Invalid value: 2: cannot be greater than status.readyReplicas" },
    { "status", "{'replicas':1,'currentReplicas':2,'updatedReplicas':2}",
      "status.currentReplicas: Invalid value: 2: cannot be greater than status.replicas\n"
      "status.updatedReplicas: Invalid value: 2: cannot be greater than status.replicas" },
    { "status", "{'replicas':1,'observedGeneration':-1,'collisionCount':-1}",
      "status.observedGeneration: Invalid value: -1: must be greater than or equal to 0\n"
      "status.collisionCount: Invalid value: -1: must be greater than or equal to 0" },
};

static const char collided_set[] =
    "{" META "," SET("") ",'status':{'replicas':1,'collisionCount':2}}";

static const struct suite_change collisions[] = {
    { "status/collisionCount", "1",
      "status.collisionCount: Invalid value: 1: cannot be decremented" },
    { "status/collisionCount", "3", NULL },
    { "status/collisionCount", NULL,
      "status.collisionCount: Invalid value: 0: cannot be decremented" },
};

/* ---- Warnings ---- */

static const struct suite_change warnings[] = {
    { "spec/volumeClaimTemplates/0/spec/resources/requests/storage", "'1500m'",
      "spec.volumeClaimTemplates[0].resources.requests[storage]: fractional byte value '1500m' is "
      "invalid, must be an integer" },
    { "spec/revisionHistoryLimit", "-1",
      "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 "
      "is recommended" },
    { "spec/template/spec/nodeSelector", "{'beta.kubernetes.io/os':'linux'}",
      "spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "
      "'kubernetes.io/os' instead" },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("apps/v1", "StatefulSet", set, sets),
        SUITE_UPDATES("apps/v1", "StatefulSet", set, changes),
        SUITE_UPDATES_SUB("apps/v1", "StatefulSet", "status", set, statuses),
        SUITE_UPDATES_SUB("apps/v1", "StatefulSet", "status", collided_set, collisions),
        SUITE_WARNS("apps/v1", "StatefulSet", set, warnings),
    };
    return SUITE_MAIN(tables);
}
