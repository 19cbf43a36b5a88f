#include "controllers/volumes/host_path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/banned.h"

#define BASE "/tmp/hostpath_pv"
enum { BASE_MODE = 0750, NAME_MAX_BYTES = 64, DEPTH_MAX = 200 };

static int failed(struct spn_err *err, const char *verb, const char *what)
{
    return spn_err_set(err, SPN_FILE, "%s %s: %s", verb, what, strerror(errno));
}

/* One word: letters, digits and dashes. */
static bool copy_name(struct spn_text name, char to[NAME_MAX_BYTES])
{
    if (!name.n || name.n >= NAME_MAX_BYTES)
        return false;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'))
            return false;
        to[i] = c;
    }
    to[name.n] = '\0';
    return true;
}

/* Everybody may write to /tmp: what is there must be ours, and no link. */
static int open_base(struct spn_err *err)
{
    struct stat st;
    int fd = open(BASE, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return failed(err, "open", BASE);
    if (fstat(fd, &st) == 0 && st.st_uid == geteuid())
        return fd;
    close(fd);
    return spn_err_set(err, SPN_FILE, "%s belongs to somebody else", BASE);
}

int host_path_make(struct spn_arena *a, struct spn_text name, struct spn_text *ret,
                   struct spn_err *err)
{
    char word[NAME_MAX_BYTES];
    if (!copy_name(name, word))
        return spn_err_set(err, SPN_INVALID, "no name of a directory");
    if (mkdir(BASE, BASE_MODE) < 0 && errno != EEXIST)
        return failed(err, "mkdir", BASE);
    int base = open_base(err);
    if (base < 0)
        return base;
    int r = 0;
    if (mkdirat(base, word, BASE_MODE) < 0 && errno != EEXIST)
        r = failed(err, "mkdir", word);
    close(base);
    if (r == 0)
        *ret = spn_arena_printf(a, BASE "/%s", word);
    return r;
}

/* ---- Removing ---- */

static int remove_tree(int parent, const char *name, unsigned depth);

static bool is_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Takes over `fd`. */
static int empty_directory(int fd, unsigned depth)
{
    int left = 0;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return -1;
    }
    for (struct dirent *e; !left && (e = readdir(dir));)
        left = is_dot(e->d_name) ? 0 : remove_tree(fd, e->d_name, depth);
    closedir(dir);
    return left;
}

/* -1 with errno. Links are removed, not followed. */
static int remove_tree(int parent, const char *name, unsigned depth)
{
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
        return 0;
    if ((errno != EISDIR && errno != EPERM) || depth == DEPTH_MAX)
        return -1;
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || empty_directory(fd, depth + 1) < 0)
        return -1;
    return unlinkat(parent, name, AT_REMOVEDIR);
}

int host_path_remove(struct spn_text path, struct spn_err *err)
{
    static const char base_path[] = BASE "/";
    enum { N = sizeof(base_path) - 1 };
    char word[NAME_MAX_BYTES];
    if (path.n <= N || memcmp(path.p, base_path, N) != 0 ||
        !copy_name((struct spn_text){ path.p + N, path.n - N }, word))
        return 0;
    int base = open_base(err);
    if (base < 0)
        return errno == ENOENT ? 0 : base;
    int r = remove_tree(base, word, 0);
    if (r < 0)
        r = failed(err, "remove", word);
    close(base);
    return r;
}
