# cluster.sh - for tests that want pods to run: source it after common.sh. The control plane is in $dir/a, all in one
# process, as `sampan up` starts it.

# cluster_start NODES [OPTION...] - with simulated nodes: simulated-0, simulated-1, ...
cluster_start() {
    serve_everything --simulate-nodes "$@"
    waits has_account
}
has_account() { k get serviceaccount default >/dev/null; } # before that no pod is made
