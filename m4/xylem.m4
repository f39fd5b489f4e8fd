# Build options of xylem.

# AX_PTHREAD_LITE: threads on the systems xylem runs on need one flag.
AC_DEFUN([AX_PTHREAD_LITE], [
    PTHREAD_CFLAGS=-pthread
    AC_SUBST([PTHREAD_CFLAGS])
])

# XYLEM_WARNINGS: the warnings every commit is free of; --enable-werror makes them errors.
AC_DEFUN([XYLEM_WARNINGS], [
    XYLEM_CFLAGS="-std=gnu11 -Wall -Wextra -Wconversion -Wshadow -Wswitch-enum"
    XYLEM_CFLAGS="$XYLEM_CFLAGS -Wstrict-prototypes -Wmissing-prototypes -Wvla -fvisibility=hidden"
    AC_ARG_ENABLE([werror],
        [AS_HELP_STRING([--enable-werror], [treat compiler warnings as errors])])
    AS_IF([test "x$enable_werror" = xyes], [XYLEM_CFLAGS="$XYLEM_CFLAGS -Werror"])
    AC_SUBST([XYLEM_CFLAGS])
])

# XYLEM_SANITIZERS: --enable-sanitizers builds with ASan and UBSan.
AC_DEFUN([XYLEM_SANITIZERS], [
    AC_ARG_ENABLE([sanitizers],
        [AS_HELP_STRING([--enable-sanitizers], [build with ASan and UBSan])])
    AS_IF([test "x$enable_sanitizers" = xyes], [
        XYLEM_SAN="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
    ])
    AC_SUBST([XYLEM_SAN])
    AM_CONDITIONAL([SANITIZERS], [test "x$enable_sanitizers" = xyes])
])

# XYLEM_LIVE_TESTS: --disable-live-tests leaves out the tests that start jobs.
AC_DEFUN([XYLEM_LIVE_TESTS], [
    AC_ARG_ENABLE([live-tests],
        [AS_HELP_STRING([--disable-live-tests],
            [leave the tests that start jobs out of make check])])
    AM_CONDITIONAL([LIVE], [test "x$enable_live_tests" != xno])
])

# XYLEM_STRICT: can a provider be built? Some packages of libfabric hold only
# the headers for its users.
AC_DEFUN([XYLEM_STRICT], [
    xylem_cppflags=$CPPFLAGS
    CPPFLAGS="$CPPFLAGS $FABRIC_CFLAGS"
    AC_CHECK_HEADER([rdma/providers/fi_prov.h],
        [xylem_strict=yes], [xylem_strict=no])
    CPPFLAGS=$xylem_cppflags
    AM_CONDITIONAL([STRICT], [test "x$xylem_strict" = xyes])
])

# XYLEM_FABRIC_ARCHIVE: can libfabric be linked in, with the provider tcp alone?
# That makes a daemon start in milliseconds; endpoints/ofi/only_tcp.c has why.
AC_DEFUN([XYLEM_FABRIC_ARCHIVE], [
    AC_ARG_ENABLE([fabric-archive],
        [AS_HELP_STRING([--disable-fabric-archive],
            [use the shared libfabric for tcp, too])])
    AS_IF([test "x$enable_fabric_archive" != xno], [
        xylem_folder=`$PKG_CONFIG --variable=libdir libfabric`
        xylem_libs=$LIBS
        xylem_cppflags=$CPPFLAGS
        CPPFLAGS="$CPPFLAGS -I$srcdir $FABRIC_CFLAGS"
        AC_MSG_CHECKING([whether tcp alone can be linked from libfabric.a])
        enable_fabric_archive=no
        for xylem_more in -ldl "-ldl -latomic"; do
            AS_IF([test "x$enable_fabric_archive" = xno], [
                FABRIC_ARCHIVE="-Wl,--wrap=ofi_bufpool_create_attr"
                FABRIC_ARCHIVE="$FABRIC_ARCHIVE $xylem_folder/libfabric.a $xylem_more"
                LIBS="$FABRIC_ARCHIVE $xylem_libs $PTHREAD_CFLAGS"
                AC_LINK_IFELSE([AC_LANG_PROGRAM(
                    [#include "endpoints/ofi/only_tcp.c"],
                    [fi_freeinfo(fi_allocinfo());
                     return fi_getinfo(0, 0, 0, 0, 0, 0);])],
                    [enable_fabric_archive=yes])
            ])
        done
        AC_MSG_RESULT([$enable_fabric_archive])
        LIBS=$xylem_libs
        CPPFLAGS=$xylem_cppflags
    ])
    AS_IF([test "x$enable_fabric_archive" = xyes],
        [AC_DEFINE([FABRIC_ARCHIVE], [1], [libfabric's tcp is linked in.])],
        [FABRIC_ARCHIVE=])
    AC_SUBST([FABRIC_ARCHIVE])
    AM_CONDITIONAL([FABRIC_ARCHIVE], [test "x$enable_fabric_archive" = xyes])
])

# XYLEM_XXHASH_DISPATCH: does the library choose its code by the processor? On
# x86 it can, and is then twice as fast.
AC_DEFUN([XYLEM_XXHASH_DISPATCH], [
    xylem_cppflags=$CPPFLAGS
    xylem_libs=$LIBS
    CPPFLAGS="$CPPFLAGS $XXHASH_CFLAGS"
    LIBS="$XXHASH_LIBS $LIBS"
    AC_CHECK_HEADER([xxh_x86dispatch.h],
        [AC_CHECK_FUNCS([XXH3_64bits_withSeed_dispatch])])
    CPPFLAGS=$xylem_cppflags
    LIBS=$xylem_libs
])

# XYLEM_PMIX: the helper for PMIx tools, where libpmix is there.
AC_DEFUN([XYLEM_PMIX], [
    AC_ARG_WITH([pmix],
        [AS_HELP_STRING([--without-pmix],
            [leave out what PMIx tools connect to])])
    AS_IF([test "x$with_pmix" = xno], [xylem_have_PMIX=no])
    AS_IF([test "x$with_pmix" = xyes && test "x$xylem_have_PMIX" = xno],
        [AC_MSG_ERROR([--with-pmix needs libpmix 4.2.2 or later: install
the package libpmix-dev (apt), pmix-devel (dnf, zypper) or openpmix (pacman)])])
    # Its headers are not free of the warnings that ours are free of.
    PMIX_CFLAGS=`AS_ECHO(["$PMIX_CFLAGS"]) | sed 's/-I */-isystem /g'`
    AM_CONDITIONAL([PMIX], [test "x$xylem_have_PMIX" = xyes])
    AC_SUBST([PMIX_VERSION], [`$PKG_CONFIG --modversion pmix 2>/dev/null`])
])

# XYLEM_FUZZING: --enable-fuzzing links the fuzz targets with libFuzzer, and all
# code with its coverage, ASan and UBSan. After XYLEM_SANITIZERS.
AC_DEFUN([XYLEM_FUZZING], [
    AC_ARG_ENABLE([fuzzing],
        [AS_HELP_STRING([--enable-fuzzing],
            [build the fuzz targets with libFuzzer, for make fuzz (CC=clang)])])
    AS_IF([test "x$enable_fuzzing" = xyes], [
        xylem_saved_CFLAGS=$CFLAGS
        CFLAGS="$CFLAGS -fsanitize=fuzzer"
        AC_MSG_CHECKING([whether $CC has libFuzzer])
        AC_LINK_IFELSE([AC_LANG_SOURCE([
            int LLVMFuzzerTestOneInput(const unsigned char *mem, __SIZE_TYPE__ len);
            int LLVMFuzzerTestOneInput(const unsigned char *mem, __SIZE_TYPE__ len)
            {
                return mem == (void *)0 && len != 0;
            }])],
            [AC_MSG_RESULT([yes])],
            [AC_MSG_RESULT([no])
             AC_MSG_ERROR([--enable-fuzzing needs clang and its runtime: configure with CC=clang])])
        CFLAGS=$xylem_saved_CFLAGS
        XYLEM_SAN="-fsanitize=address,undefined,fuzzer-no-link"
        XYLEM_SAN="$XYLEM_SAN -fno-sanitize-recover=all -fno-omit-frame-pointer"
        XYLEM_FUZZ_LDFLAGS="-fsanitize=fuzzer"
    ])
    AC_SUBST([XYLEM_FUZZ_LDFLAGS])
    AM_CONDITIONAL([FUZZING], [test "x$enable_fuzzing" = xyes])
])
