#include "mesh/security/security.h"
#include "base/banned.h"

void security_http_filters(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                           struct value *filters)
{
    (void)a, (void)w, (void)p, (void)filters;
}
void security_network_filters(struct arena *a, const struct realm *w, const struct mesh_proxy *p,
                              struct value *filters)
{
    (void)a, (void)w, (void)p, (void)filters;
}
