/* embed OUT NAME IN - writes a C file with the bytes of IN as `const char NAME[]`, and their number
 * as `const size_t NAME_bytes`. */
#include <stdio.h>

static int write_bytes(FILE *in, FILE *out, const char *name)
{
    fprintf(out, "#include <stddef.h>\n\nextern const char %s[];\nextern const size_t %s_bytes;\n",
            name, name);
    fprintf(out, "const char %s[] = {", name);
    size_t n = 0;
    for (int c; (c = getc(in)) != EOF; n++)
        fprintf(out, "%s%d,", n % 20 ? " " : "\n    ", (signed char)c);
    fprintf(out, "\n};\nconst size_t %s_bytes = %zu;\n", name, n);
    return ferror(in) || ferror(out);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: embed OUT NAME IN\n");
        return 2;
    }
    FILE *in = fopen(argv[3], "rb"), *out = fopen(argv[1], "wb");
    if (!in || !out) {
        perror(in ? argv[1] : argv[3]);
        return 1;
    }
    int failed = write_bytes(in, out, argv[2]);
    fclose(in);
    return fclose(out) || failed;
}
