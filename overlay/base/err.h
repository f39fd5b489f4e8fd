/* Error codes of xylem: a negative enum ov_err, or 0.
 *
 * A function that could not do its work returns one of these, and has changed
 * nothing unless its comment says otherwise. Error codes of libfabric and
 * libevent, and errno, are translated to these where such a call fails.
 */
#ifndef OVERLAY_BASE_ERR_H
#define OVERLAY_BASE_ERR_H

// clang-format off
#define OV_ERR_MAP(X)                                              \
    X(OV_EINVAL,   -1, "argument outside the documented range")    \
    X(OV_EFULL,    -2, "fixed capacity reached, retry after drain") \
    X(OV_EPROTO,   -3, "peer sent bytes that do not decode")       \
    X(OV_ENOMEM,   -4, "out of memory")                            \
    X(OV_ESYS,     -5, "a system call failed, errno tells")        \
    X(OV_EFABRIC,  -6, "a fabric call failed")                     \
    X(OV_EAUTH,    -7, "a peer did not prove the session key")     \
    X(OV_ENOENT,   -8, "not found")                                \
    X(OV_EAGAIN,   -9, "would block, retry later")                 \
    X(OV_ECLOSED, -10, "the other side has closed")
// clang-format on

enum ov_err {
#define OV_ERR_ENUM(name, value, text) name = (value),
    OV_ERR_MAP(OV_ERR_ENUM)
#undef OV_ERR_ENUM
};

/* The text for code (an enum ov_err or 0); never NULL. */
const char *ov_strerror(int code);

#endif
