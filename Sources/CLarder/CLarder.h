// Calls of libcurl's functions with a variable number of arguments, which Swift cannot call, and the few constants and
// structures of libcurl that Larder uses.
//
// The functions are looked up at run time, so nothing here needs libcurl or its headers. Each call takes the pointer of
// the function first. The numbers and structures are part of libcurl's binary interface, which never changes.

#ifndef CLARDER_H
#define CLARDER_H

#include <stddef.h>
#include <stdint.h>

#if defined(__linux__)
#include <sys/eventfd.h>
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
    CurlOptionAcceptEncoding = 10102,
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

/// A descriptor that `curl_multi_poll` waits for, too. `events` and `arrived` are 1 for bytes that can be read.
typedef struct CurlWaitDescriptor {
    int descriptor;
    short events;
    short arrived;
} CurlWaitDescriptor;

/// A function that libcurl calls with bytes, or with a line of a head. It returns the number of bytes that it took.
typedef size_t (*CurlDataFunction)(char *bytes, size_t size, size_t count, void *_Nullable context);

/// A function that libcurl calls with a new socket. It returns 0.
typedef int (*CurlSocketFunction)(void *_Nullable context, int socket, int purpose);

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

/// Calls `curl_easy_getinfo` for a number.
static inline int larder_curl_get_long(const void *getinfo, void *handle, CurlInfo info, long *value) {
    return ((int (*)(void *, int, ...))getinfo)(handle, info, value);
}

/// Calls `curl_easy_getinfo` for a pointer.
static inline int larder_curl_get_pointer(
    const void *getinfo, void *handle, CurlInfo info, void *_Nullable *_Nonnull value) {
    return ((int (*)(void *, int, ...))getinfo)(handle, info, value);
}

#if defined(__linux__)
/// Returns a new descriptor that can be read from after a number was written to it; -1 if there is none left.
static inline int larder_make_event(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
#endif

#pragma clang assume_nonnull end

#endif
