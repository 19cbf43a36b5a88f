/* assets.h - a folder as test suites on controller-runtime's envtest want one (KUBEBUILDER_ASSETS):
 * kube-apiserver, etcd and kubectl. The first two are links to this program. */
#pragma once

#include "base/err.h"

/* Makes the folder if need be, and replaces links that are there. `*ret_kubectl` says whether there
 * is a kubectl on the PATH to link to; envtest runs without one. ERR_EXISTS: a name is taken by
 * something that is no link. */
int assets_make(struct arena *a, const char *dir, bool *ret_kubectl, struct err *err);
