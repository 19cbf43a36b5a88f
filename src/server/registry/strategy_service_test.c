#include "server/registry/suite_strategy.h"

static void services(void **state)
{
    static const struct suite_row rows[] = {
        { "", "services", NULL, NULL,
          "{'metadata':{'name':'n'},'spec':{'type':'ExternalName','internalTrafficPolicy':"
          "'Cluster'}}",
          "{'metadata':{'name':'n'},'spec':{'type':'ExternalName'}}" },
        { "", "services", "",
          "{'metadata':{'name':'n'},'spec':{'type':'LoadBalancer','clusterIP':'10.0.0.9',"
          "'clusterIPs':['10.0.0.9'],'ports':[{'port':80,'nodePort':30001}],"
          "'externalTrafficPolicy':'Local','healthCheckNodePort':30002,'loadBalancerClass':'a/b'},"
          "'status':{'loadBalancer':{'ingress':[{'ip':'1.2.3.4'}]}}}",
          "{'metadata':{'name':'n'},'spec':{'type':'ClusterIP','clusterIP':'10.0.0.9',"
          "'clusterIPs':['10.0.0.9'],'ports':[{'port':80,'nodePort':30001}],"
          "'externalTrafficPolicy':'Local','healthCheckNodePort':30002,'loadBalancerClass':"
          "'a/b'}}",
          "{'metadata':{'name':'n'},'spec':{'type':'ClusterIP','clusterIP':'10.0.0.9',"
          "'clusterIPs':['10.0.0.9'],'ports':[{'port':80}]},'status':{'loadBalancer':{}}}" },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

#define SERVICE(spec) "{'metadata':{'name':'n'},'spec':{" spec "}"
#define NO_BALANCER   ",'status':{'loadBalancer':{}}}"
#define NAMED         "'type':'ExternalName','externalName':'x'"
#define IPS           "'clusterIP':'10.0.0.9','clusterIPs':['10.0.0.9']"
#define FAMILY        "'ipFamilies':['IPv4'],'ipFamilyPolicy':'SingleStack'"

static void types_change(void **state)
{
    static const struct suite_row rows[] = {
        /* Whoever sends back what it got gives addresses up with the type. */
        { "", "services", "", SERVICE("'type':'ClusterIP'," IPS "," FAMILY) "}",
          SERVICE(NAMED "," IPS "," FAMILY ",'internalTrafficPolicy':'Cluster'") "}",
          SERVICE(NAMED) NO_BALANCER },
        /* What it has changed is not quietly dropped. */
        { "", "services", "", SERVICE("'type':'ClusterIP'," IPS) "}",
          SERVICE(NAMED ",'clusterIP':'10.0.0.8','clusterIPs':['10.0.0.8']") "}",
          SERVICE(NAMED ",'clusterIP':'10.0.0.8','clusterIPs':['10.0.0.8']") NO_BALANCER },
        { "", "services", "",
          SERVICE("'type':'NodePort','ports':[{'port':80,'nodePort':30001}]") "}",
          SERVICE("'type':'ClusterIP','ports':[{'port':80,'nodePort':30002}]") "}",
          SERVICE("'type':'ClusterIP','ports':[{'port':80,'nodePort':30002}]") NO_BALANCER },
        { "", "services", "", SERVICE("'type':'LoadBalancer','loadBalancerClass':'a/b'") "}",
          SERVICE("'type':'NodePort','loadBalancerClass':'c/d'") "}",
          SERVICE("'type':'NodePort','loadBalancerClass':'c/d'") NO_BALANCER },
        { "", "services", "",
          SERVICE("'type':'LoadBalancer','allocateLoadBalancerNodePorts':false,"
                  "'externalTrafficPolicy':'Local','healthCheckNodePort':30002") "}",
          SERVICE("'type':'NodePort','allocateLoadBalancerNodePorts':false,"
                  "'externalTrafficPolicy':'Local','healthCheckNodePort':30002") "}",
          SERVICE("'type':'NodePort','externalTrafficPolicy':'Local'") NO_BALANCER },
        { "", "services", "",
          SERVICE("'type':'LoadBalancer','externalTrafficPolicy':'Local','healthCheckNodePort':"
                  "30002") "}",
          SERVICE("'type':'LoadBalancer','externalTrafficPolicy':'Cluster','healthCheckNodePort':"
                  "30002") "}",
          SERVICE("'type':'LoadBalancer','externalTrafficPolicy':'Cluster'") "}" },
        /* External addresses are traffic from outside too. */
        { "", "services", "", SERVICE("'type':'NodePort','externalTrafficPolicy':'Local'") "}",
          SERVICE("'type':'ClusterIP','externalIPs':['1.2.3.4'],'externalTrafficPolicy':"
                  "'Local'") "}",
          SERVICE("'type':'ClusterIP','externalIPs':['1.2.3.4'],'externalTrafficPolicy':"
                  "'Local'") NO_BALANCER },
        /* A policy that is none is there for validation to see. */
        { "", "services", NULL, NULL, SERVICE(NAMED ",'internalTrafficPolicy':'Nearby'") "}",
          SERVICE(NAMED ",'internalTrafficPolicy':'Nearby'") "}" },
        { "", "services", NULL, NULL,
          SERVICE("'type':'ClusterIP','internalTrafficPolicy':'Local'") "}",
          SERVICE("'type':'ClusterIP','internalTrafficPolicy':'Local'") "}" },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

#define BALANCED ",'status':{'loadBalancer':{'ingress':[{'ip':'1.2.3.4'}]}}}"

static void balancers(void **state)
{
    static const struct suite_row rows[] = {
        { "", "services", NULL, NULL, SERVICE("'type':'LoadBalancer'") BALANCED,
          SERVICE("'type':'LoadBalancer'") "}" },
        { "", "services", "", SERVICE("'type':'LoadBalancer'") BALANCED,
          SERVICE("'type':'LoadBalancer','sessionAffinity':'None'") "}",
          SERVICE("'type':'LoadBalancer','sessionAffinity':'None'") BALANCED },
        { "", "services", "status", SERVICE("'type':'LoadBalancer'") "}",
          SERVICE("'type':'ClusterIP'") BALANCED, SERVICE("'type':'LoadBalancer'") BALANCED },
    };
    (void)state;
    SUITE_STRATEGY(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(services),
        cmocka_unit_test(types_change),
        cmocka_unit_test(balancers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
