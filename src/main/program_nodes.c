#include "main/program_nodes.h"

#include "base/banned.h"

struct simulate_options program_nodes_usual(void)
{
    return (struct simulate_options){ .count = 1, .prefix = "simulated" };
}

int program_nodes_run(void *self, const struct spn_config *cfg, struct spn_stop *stop,
                      struct spn_err *err)
{
    struct spn_client *client;
    struct spn_config own = *cfg;
    if (!own.user_agent.n)
        own.user_agent = SPN_TEXT("kubelet");
    int r = spn_client_new(&own, &client, err);
    if (r < 0)
        return r;
    r = simulate_run(client, self, stop, err);
    spn_client_free(client);
    return r;
}
