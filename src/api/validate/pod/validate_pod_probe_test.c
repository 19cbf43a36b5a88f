/* Probes and lifecycle handlers. */
#include "api/validate/suite_validate.h"

static const char probed_pod[] =
    "{" META ",'spec':{'containers':[{'name':'c','image':'c:1'}],'initContainers':[{'name':'i',"
    "'image':'i:1','restartPolicy':'Always'}]}}";

static const struct suite_change handlers[] = {
    { "spec/containers/0/livenessProbe", "{}",
      "spec.containers[0].livenessProbe: Required value: must specify a handler type" },
    { "spec/containers/0/livenessProbe", "{'exec':{'command':['true']}}", NULL },
    { "spec/containers/0/livenessProbe", "{'exec':{}}",
      "spec.containers[0].livenessProbe.exec.command: Required value" },
    { "spec/containers/0/livenessProbe", "{'tcpSocket':{'port':0}}",
      "spec.containers[0].livenessProbe.tcpSocket.port: Invalid value: 0: must be between 1 and "
      "65535, inclusive" },
    { "spec/containers/0/livenessProbe", "{'tcpSocket':{'port':'web'}}", NULL },
    { "spec/containers/0/livenessProbe", "{'tcpSocket':{'port':''}}",
      "spec.containers[0].livenessProbe.tcpSocket.port: Invalid value: '': must contain only "
      "alpha-numeric characters (a-z, 0-9), and hyphens (-)\n"
      "spec.containers[0].livenessProbe.tcpSocket.port: Invalid value: '': must contain at least "
      "one letter (a-z)" },
    { "spec/containers/0/livenessProbe", "{'tcpSocket':{'port':'a-long-port-name'}}",
      "spec.containers[0].livenessProbe.tcpSocket.port: Invalid value: 'a-long-port-name': must "
      "be no more than 15 characters" },
    { "spec/containers/0/livenessProbe", "{'grpc':{'port':0}}",
      "spec.containers[0].livenessProbe.grpc.port: Invalid value: 0: must be between 1 and 65535, "
      "inclusive" },
    { "spec/containers/0/livenessProbe", "{'grpc':{'port':65535}}", NULL },
    { "spec/containers/0/livenessProbe", "{'httpGet':{'port':65536}}",
      "spec.containers[0].livenessProbe.httpGet.port: Invalid value: 65536: must be between 1 and "
      "65535, inclusive" },
    { "spec/containers/0/livenessProbe", "{'httpGet':{'port':80,'scheme':'FTP'}}",
      "spec.containers[0].livenessProbe.httpGet.scheme: Unsupported value: 'FTP': supported "
      "values: 'HTTP', 'HTTPS'" },
    { "spec/containers/0/livenessProbe",
      "{'httpGet':{'port':80,'httpHeaders':[{'name':'X-Good','value':'v'},{'name':'bad name'}]}}",
      "spec.containers[0].livenessProbe.httpGet.httpHeaders: Invalid value: 'bad name': a valid "
      "HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex "
      "used for validation is '[-A-Za-z0-9]+')" },
    { "spec/containers/0/readinessProbe",
      "{'exec':{'command':['true']},'grpc':{'port':1},'httpGet':{'port':1}}",
      "spec.containers[0].readinessProbe.httpGet: Forbidden: may not specify more than 1 handler "
      "type\n"
      "spec.containers[0].readinessProbe.grpc: Forbidden: may not specify more than 1 handler "
      "type" },
};

static const struct suite_change probes[] = {
    { "spec/containers/0/readinessProbe",
      "{'tcpSocket':{'port':1},'successThreshold':3,'initialDelaySeconds':-1}",
      "spec.containers[0].readinessProbe.initialDelaySeconds: Invalid value: -1: must be greater "
      "than or equal to 0" },
    { "spec/containers/0/readinessProbe", "{'tcpSocket':{'port':1},'timeoutSeconds':-1}",
      "spec.containers[0].readinessProbe.timeoutSeconds: Invalid value: -1: must be greater than "
      "or equal to 0" },
    { "spec/containers/0/readinessProbe",
      "{'tcpSocket':{'port':1},'periodSeconds':-1,'failureThreshold':-1}",
      "spec.containers[0].readinessProbe.periodSeconds: Invalid value: -1: must be greater than or "
      "equal to 0\n"
      "spec.containers[0].readinessProbe.failureThreshold: Invalid value: -1: must be greater than "
      "or equal to 0" },
    { "spec/containers/0/readinessProbe", "{'tcpSocket':{'port':1},'successThreshold':-1}",
      "spec.containers[0].readinessProbe.successThreshold: Invalid value: -1: must be greater than "
      "or equal to 0" },
    { "spec/containers/0/readinessProbe",
      "{'tcpSocket':{'port':1},'terminationGracePeriodSeconds':5}",
      "spec.containers[0].readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not "
      "be set for readinessProbes" },
    { "spec/containers/0/livenessProbe",
      "{'tcpSocket':{'port':1},'terminationGracePeriodSeconds':5}", NULL },
    { "spec/containers/0/livenessProbe",
      "{'tcpSocket':{'port':1},'terminationGracePeriodSeconds':0}",
      "spec.containers[0].livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be "
      "greater than 0" },
    { "spec/containers/0/startupProbe", "{'tcpSocket':{'port':1},'successThreshold':2}",
      "spec.containers[0].startupProbe.successThreshold: Invalid value: 2: must be 1" },
    { "spec/containers/0/startupProbe", "{'tcpSocket':{'port':1},'successThreshold':1}", NULL },
    { "spec/initContainers/0/startupProbe", "{'tcpSocket':{'port':-1}}",
      "spec.initContainers[0].startupProbe.tcpSocket.port: Invalid value: -1: must be between 1 "
      "and 65535, inclusive" },
    { "spec/initContainers/0/readinessProbe", "{'exec':{'command':['true']}}", NULL },
};

static const struct suite_change lifecycles[] = {
    { "spec/containers/0/lifecycle", "{}", NULL },
    { "spec/containers/0/lifecycle", "{'postStart':{}}",
      "spec.containers[0].lifecycle.postStart: Required value: must specify a handler type" },
    { "spec/containers/0/lifecycle", "{'postStart':{'exec':{'command':['a']}},'preStop':{}}",
      "spec.containers[0].lifecycle.preStop: Required value: must specify a handler type" },
    { "spec/containers/0/lifecycle", "{'preStop':{'exec':{}}}",
      "spec.containers[0].lifecycle.preStop.exec.command: Required value" },
    { "spec/containers/0/lifecycle", "{'preStop':{'httpGet':{'port':'A'}}}",
      "spec.containers[0].lifecycle.preStop.httpGet.port: Invalid value: 'A': must contain only "
      "alpha-numeric characters (a-z, 0-9), and hyphens (-)\n"
      "spec.containers[0].lifecycle.preStop.httpGet.port: Invalid value: 'A': must contain at "
      "least one letter (a-z)" },
    { "spec/containers/0/lifecycle", "{'preStop':{'sleep':{'seconds':30}}}", NULL },
    { "spec/containers/0/lifecycle", "{'preStop':{'sleep':{'seconds':-1}}}",
      "spec.containers[0].lifecycle.preStop.sleep: Invalid value: -1: must be non-negative and "
      "less than terminationGracePeriodSeconds (30)" },
    { "spec/containers/0/lifecycle", "{'preStop':{'sleep':{'seconds':1},'tcpSocket':{'port':1}}}",
      "spec.containers[0].lifecycle.preStop.sleep: Forbidden: may not specify more than 1 handler "
      "type" },
    { "spec/containers/0/lifecycle", "{'stopSignal':'SIGTERM'}",
      "spec.containers[0].lifecycle.stopSignal: Forbidden: may not be set for containers with "
      "empty `spec.os.name`" },
};

static const char linux_pod[] =
    "{" META ",'spec':{'os':{'name':'linux'},'containers':[{'name':'c','image':'c:1'}]}}";

static const struct suite_change linux_signals[] = {
    { "spec/containers/0/lifecycle", "{'stopSignal':'SIGRTMIN+15'}", NULL },
    { "spec/containers/0/lifecycle", "{'stopSignal':'SIGRTMIN+16'}",
      "spec.containers[0].lifecycle.stopSignal: Unsupported value: 'SIGRTMIN+16': supported "
      "values: 'SIGABRT', 'SIGALRM', 'SIGBUS', 'SIGCHLD', 'SIGCLD', 'SIGCONT', 'SIGFPE', 'SIGHUP', "
      "'SIGILL', 'SIGINT', 'SIGIO', 'SIGIOT', 'SIGKILL', 'SIGPIPE', 'SIGPOLL', 'SIGPROF', "
      "'SIGPWR', 'SIGQUIT', 'SIGRTMAX', 'SIGRTMAX-1', 'SIGRTMAX-10', 'SIGRTMAX-11', 'SIGRTMAX-12', "
      "'SIGRTMAX-13', 'SIGRTMAX-14', 'SIGRTMAX-2', 'SIGRTMAX-3', 'SIGRTMAX-4', 'SIGRTMAX-5', "
      "'SIGRTMAX-6', 'SIGRTMAX-7', 'SIGRTMAX-8', 'SIGRTMAX-9', 'SIGRTMIN', 'SIGRTMIN+1', "
      "'SIGRTMIN+10', 'SIGRTMIN+11', 'SIGRTMIN+12', 'SIGRTMIN+13', 'SIGRTMIN+14', 'SIGRTMIN+15', "
      "'SIGRTMIN+2', 'SIGRTMIN+3', 'SIGRTMIN+4', 'SIGRTMIN+5', 'SIGRTMIN+6', 'SIGRTMIN+7', "
      "'SIGRTMIN+8', 'SIGRTMIN+9', 'SIGSEGV', 'SIGSTKFLT', 'SIGSTOP', 'SIGSYS', 'SIGTERM', "
      "'SIGTRAP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU', 'SIGURG', 'SIGUSR1', 'SIGUSR2', 'SIGVTALRM', "
      "'SIGWINCH', 'SIGXCPU', 'SIGXFSZ'" },
    { "spec/containers/0/lifecycle", "{'stopSignal':'SIGUSR1'}", NULL },
};

static const char windows_pod[] =
    "{" META ",'spec':{'os':{'name':'windows'},'containers':[{'name':'c','image':'c:1'}]}}";

static const struct suite_change windows_signals[] = {
    { "spec/containers/0/lifecycle", "{'stopSignal':'SIGKILL'}", NULL },
    { "spec/containers/0/lifecycle", "{'stopSignal':'SIGUSR1'}",
      "spec.containers[0].lifecycle.stopSignal: Unsupported value: 'SIGUSR1': supported values: "
      "'SIGKILL', 'SIGTERM'" },
};

int main(void)
{
    static const struct suite_validate tables[] = {
        SUITE_CREATES("v1", "Pod", probed_pod, handlers),
        SUITE_CREATES("v1", "Pod", probed_pod, probes),
        SUITE_CREATES("v1", "Pod", probed_pod, lifecycles),
        SUITE_CREATES("v1", "Pod", linux_pod, linux_signals),
        SUITE_CREATES("v1", "Pod", windows_pod, windows_signals),
    };
    return SUITE_MAIN(tables);
}
