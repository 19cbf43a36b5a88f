/* secret.h - which secrets a proxy may have, and what is in them. */
#pragma once

#include "mesh/model/proxy.h"

/* "kubernetes://NAME", "kubernetes://NS/NAME", "kubernetes-gateway://NS/NAME", each perhaps with
 * "-cacert": the tree of an envoy...tls.v3.Secret; null: there is none, or it is not for this
 * proxy, which has to have proved who it is. */
struct value secret_make(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                         struct str name);
