/* assets: a folder for KUBEBUILDER_ASSETS. */
#include "main/command.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "main/assets.h"
#include "base/banned.h"

static const char usage[] =
    "Usage: sampan assets DIR\n"
    "Makes a folder with links kube-apiserver and etcd to this program and, if there is one on "
    "the\n"
    "PATH, kubectl. Test suites that use controller-runtime's envtest run with it as they are:\n"
    "\n"
    "  KUBEBUILDER_ASSETS=DIR go test ./...\n";

static int make(struct arena *a, const char *dir, void *arg, struct err *err)
{
    char full[PATH_MAX];
    bool has_kubectl;
    (void)arg;
    int r = assets_make(a, dir, &has_kubectl, err);
    if (r < 0)
        return r;
    if (!has_kubectl)
        fputs("sampan assets: there is no kubectl on the PATH; suites that call it will fail\n",
              stderr);
    printf("export KUBEBUILDER_ASSETS=%s\n", realpath(dir, full) ? full : dir);
    return 0;
}

int cmd_assets(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(usage, stdout);
        return 0;
    }
    if (argc > 2 || (argc == 2 && argv[1][0] == '-'))
        return command_unexpected("assets", argv[argc - 1]);
    if (argc < 2) {
        fputs("sampan assets: which folder?\n", stderr);
        return command_misused("assets");
    }
    return command_in_folder("assets", argv[1], make, NULL);
}
