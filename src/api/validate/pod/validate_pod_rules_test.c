/* What older servers let into the store: such pods can still be changed, new ones are refused. */
#include "api/validate/suite_validate.h"

#define ONE "'containers':[{'name':'c','image':'c:1'}]"

static const char clean[] = "{" META ",'spec':{" ONE "}}";

#define PAGES                                                                                      \
    "'containers':[{'name':'c','image':'c:1','resources':{'limits':{'hugepages-2Mi':'3Mi','cpu':'" \
    "1'}}}]"

#define APART                                                                                    \
    "{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'z','" \
    "labelSelector':{'matchExpressions':[{'key':'a','operator':'In','values':['b c']}]}}]}}"

#define TOKEN "[{'name':'v','projected':{'sources':[{'serviceAccountToken':{'path':'../t'}}]}}]"

#define ORDER "[{'key':'a','operator':'Gt','value':'5'}]"

#define SPREAD                                                                                     \
    "[{'maxSkew':1,'topologyKey':'z','whenUnsatisfiable':'DoNotSchedule','labelSelector':{'"       \
    "matchLabels':{'a':'b'},'matchExpressions':[{'key':'c','operator':'In','values':['d']},{'key'" \
    ":'c','operator':'In','values':['d']}]},'matchLabelKeys':['c']}]"

#define ADMIN "{'allowPrivilegeEscalation':false,'capabilities':{'add':['CAP_SYS_ADMIN']}}"

#define INITS                                                                            \
    "[{'name':'i','image':'i:1','resizePolicy':[{'resourceName':'cpu','restartPolicy':'" \
    "RestartContainer'}]}]"

/* New pods. */
static const struct suite_change new_pods[] = {
    { "spec", "{" PAGES "}",
      "spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: '3Mi': 3Mi is not "
      "positive integer multiple of hugepages-2Mi\n"
      "spec.containers[0].resources.requests[hugepages-2Mi]: Invalid value: '3Mi': 3Mi is not "
      "positive integer multiple of hugepages-2Mi" },
    { "spec/affinity", APART,
      "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
      "labelSelector.matchExpressions[0].values[0]: Invalid value: 'b c': " LABEL_VALUE },
    { "spec/tolerations", ORDER,
      "spec.tolerations[0].operator: Unsupported value: 'Gt': supported values: 'Equal', 'Exists', "
      "'Lt', 'Gt'" },
    { "spec/topologySpreadConstraints", SPREAD,
      "spec.topologySpreadConstraints[0][0]: Invalid value: 'c': exists in both matchLabelKeys and "
      "labelSelector" },
    { "spec/containers/0/securityContext", ADMIN,
      "spec.containers[0].securityContext: Invalid value: "
      "{'Capabilities':{'Add':['CAP_SYS_ADMIN'],'Drop':null},'Privileged':null,'SELinuxOptions':"
      "null,'WindowsOptions':null,'RunAsUser':null,'RunAsGroup':null,'RunAsNonRoot':null,'"
      "ReadOnlyRootFilesystem':null,'AllowPrivilegeEscalation':false,'ProcMount':null,'"
      "SeccompProfile':null,'AppArmorProfile':null}: cannot set `allowPrivilegeEscalation` to "
      "false and `capabilities.Add` CAP_SYS_ADMIN" },
    { "spec/initContainers", INITS,
      "spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: 'RestartContainer': "
      "must not be set to 'RestartContainer' for non-sidecar initContainers" },
    { "spec/volumes", "[{'name':'v','image':{}}]",
      "spec.volumes[0].image.reference: Required value" },
};

static const char old_pages[] = "{" META ",'spec':{" PAGES "}}";

static const struct suite_change pages_stay[] = {
    { "metadata/labels", "{'a':'b'}", NULL },
    { "spec/containers/0/image", "'c:2'", NULL },
};

static const char old_affinity[] = "{" META ",'spec':{" ONE ",'affinity':" APART "}}";

static const struct suite_change selectors_stay[] = {
    { "metadata/labels", "{'a':'b'}", NULL },
    { "spec/tolerations", ORDER,
      "spec.tolerations[0].operator: Unsupported value: 'Gt': supported values: 'Equal', 'Exists', "
      "'Lt', 'Gt'" },
};

static const char old_token[] =
    "{" META ",'spec':{" ONE ",'serviceAccountName':'s','volumes':" TOKEN "}}";

static const struct suite_change token_paths_stay[] = {
    { "metadata/labels", "{'a':'b'}", NULL },
};

static const char old_order[] = "{" META ",'spec':{" ONE ",'tolerations':" ORDER "}}";

static const struct suite_change orders_stay[] = {
    { "metadata/labels", "{'a':'b'}", NULL },
    { "spec/tolerations",
      "[{'key':'a','operator':'Gt','value':'5'},{'key':'b','operator':'Lt','value':'05'}]",
      "spec.tolerations[1].value: Invalid value: '05': must be a valid decimal integer in "
      "canonical form" },
    { "spec/tolerations",
      "[{'key':'a','operator':'Gt','value':'5'},{'key':'b','operator':'Lt','value':'"
      "99999999999999999999'}]",
      "spec.tolerations[1].value: Invalid value: '99999999999999999999': strconv.ParseInt: parsing "
      "'99999999999999999999': value out of range" },
    { "spec/tolerations",
      "[{'key':'a','operator':'Gt','value':'5'},{'key':'b','operator':'Lt','value':'-3'}]", NULL },
};

static const char old_admin[] =
    "{" META ",'spec':{'containers':[{'name':'c','image':'c:1','securityContext':" ADMIN "}]}}";

static const struct suite_change capabilities_stay[] = {
    { "metadata/labels", "{'a':'b'}", NULL },
};

static const char old_inits[] = "{" META ",'spec':{" ONE ",'initContainers':" INITS "}}";

static const struct suite_change resize_policies_stay[] = {
    { "metadata/labels", "{'a':'b'}", NULL },
};

static const char old_image[] = "{" META ",'spec':{" ONE ",'volumes':[{'name':'v','image':{}}]}}";

static const struct suite_change images_stay[] = {
    { "metadata/labels", "{'a':'b'}", NULL },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("v1", "Pod", clean, new_pods),
        SUITE_UPDATES("v1", "Pod", old_pages, pages_stay),
        SUITE_UPDATES("v1", "Pod", old_affinity, selectors_stay),
        SUITE_UPDATES("v1", "Pod", old_token, token_paths_stay),
        SUITE_UPDATES("v1", "Pod", old_order, orders_stay),
        SUITE_UPDATES("v1", "Pod", old_admin, capabilities_stay),
        SUITE_UPDATES("v1", "Pod", old_inits, resize_policies_stay),
        SUITE_UPDATES("v1", "Pod", old_image, images_stay),
    };
    return SUITE_MAIN(tables);
}
