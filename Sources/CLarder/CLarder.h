// Calls of functions of libcurl and SQLite with a variable number of arguments, which Swift cannot call, and the few
// constants and structures of these libraries that Larder uses.
//
// The functions are looked up at run time, so nothing here needs the libraries or their headers. Each call takes the
// pointer of the function first. The numbers and structures are part of their binary interfaces, which never change.

#ifndef CLARDER_H
#define CLARDER_H

#include <stddef.h>
#include <stdint.h>

#if defined(__linux__)
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <errno.h>
#include <unistd.h>
#endif

#pragma clang assume_nonnull begin

/// An option of `curl_easy_setopt`.
typedef enum __attribute__((enum_extensibility(closed))) CurlOption : int {
    CurlOptionNoBody = 44,
    CurlOptionPost = 47,
    CurlOptionSSLVerifyPeer = 64,
    CurlOptionFreshConnect = 74,
    CurlOptionSSLVerifyHost = 81,
    CurlOptionHTTPVersion = 84,
    CurlOptionNoSignal = 99,
    CurlOptionConnectTimeoutMS = 156,
    CurlOptionProtocols = 181,
    CurlOptionTCPKeepAlive = 213,
    CurlOptionPipeWait = 237,
    CurlOptionSuppressConnectHeaders = 265,
    CurlOptionDisallowUsernameInURL = 278,
    CurlOptionQuickExit = 322,
    CurlOptionWriteData = 10001,
    CurlOptionAddress = 10002,
    CurlOptionErrorBuffer = 10010,
    CurlOptionPostFields = 10015,
    CurlOptionHTTPHeader = 10023,
    CurlOptionHeaderData = 10029,
    CurlOptionCustomRequest = 10036,
    CurlOptionCAInfo = 10065,
    CurlOptionCAPath = 10097,
    CurlOptionPrivate = 10103,
    CurlOptionPrerequestData = 10313,
    CurlOptionProtocolNames = 10318,
    CurlOptionWriteFunction = 20011,
    CurlOptionHeaderFunction = 20079,
    CurlOptionSocketFunction = 20148,
    CurlOptionPrerequestFunction = 20312,
    CurlOptionPostFieldSize = 30120,
} CurlOption;

/// An option of `curl_multi_setopt`.
typedef enum __attribute__((enum_extensibility(closed))) CurlMultiOption : int {
    CurlMultiOptionMaxConnections = 6,
    CurlMultiOptionMaxHostConnections = 7,
    CurlMultiOptionSocketData = 10002,
    CurlMultiOptionSocketFunction = 20001,
} CurlMultiOption;

/// A fact that `curl_easy_getinfo` tells.
typedef enum __attribute__((enum_extensibility(closed))) CurlInfo : int {
    CurlInfoPrivate = 0x100000 + 21,
    CurlInfoConnectCode = 0x200000 + 22,
} CurlInfo;

/// The beginning of what `curl_version_info` returns.
typedef struct CurlVersion {
    int age;
    const char *text;
    unsigned int number;
    const char *host;
    int features;
} CurlVersion;

/// A result of `curl_multi_info_read`. `kind` is 1 if an exchange has ended, with `result`.
typedef struct CurlMessage {
    int kind;
    void *handle;
    union {
        void *_Nullable other;
        int result;
    } data;
} CurlMessage;

/// A function that libcurl calls with bytes, or with a line of a head. It returns the number of bytes that it took.
typedef size_t (*CurlDataFunction)(char *bytes, size_t size, size_t count, void *_Nullable context);

/// A function that libcurl calls with a new socket. It returns 0.
typedef int (*CurlSocketFunction)(void *_Nullable context, int socket, int purpose);

/// A function that libcurl calls with the directions in which a socket must be watched. It returns 0.
typedef int (*CurlWatchFunction)(
    void *handle, int socket, int directions, void *_Nullable context, void *_Nullable socketContext);

/// A function that libcurl calls before it sends a request. It returns 0, or 1 to end the exchange.
typedef int (*CurlPrerequestFunction)(
    void *_Nullable context, char *_Nullable server, char *_Nullable local, int serverPort, int localPort);

/// Calls `curl_easy_setopt` with a number.
static inline int larder_curl_set_long(const void *setopt, void *handle, CurlOption option, long value) {
    return ((int (*)(void *, int, ...))setopt)(handle, option, value);
}

/// Calls `curl_easy_setopt` with a pointer to a text or to an object.
static inline int larder_curl_set_pointer(
    const void *setopt, void *handle, CurlOption option, const void *_Nullable value) {
    return ((int (*)(void *, int, ...))setopt)(handle, option, value);
}

/// Calls `curl_easy_setopt` with a size.
static inline int larder_curl_set_size(const void *setopt, void *handle, CurlOption option, int64_t value) {
    return ((int (*)(void *, int, ...))setopt)(handle, option, value);
}

/// Calls `curl_easy_setopt` with a function that takes bytes.
static inline int larder_curl_set_data_function(
    const void *setopt, void *handle, CurlOption option, CurlDataFunction value) {
    return ((int (*)(void *, int, ...))setopt)(handle, option, value);
}

/// Calls `curl_easy_setopt` with a function that is called with each new socket.
static inline int larder_curl_set_socket_function(
    const void *setopt, void *handle, CurlOption option, CurlSocketFunction value) {
    return ((int (*)(void *, int, ...))setopt)(handle, option, value);
}

/// Calls `curl_easy_setopt` with a function that is called before a request is sent.
static inline int larder_curl_set_prerequest_function(
    const void *setopt, void *handle, CurlOption option, CurlPrerequestFunction value) {
    return ((int (*)(void *, int, ...))setopt)(handle, option, value);
}

/// Calls `curl_multi_setopt` with a number.
static inline int larder_curl_multi_set_long(const void *setopt, void *multi, CurlMultiOption option, long value) {
    return ((int (*)(void *, int, ...))setopt)(multi, option, value);
}

/// Calls `curl_multi_setopt` with a pointer to an object.
static inline int larder_curl_multi_set_pointer(
    const void *setopt, void *multi, CurlMultiOption option, const void *_Nullable value) {
    return ((int (*)(void *, int, ...))setopt)(multi, option, value);
}

/// Calls `curl_multi_setopt` with a function that is called when a socket must be watched.
static inline int larder_curl_multi_set_watch_function(
    const void *setopt, void *multi, CurlMultiOption option, CurlWatchFunction value) {
    return ((int (*)(void *, int, ...))setopt)(multi, option, value);
}

/// Calls `curl_easy_getinfo` for a number.
static inline int larder_curl_get_long(const void *getinfo, void *handle, CurlInfo info, long *value) {
    return ((int (*)(void *, int, ...))getinfo)(handle, info, value);
}

/// Calls `curl_easy_getinfo` for a pointer.
static inline int larder_curl_get_pointer(
    const void *getinfo, void *handle, CurlInfo info, void *_Nullable *_Nonnull value) {
    return ((int (*)(void *, int, ...))getinfo)(handle, info, value);
}

/// Sets one of the options of `sqlite3_db_config` that are on or off.
static inline int larder_sqlite_configure(const void *configure, void *connection, int option, int value) {
    return ((int (*)(void *, int, ...))configure)(connection, option, value, (int *)0);
}

/// The functions of an open file of SQLite, `sqlite3_io_methods`.
typedef struct SQLiteFileMethods {
    int version;
    void *_Nullable basic[12];
    int (*_Nullable mapShared)(void *file, int region, int size, int extends, void *_Nullable volatile *_Nonnull start);
    void *_Nullable shared[3];
    void *_Nullable mapped[2];
} SQLiteFileMethods;

/// The functions of a file whose mapped parts have no holes, and SQLite's own ones.
typedef struct FilledFileMethods {
    SQLiteFileMethods methods;
    const SQLiteFileMethods *_Nullable own;
} FilledFileMethods;

/// Gives every page of a mapped part of a file its space on the disk. Returns false if the disk is full.
static inline _Bool larder_fill_mapped(char *start, int size) {
#if defined(__linux__) && defined(SYS_futex)
    // A page that has no space yet gets it at the first write to it, and if there is none left, that write ends the
    // process. The system's own writes return an error instead. This one changes nothing: it adds no bit to a word.
    int own = 0;
    for (int offset = 0; offset < size; offset += 4096) {
        const int wakeOne = 5 | 128, addNoBit = 2 << 28;
        long done = syscall(SYS_futex, &own, wakeOne, 0, (void *)0, start + offset, addNoBit);
        if (done < 0 && errno == EFAULT) return 0;
    }
#endif
    return 1;
}

static inline int larder_map_filled(
    void *file, int region, int size, int extends, void *_Nullable volatile *_Nonnull start) {
    const FilledFileMethods *methods = *(FilledFileMethods **)file;
    int code = methods->own->mapShared(file, region, size, extends, start);
    if (code != 0 || !*start || larder_fill_mapped((char *)*start, size)) return code;
    // Without an address, SQLite asks again before it uses the part.
    *start = (void *)0;
    return 13;
}

/// Lets an open file of SQLite map parts only that have no holes. The methods live as long as the file is open.
static inline void larder_fill_mapped_parts(void *file, FilledFileMethods *methods) {
    const SQLiteFileMethods *own = *(const SQLiteFileMethods **)file;
    // Version 1 has no such functions, and a later one may have more than are copied here.
    if (!own || own->version < 2 || own->version > 3 || !own->mapShared) return;
    methods->own = own;
    methods->methods.version = own->version;
    for (int i = 0; i < 12; i++) methods->methods.basic[i] = own->basic[i];
    methods->methods.mapShared = larder_map_filled;
    for (int i = 0; i < 3; i++) methods->methods.shared[i] = own->shared[i];
    for (int i = 0; i < 2 && own->version == 3; i++) methods->methods.mapped[i] = own->mapped[i];
    *(const FilledFileMethods **)file = methods;
}

#if defined(__linux__)
/// Returns a new descriptor that can be read from after a number was written to it; -1 if there is none left.
static inline int larder_make_event(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

/// Returns a new descriptor that can be read from after a time; -1 if there is none left.
static inline int larder_make_timer(void) { return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK); }

/// Sets the time from now, at least 1 ns, after which a timer can be read from.
static inline void larder_set_timer(int timer, int64_t nanoseconds) {
    struct itimerspec time = {{0, 0}, {nanoseconds / 1000000000, nanoseconds % 1000000000}};
    timerfd_settime(timer, 0, &time, 0);
}

/// Returns a new set of watched descriptors; -1 if there is no descriptor left.
static inline int larder_make_watch(void) { return epoll_create1(EPOLL_CLOEXEC); }

/// Watches a descriptor for bytes to read (1) and room to write (2). Returns false if the system has no memory left.
static inline _Bool larder_watch(int watch, int descriptor, int directions) {
    struct epoll_event event = {
        .events = (directions & 1 ? EPOLLIN : 0) | (directions & 2 ? EPOLLOUT : 0), .data.fd = descriptor};
    return epoll_ctl(watch, EPOLL_CTL_ADD, descriptor, &event) == 0 ||
           epoll_ctl(watch, EPOLL_CTL_MOD, descriptor, &event) == 0;
}

/// Watches a descriptor no more.
static inline void larder_unwatch(int watch, int descriptor) { epoll_ctl(watch, EPOLL_CTL_DEL, descriptor, 0); }

/// A watched descriptor that is ready to be read from (1) or to be written to (2), or has an error (4).
typedef struct ReadyDescriptor {
    int descriptor;
    int directions;
} ReadyDescriptor;

/// Waits until descriptors are ready. Returns their number, at most 64, or 0 after a signal.
static inline int larder_await_ready(int watch, ReadyDescriptor *ready) {
    struct epoll_event events[64];
    int count = epoll_wait(watch, events, 64, -1);
    for (int i = 0; i < count; i++) {
        uint32_t bits = events[i].events;
        ready[i].descriptor = events[i].data.fd;
        ready[i].directions = (bits & (EPOLLIN | EPOLLHUP) ? 1 : 0) | (bits & EPOLLOUT ? 2 : 0) |
                              (bits & (EPOLLERR | EPOLLHUP) ? 4 : 0);
    }
    return count < 0 ? 0 : count;
}
#endif

#pragma clang assume_nonnull end

#endif
