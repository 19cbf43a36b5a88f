/* generate: C code and definitions for custom kinds. */
#include "main/command.h"

#include <getopt.h>
#include <stdio.h>

#include "base/mem.h"
#include "generate/generate.h"
#include "base/banned.h"

static const char usage[] =
    "Usage: sampan generate --from FILE [--c DIR] [--crd OUT.yaml] [OPTION]...\n"
    "Makes C code for programs that use a kind: structs, how they are read, written, copied and\n"
    "compared, calls, informers and listers (sampan/typed.h says how to use them).\n"
    "\n"
    "  --from FILE     a CustomResourceDefinition (YAML or JSON), an annotated C header, or a "
    "file\n"
    "                  of kinds/\n"
    "  --kind KIND     what FILE is: crd, header or kinds; if not given, its name tells (.h, "
    ".kinds)\n"
    "  --c DIR         write gen_PREFIX.h and gen_PREFIX.c there\n"
    "  --crd OUT.yaml  write the definition there, for kubectl apply\n"
    "  --prefix NAME   what files and structs are called; if not given, as the kind\n"
    "  --version NAME  the version of the definition; if not given, the one that is stored\n"
    "  --with FILE     another file of kinds/ that FILE names types of; may be given again\n";

static const struct option flags[] = {
    { "from", required_argument, NULL, 'f' },
    { "kind", required_argument, NULL, 'k' },
    { "c", required_argument, NULL, 'c' },
    { "crd", required_argument, NULL, 'd' },
    { "prefix", required_argument, NULL, 'p' },
    { "version", required_argument, NULL, 'v' },
    { "with", required_argument, NULL, 'w' },
    { "help", no_argument, NULL, 'h' },
    { 0 },
};

static const char **place_of(struct generate_options *opt, int c)
{
    switch (c) {
    case 'f':
        return &opt->from;
    case 'k':
        return &opt->kind;
    case 'c':
        return &opt->c;
    case 'd':
        return &opt->crd;
    case 'p':
        return &opt->prefix;
    case 'v':
        return &opt->version;
    default:
        return NULL;
    }
}

/* 0, or an exit status + 1. */
static int parse(int argc, char **argv, struct arena *a, struct generate_options *opt)
{
    opt->with = arena_array(a, char *, (size_t)argc);
    for (int c; (c = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
        const char **place = place_of(opt, c);
        if (place) {
            *place = optarg;
        } else if (c == 'w') {
            opt->with[opt->n_with++] = optarg;
        } else if (c == 'h') {
            fputs(usage, stdout);
            return 1;
        } else {
            return command_misused(argv[0]) + 1;
        }
    }
    if (argc != optind)
        return command_unexpected(argv[0], argv[optind]) + 1;
    if (opt->from && (opt->c || opt->crd))
        return 0;
    fputs("sampan generate: --from and one of --c and --crd are needed\n", stderr);
    return command_misused(argv[0]) + 1;
}

int cmd_generate(int argc, char **argv)
{
    struct arena a;
    arena_init(&a);
    struct generate_options opt = { 0 };
    struct err err = ERR_INIT(&a);
    int end = parse(argc, argv, &a, &opt);
    if (!end && generate(&a, &opt, &err) < 0) {
        fprintf(stderr, "sampan generate: " STR_FMT "\n", STR_ARG(err.msg));
        end = 2;
    }
    arena_done(&a);
    return end ? end - 1 : 0;
}
