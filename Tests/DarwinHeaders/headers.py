"""Apple's headers as a folder from which Swift and Clang import a module `Darwin`."""

import pathlib
import re
import shutil
import subprocess
import tempfile

# The headers of Apple's module `Darwin` that Larder's sources can need.
names = """
arpa/inet.h ctype.h dirent.h dlfcn.h errno.h fcntl.h fnmatch.h glob.h grp.h ifaddrs.h inttypes.h langinfo.h libgen.h
libproc.h limits.h locale.h mach-o/dyld.h mach/mach.h mach/mach_time.h malloc/malloc.h math.h net/if.h netdb.h
netinet/in.h netinet/tcp.h os/lock.h poll.h pthread.h pwd.h sched.h semaphore.h signal.h spawn.h stdarg.h stdbool.h
stddef.h stdint.h stdio.h stdlib.h string.h strings.h sys/clonefile.h sys/event.h sys/file.h sys/ioctl.h sys/mman.h
sys/mount.h sys/param.h sys/random.h sys/resource.h sys/select.h sys/socket.h sys/stat.h sys/statvfs.h sys/sysctl.h
sys/time.h sys/times.h sys/types.h sys/uio.h sys/un.h sys/utsname.h sys/wait.h syslog.h termios.h time.h unistd.h
utime.h wchar.h
""".split()

# Swift's library for this target is part of the toolchain for Linux. The one without `Embedded` is not.
swift_target = "arm64-apple-ios18.0"
settings = '{"CanonicalName": "iphoneos26.0", "Version": "26.0", "MaximumDeploymentTarget": "26.0.99"}'

# These functions Swift attributes to a module of its own that declares them first.
shims = """
public func free(_: UnsafeMutableRawPointer!)
public func strlen(_ __s: UnsafePointer<CChar>!) -> Int
"""


def run(*arguments):
    return subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True)


def toolchain():
    return pathlib.Path(shutil.which("swiftc")).resolve().parent.parent


class SDK:
    def __init__(self, include, folder):
        self.folder = folder
        if not (include / "sys/stat.h").exists():
            raise SystemExit(f"Tests/darwin-headers: no headers of Darwin in {include}")
        (folder / "usr").mkdir()
        (folder / "usr/include").symlink_to(include.resolve())
        (folder / "SDKSettings.json").write_text(settings)
        (folder / "all.h").write_text("".join(f"#include <{name}>\n" for name in names))
        (folder / "module.modulemap").write_text('module Darwin [system] { header "all.h" export * }\n')
        (folder / "std/Swift.swiftmodule").mkdir(parents=True)
        own = toolchain() / "lib/swift/embedded/Swift.swiftmodule/arm64-apple-ios.swiftmodule"
        if not own.exists() or not shutil.which("swift-synthesize-interface"):
            print("skipped: this toolchain has no embedded Swift for iOS, or no swift-synthesize-interface")
            raise SystemExit(0)
        (folder / "std/Swift.swiftmodule" / own.name).symlink_to(own)

    def interface(self):
        """Returns the module `Darwin` as Swift imports it."""
        # Types of headers that Clang's own modules include first belong to these.
        own = re.findall(r"^import (_Builtin_\w+)$", self.module("Darwin"), flags=re.M)
        return "\n".join(map(self.module, ["Darwin", *own])) + shims

    def module(self, name):
        output = self.folder / f"{name}.txt"
        if not output.exists():
            result = run(
                "swift-synthesize-interface", "-module-name", name, "-target", swift_target, "-sdk", self.folder,
                "-I", self.folder, "-I", self.folder / "std", "-I", toolchain() / "lib/swift/shims",
                "-include-submodules", "-module-cache-path", self.folder / "cache", "-o", output)
            if not output.exists() or not output.stat().st_size:
                raise SystemExit(f"Tests/darwin-headers: Swift cannot import {name}:\n{result.stderr[:2000]}")
        return output.read_text()

    def clang(self, target, *options):
        return run(
            "clang", "-target", target, "-std=gnu17", "-nostdlibinc", "-isystem", self.folder / "usr/include",
            "-I", self.folder, "-w", "-ferror-limit=0", *options)

    def preprocess(self, target, file):
        return self.clang(target, "-E", "-P", file).stdout

    def compile(self, target, file):
        """Compiles a C file, and returns the errors."""
        return self.clang(target, "-fsyntax-only", file).stderr


def glibc_interface():
    """Returns the modules of Glibc as Swift imports them."""
    texts = []
    with tempfile.TemporaryDirectory() as folder:
        for module in ("SwiftGlibc", "Glibc"):
            output = pathlib.Path(folder, module)
            run("swift-synthesize-interface", "-module-name", module, "-target", "x86_64-unknown-linux-gnu",
                "-module-cache-path", f"{folder}/cache", "-include-submodules", "-o", output)
            texts.append(output.read_text())
    return "\n".join(texts)
