/* pod_hosts.h - the name of a pod and its file /etc/hosts. */
#pragma once

#include "node/pod/pod_config.h"

/* `ret_domain` is empty where the pod has no subdomain. ERR_INVALID in upstream's words. */
int pod_host_name(struct arena *a, const struct node_facts *node, const struct value *pod,
                  struct str *ret_name, struct str *ret_domain, struct err *err);
/* The name that the kernel is told: with the domain, if the pod wants it so. */
int pod_kernel_name(struct arena *a, const struct node_facts *node, const struct value *pod,
                    struct str *ret, struct err *err);

/* Writes the pod's hosts file anew; `ret` is where it lies. */
int pod_hosts_write(const struct pod_place *p, struct arena *a, struct str *ret, struct err *err);
