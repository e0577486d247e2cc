"""Disks that fail, for `Tests/store-crashes` and `Tests/sync-crashes`: power cuts, and errors at chosen writes."""
import fcntl
import os
import shutil
import subprocess
import time

SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long count;

/* Returns whether this call on a file below the folder is one of those that fail. */
static int fails(int fd) {
    static const char *under, *from, *times, *code;
    if (!under) { from = getenv("FAIL_FROM"); times = getenv("FAIL_TIMES"); code = getenv("FAIL_CODE"); under = getenv("FAIL_UNDER"); }
    if (!under || !from) return 0;
    char link[64], path[2048];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    if (!strstr(path, under)) return 0;
    long number = atomic_fetch_add(&count, 1);
    if (number < atol(from) || number >= atol(from) + atol(times)) return 0;
    errno = atoi(code);
    return 1;
}

ssize_t write(int fd, const void *bytes, size_t size) {
    return fails(fd) ? -1 : syscall(SYS_write, fd, bytes, size);
}
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
    return fails(fd) ? -1 : syscall(SYS_pwrite64, fd, bytes, size, at);
}
ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t at) {
    return fails(fd) ? -1 : syscall(SYS_pwrite64, fd, bytes, size, at);
}
int fsync(int fd) { return fails(fd) ? -1 : syscall(SYS_fsync, fd); }
int fdatasync(int fd) { return fails(fd) ? -1 : syscall(SYS_fdatasync, fd); }
int ftruncate(int fd, off_t size) { return fails(fd) ? -1 : syscall(SYS_ftruncate, fd, size); }
int ftruncate64(int fd, off_t size) { return fails(fd) ? -1 : syscall(SYS_ftruncate, fd, size); }
int posix_fallocate(int fd, off_t at, off_t size) { return fails(fd) ? errno : -syscall(SYS_fallocate, fd, 0, at, size); }

__attribute__((destructor)) static void tell(void) {
    const char *report = getenv("FAIL_REPORT");
    if (!report) return;
    FILE *file = fopen(report, "w");
    if (file) { fprintf(file, "%ld\n", atomic_load(&count)); fclose(file); }
}
"""


class PowerCut:
    """A disk image in a folder, under which the power is cut. Needs root, mkfs.ext4 and losetup."""

    def __init__(self, scratch):
        self.disk, self.mount = os.path.join(scratch, "disk"), os.path.join(scratch, "mount")
        os.mkdir(self.mount)

    @staticmethod
    def why_not():
        """Returns the reason why the power cannot be cut; None if it can."""
        if os.geteuid() != 0 or not all(map(shutil.which, ("mkfs.ext4", "losetup", "mount"))):
            return "cutting the power needs root, mkfs.ext4 and losetup"
        return None

    def run(self, start, seconds, log):
        """Starts a process on a new disk, and cuts the power after some seconds.

        `start` gets the folder on the disk. `log` is the file outside of it to which the process tells what it does; it
        ends with the cut. Returns the size of the log up to which an acknowledgement counts; None without a loop device.
        """
        with open(self.disk, "wb") as file:
            file.truncate(256_000_000)
        open(log, "w").close()
        subprocess.run(["mkfs.ext4", "-q", "-F", self.disk], check=True)
        if subprocess.run(["mount", "-o", "loop", self.disk, self.mount], capture_output=True).returncode != 0:
            return None
        try:
            folder = os.path.join(self.mount, "cache")
            os.mkdir(folder)
            process = start(folder)
            time.sleep(seconds)
            root = os.open(self.mount, os.O_RDONLY)
            # While the disk is shut down, the kernel may say that a sync succeeded which did not. Nobody hears of that
            # when the power is cut, so what is acknowledged from here on does not count.
            trusted = os.path.getsize(log)
            # Shut down without writing anything: EXT4_IOC_SHUTDOWN with NOLOGFLUSH.
            fcntl.ioctl(root, 0x8004587D, bytes([2, 0, 0, 0]))
            # What begins after the cut does not count, so the log ends here.
            size = os.path.getsize(log)
            os.close(root)
            process.kill()
            process.wait()
        finally:
            subprocess.run(["umount", "-l", self.mount], check=True)
        os.truncate(log, size)
        return trusted

    def look(self, body):
        """Calls `body` with the folder as it is after the cut. Returns whether the disk was free within 20 seconds."""
        deadline = time.monotonic() + 20
        while self.disk in subprocess.run(["losetup", "-l"], capture_output=True, text=True).stdout:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        subprocess.run(["mount", "-o", "loop", self.disk, self.mount], check=True)
        try:
            body(os.path.join(self.mount, "cache"))
        finally:
            subprocess.run(["umount", self.mount], check=True)
        return True


class FailingDisk:
    """Lets writes and syncs of a process fail by their number."""

    def __init__(self, scratch):
        source, self.shim = os.path.join(scratch, "shim.c"), os.path.join(scratch, "shim.so")
        self.report = os.path.join(scratch, "report")
        with open(source, "w") as file:
            file.write(SHIM)
        subprocess.run([self.compiler(), "-shared", "-fPIC", "-O1", "-o", self.shim, source, "-ldl"], check=True)

    @staticmethod
    def compiler():
        return next((path for path in map(shutil.which, ("clang", "cc", "gcc")) if path), None)

    @classmethod
    def why_not(cls):
        """Returns the reason why no disk can fail; None if one can."""
        if cls.compiler() is None or not os.path.exists("/proc/self/fd"):
            return "failing disks need a C compiler and /proc"
        return None

    def run(self, command, under, start, times, code):
        """Runs a command in which some writes and syncs of files fail whose paths have `under` in them.

        Returns the process and the number of those writes and syncs.
        """
        done = subprocess.run(
            command, capture_output=True, text=True,
            env=dict(
                os.environ, LD_PRELOAD=self.shim, FAIL_UNDER=under, FAIL_FROM=str(start), FAIL_TIMES=str(times),
                FAIL_CODE=str(code), FAIL_REPORT=self.report))
        with open(self.report) as file:
            return done, int(file.read())
