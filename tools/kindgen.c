/* kindgen OUT FILE... - turns the files of kinds/ into the C tables that src/api/kind.h declares.
 *
 * A file is lines. `group`, `version` and `order` (its place in discovery, then `old` if upstream
 * serves it no more; without it the version is not served) come first; `resource`, `kind` and
 * `type` each open a block of indented lines; # starts a comment. A kind is a type that stands
 * alone (apiVersion, kind). A field is
 *
 *     name  protobuf-number  type  flag...
 *
 * where the type may begin with * (pointer), [] (list) or be {T} (map), and refers to another
 * group as `core.PodSpec` or `scheduling/v1alpha3.X`. Of defaults, default(X) is told by OpenAPI
 * too, fill(X) is merely applied, and `milli` rounds quantities up; go(X) is what Go calls the type
 * of its values; what depends on other fields is
 * rule(NAME) behind the name of a type, the C function defaults__NAME. Kinds that a resource lists
 * get their List type without being asked. Mistakes are reported as file:line and end the build. */
#include "kindgen.h"

#include <errno.h>

#include "base/banned.h"

int main(int argc, char **argv)
{
    if (argc < 3) {
        fputs("Usage: kindgen OUT FILE...\n", stderr);
        return 2;
    }
    kinds_read(argc - 2, argv + 2);

    FILE *out = fopen(argv[1], "we");
    if (!out) {
        fprintf(stderr, "kindgen: open %s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    kinds_write(out);
    int bad = ferror(out) | fclose(out);
    kinds_done();
    return bad ? 1 : 0;
}
