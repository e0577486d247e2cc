/*
 * A library that kills its process at a change of the disk, for Tests/clearing and Tests/channel.
 *
 * It counts the changes below KILL_UNDER, from the moment when the process makes a folder `begin`, and writes them to
 * KILL_LOG. It kills the process before the change KILL_AT; within it, if KILL_TORN is set and it is a write.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int counting, count;

/* Returns whether a change is below the cache folder, and writes its path to `path`. */
static int where(int fd, const char *name, char *path) {
    const char *under = getenv("KILL_UNDER");
    if (!under) return 0;
    path[0] = 0;
    if (!name || name[0] != '/') {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, 2000);
        if (length < 0) return 0;
        path[length] = 0;
        if (name) { strcat(path, "/"); strncat(path, name, 2000); }
    } else {
        strncpy(path, name, 2000);
    }
    return strncmp(path, under, strlen(under)) == 0;
}

/* Counts a change before it happens, and kills the process there. Returns 1 if it is to be killed during a write. */
static int change(const char *what, int fd, const char *name) {
    char path[4096];
    if (!atomic_load(&counting) || !where(fd, name, path)) return 0;
    int number = atomic_fetch_add(&count, 1) + 1;
    const char *log = getenv("KILL_LOG");
    if (log) {
        char line[5000];
        int length = snprintf(line, sizeof line, "%d %s %s\n", number, what, path);
        int file = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
        syscall(SYS_write, file, line, length);
        syscall(SYS_close, file);
    }
    const char *at = getenv("KILL_AT");
    if (!at || number != atoi(at)) return 0;
    if (getenv("KILL_TORN") && !strcmp(what, "write")) return 1;
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static void torn(int fd, const void *bytes, size_t size) {
    syscall(SYS_write, fd, bytes, size / 2);
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

ssize_t write(int fd, const void *bytes, size_t size) {
    if (change("write", fd, NULL)) torn(fd, bytes, size);
    return syscall(SYS_write, fd, bytes, size);
}
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset) {
    change("pwrite", fd, NULL);
    return syscall(SYS_pwrite64, fd, bytes, size, offset);
}
static int opened(int folder, const char *path, int flags, int mode) {
    char whole[4096];
    if ((flags & O_CREAT) && where(folder, path, whole) && syscall(SYS_faccessat, AT_FDCWD, whole, F_OK, 0) != 0)
        change("create", folder, path);
    return syscall(SYS_openat, folder, path, flags, mode);
}
#define OPEN(name) int name(const char *path, int flags, ...) { \
    va_list rest; va_start(rest, flags); int mode = va_arg(rest, int); va_end(rest); \
    return opened(AT_FDCWD, path, flags, mode); }
OPEN(open)
OPEN(open64)
#define OPENAT(name) int name(int folder, const char *path, int flags, ...) { \
    va_list rest; va_start(rest, flags); int mode = va_arg(rest, int); va_end(rest); \
    return opened(folder, path, flags, mode); }
OPENAT(openat)
OPENAT(openat64)
int fsync(int fd) { change("fsync", fd, NULL); return syscall(SYS_fsync, fd); }
int fdatasync(int fd) { change("fsync", fd, NULL); return syscall(SYS_fdatasync, fd); }
int ftruncate(int fd, off_t size) { change("ftruncate", fd, NULL); return syscall(SYS_ftruncate, fd, size); }
int rename(const char *from, const char *to) {
    change("rename", AT_FDCWD, to);
    return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}
int renameat(int folder, const char *from, int other, const char *to) {
    change("rename", other, to);
    return syscall(SYS_renameat2, folder, from, other, to, 0);
}
int link(const char *from, const char *to) {
    change("link", AT_FDCWD, to);
    return syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}
int unlink(const char *path) { change("unlink", AT_FDCWD, path); return syscall(SYS_unlinkat, AT_FDCWD, path, 0); }
int unlinkat(int folder, const char *path, int flags) {
    change("unlink", folder, path);
    return syscall(SYS_unlinkat, folder, path, flags);
}
int rmdir(const char *path) { change("rmdir", AT_FDCWD, path); return syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR); }
int mkdir(const char *path, mode_t mode) {
    size_t length = strlen(path);
    change("mkdir", AT_FDCWD, path);
    if (length > 6 && !strcmp(path + length - 6, "/begin")) atomic_store(&counting, 1);
    return syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}
