/* What may change of a pod: by an update, through /ephemeralcontainers, through /resize. */
#include "api/validate/suite_validate.h"

/* ---- Updates ---- */

static const char running_pod[] =
    "{" META ",'spec':{'activeDeadlineSeconds':10,'tolerations':[{'key':'a','operator':'Exists','"
    "effect':'NoExecute','tolerationSeconds':5}],'initContainers':[{'name':'i','image':'i:"
    "1'}],'containers':[{'name':'c','image':'c:1'}]}}";

static const struct suite_change updates[] = {
    { "spec/containers/0/image", "'c:2'", NULL },
    { "spec/containers/0/image", "' c:2'",
      "spec.containers[0].image: Invalid value: ' c:2': must not have leading or trailing "
      "whitespace" },
    { "spec/containers", "[{'name':'c','image':'c:1'},{'name':'d','image':'d:1'}]",
      "spec.containers: Forbidden: pod updates may not add or remove containers" },
    { "spec/initContainers", NULL,
      "spec.initContainers: Forbidden: pod updates may not add or remove containers" },
    { "spec/activeDeadlineSeconds", "5", NULL },
    { "spec/activeDeadlineSeconds", "11",
      "spec.activeDeadlineSeconds: Invalid value: 11: must be less than or equal to previous "
      "value" },
    { "spec/activeDeadlineSeconds", "-1",
      "spec.activeDeadlineSeconds: Invalid value: -1: must be between 1 and 2147483647, inclusive\n"
      "spec.activeDeadlineSeconds: Invalid value: -1: must be between 0 and 2147483647, "
      "inclusive" },
    { "spec/activeDeadlineSeconds", NULL,
      "spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to "
      "nil value" },
    { "spec/tolerations/0/tolerationSeconds", "6", NULL },
    { "spec/tolerations/0/key", "'b'",
      "spec.tolerations: Forbidden: existing toleration can not be modified except its "
      "tolerationSeconds" },
    { "spec/tolerations", NULL,
      "spec.tolerations: Forbidden: existing toleration can not be modified except its "
      "tolerationSeconds" },
    { "spec/tolerations",
      "[{'key':'b','operator':'Exists'},{'key':'a','operator':'Exists','effect':'NoExecute'}]",
      NULL },
    { "spec/schedulingGates", "[{'name':'g'}]",
      "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling "
      "gate 'g'" },
};

/* ---- Pods that wait ---- */

static const char gated_pod[] =
    "{" META ",'spec':{'schedulingGates':[{'name':'g'},{'name':'h'}],'nodeSelector':{'a':'b'},'"
    "affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'"
    "nodeSelectorTerms':[{'matchExpressions':[{'key':'a','operator':'Exists'}]}]}}},'"
    "containers':[{'name':'c','image':'c:1'}]}}";

#define TERMS(terms)                                                                          \
    "{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':" \
    "[" terms "]}}}"

static const struct suite_change gated[] = {
    { "spec/schedulingGates", "[{'name':'h'}]", NULL },
    { "spec/schedulingGates", NULL, NULL },
    { "spec/schedulingGates", "[{'name':'g'},{'name':'x'}]",
      "spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling "
      "gate 'x'" },
    { "spec/nodeSelector", "{'a':'b','c':'d'}", NULL },
    { "spec/nodeSelector", "{'a':'c'}",
      "spec.nodeSelector: Invalid value: {'a':'c'}: only additions to spec.nodeSelector are "
      "allowed (no mutations or deletions)" },
    { "spec/nodeSelector", NULL,
      "spec.nodeSelector: Invalid value: null: only additions to spec.nodeSelector are allowed (no "
      "mutations or deletions)" },
    { "spec/affinity",
      TERMS(
          "{'matchExpressions':[{'key':'a','operator':'Exists'},{'key':'b','operator':'Exists'}]}"),
      NULL },
    { "spec/affinity", TERMS("{'matchExpressions':[{'key':'b','operator':'Exists'}]}"),
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms["
      "0]: Invalid value: "
      "{'MatchExpressions':[{'Key':'b','Operator':'Exists','Values':null}],'MatchFields':null}: "
      "only additions are allowed (no mutations or deletions)" },
    { "spec/affinity",
      TERMS("{'matchExpressions':[{'key':'a','operator':'Exists'}]},{'matchExpressions':[{'key':'b'"
            ",'operator':'Exists'}]}"),
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms:"
      " Invalid value: "
      "[{'MatchExpressions':[{'Key':'a','Operator':'Exists','Values':null}],'MatchFields':null},{'"
      "MatchExpressions':[{'Key':'b','Operator':'Exists','Values':null}],'MatchFields':null}]: no "
      "additions/deletions to non-empty NodeSelectorTerms list are allowed" },
};

static const char ungated_pod[] =
    "{" META
    ",'spec':{'schedulingGates':[{'name':'g'}],'containers':[{'name':'c','image':'c:1'}]}}";

static const struct suite_change gated_without_affinity[] = {
    { "spec/affinity", TERMS("{'matchExpressions':[{'key':'a','operator':'Exists'}]}"), NULL },
};

/* ---- Annotations that stay ---- */

static const char mirrored_pod[] =
    "{'metadata':{'name':'a','namespace':'n','uid':'u','resourceVersion':'1','annotations':{'"
    "kubernetes.io/"
    "config.mirror':'x'}},'spec':{'nodeName':'n','containers':[{'name':'c','image':'c:1'}]}}";

static const struct suite_change mirrors[] = {
    { "metadata/annotations/kubernetes.io|config.mirror", "'y'",
      "metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not remove or update "
      "mirror pod annotation" },
    { "metadata/annotations", NULL,
      "metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not remove or update "
      "mirror pod annotation" },
    { "metadata/annotations/other", "'y'", NULL },
};

/* ---- Ephemeral containers ---- */

static const char looked_at_pod[] = "{" META ",'spec':{'containers':[{'name':'c','image':'c:1'}],'"
                                    "ephemeralContainers':[{'name':'e','image':'e:1'}]}}";

static const struct suite_change ephemeral[] = {
    { "spec/ephemeralContainers", "[{'name':'e','image':'e:1'},{'name':'f','image':'f:1'}]", NULL },
    { "spec/ephemeralContainers", "[{'name':'f','image':'f:1'}]",
      "spec.ephemeralContainers: Forbidden: existing ephemeral containers 'e' may not be "
      "removed\n" },
    { "spec/ephemeralContainers", NULL,
      "spec.ephemeralContainers: Forbidden: existing ephemeral containers 'e' may not be "
      "removed\n" },
    { "spec/ephemeralContainers/0/image", "''",
      "spec.ephemeralContainers[0].image: Required value\n"
      "spec.ephemeralContainers: Forbidden: existing ephemeral containers 'e' may not be changed\n"
      "@@ -1,6 +1,6 @@\n"
      " {\n"
      "  'Name': 'e',\n"
      "- 'Image': 'e:1',\n"
      "+ 'Image': '',\n"
      "  'Command': null,\n"
      "  'Args': null,\n"
      "  'WorkingDir': '',\n" },
};

/* ---- Sizes ---- */

static const char sized_pod[] =
    "{" META ",'spec':{'initContainers':[{'name':'i','image':'i:1','resources':{'requests':{'cpu':'"
    "1'}},'resizePolicy':[{'resourceName':'cpu','restartPolicy':'NotRequired'}]},{'name':'"
    "s','image':'s:1','restartPolicy':'Always','resources':{'requests':{'cpu':'1'}}}],'"
    "containers':[{'name':'c','image':'c:1','resources':{'requests':{'cpu':'1','memory':'"
    "1Gi'},'limits':{'memory':'2Gi'}}}]},'status':{'qosClass':'Burstable'}}";

static const struct suite_change sizes[] = {
    { "spec/containers/0/resources/requests/memory", "'512Mi'", NULL },
    { "spec/containers/0/resources/limits/cpu", "'2'", NULL },
    { "spec/containers/0/resources/requests", "{'cpu':'1'}", NULL },
    { "spec/containers/0/resources/requests/example.com|gpu", "'1'",
      "spec.containers[0].resources.limits: Required value: Limit must be set for non "
      "overcommitable resources\n"
      "spec: Forbidden: only cpu and memory resources are mutable" },
    { "spec/containers/0/image", "'c:2'",
      "spec: Forbidden: only cpu and memory resources are mutable" },
    { "spec/initContainers/1/resources/requests/cpu", "'2'", NULL },
    { "spec/initContainers/0/resources/requests/cpu", "'2'", NULL },
    { "spec/initContainers/0/image", "'i:2'",
      "spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar "
      "containers are mutable" },
    { "spec/initContainers", NULL,
      "spec.initContainers: Forbidden: initContainers may not be added or removed on resize" },
    { "spec/initContainers/0/name", "'j'",
      "spec.initContainers[0].name: Forbidden: initContainers may not be renamed or reordered on "
      "resize" },
    { "spec/volumes", "[{'name':'v','emptyDir':{}}]",
      "spec.volumes: Forbidden: volumes are immutable on resize when "
      "InPlacePodVerticalScalingMemoryBackedVolumes feature gate is disabled" },
    { "spec/tolerations", "[{'key':'a','operator':'Exists'}]",
      "spec: Forbidden: only cpu and memory resources are mutable" },
};

static const char pod_sized_pod[] =
    "{" META ",'spec':{'resources':{'requests':{'cpu':'1'},'limits':{'cpu':'2'}},'containers':[{'"
    "name':'c','image':'c:1'}]},'status':{'qosClass':'Burstable'}}";

static const struct suite_change pod_sizes[] = {
    { "spec/resources/requests/cpu", "'1500m'", NULL },
    { "spec/resources/requests", "{'memory':'1Gi'}",
      "spec.resources.requests: Forbidden: pod-level resource requests cannot be removed" },
    { "spec/resources", "{'requests':{'cpu':'1'}}",
      "spec.resources.limits: Forbidden: pod-level resource limits cannot be removed" },
    { "spec/resources", NULL,
      "spec: Invalid value: 'Burstable': Pod QOS Class may not change as a result of resizing\n"
      "spec.resources: Forbidden: pod-level resources cannot be removed" },
    { "spec/resources/limits/hugepages-2Mi", "'2Mi'",
      "spec: Forbidden: only cpu and memory resources are mutable at pod-level" },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_UPDATES("v1", "Pod", running_pod, updates),
        SUITE_UPDATES("v1", "Pod", gated_pod, gated),
        SUITE_UPDATES("v1", "Pod", ungated_pod, gated_without_affinity),
        SUITE_UPDATES("v1", "Pod", mirrored_pod, mirrors),
        SUITE_UPDATES_SUB("v1", "Pod", "ephemeralcontainers", looked_at_pod, ephemeral),
        SUITE_UPDATES_SUB("v1", "Pod", "resize", sized_pod, sizes),
        SUITE_UPDATES_SUB("v1", "Pod", "resize", pod_sized_pod, pod_sizes),
    };
    return SUITE_MAIN(tables);
}
