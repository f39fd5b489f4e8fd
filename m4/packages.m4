# What xylem needs, in one place: configure.ac looks for the libraries, and
# ./bootstrap reads the lines below to install what is missing.
#
# XYLEM_LIBRARY([VARIABLE], [pkg-config module and version],
#     names of the package for  [apt], [dnf and yum], [zypper], [pacman])
# XYLEM_TOOL([command], [when: build, or generate when there is no configure],
#     the same four names)
#
# XYLEM_OPTION(the same as XYLEM_LIBRARY)     used when it is there
#
# One line each: the line is what ./bootstrap parses.
AC_DEFUN([XYLEM_PACKAGES], [
AS_IF([test -z "$PKG_CONFIG"], [AC_MSG_ERROR([pkg-config is missing: install
the package pkg-config (apt, zypper), pkgconfig (dnf) or pkgconf (pacman)])])
XYLEM_TOOL([cc], [build], [gcc libc6-dev], [gcc], [gcc], [gcc])
XYLEM_TOOL([ld], [build], [binutils], [binutils], [binutils], [binutils])
XYLEM_TOOL([make], [build], [make], [make], [make], [make])
XYLEM_TOOL([pkg-config], [build], [pkg-config], [pkgconfig], [pkg-config], [pkgconf])
XYLEM_TOOL([python3], [build], [python3], [python3], [python3], [python])
XYLEM_TOOL([cmp], [build], [diffutils], [diffutils], [diffutils], [diffutils])
XYLEM_TOOL([autoreconf], [generate], [autoconf], [autoconf], [autoconf], [autoconf])
XYLEM_TOOL([automake], [generate], [automake], [automake], [automake], [automake])
XYLEM_TOOL([libtoolize], [generate], [libtool], [libtool], [libtool], [libtool])
XYLEM_LIBRARY([FABRIC], [libfabric >= 1.11], [libfabric-dev], [libfabric-devel], [libfabric-devel], [libfabric])
XYLEM_LIBRARY([EVENT], [libevent_core >= 2.1], [libevent-dev], [libevent-devel], [libevent-devel], [libevent])
XYLEM_LIBRARY([HWLOC], [hwloc >= 2.0], [libhwloc-dev], [hwloc-devel], [hwloc-devel], [hwloc])
XYLEM_LIBRARY([SODIUM], [libsodium >= 1.0.12], [libsodium-dev], [libsodium-devel], [libsodium-devel], [libsodium])
XYLEM_LIBRARY([JANSSON], [jansson >= 2.10], [libjansson-dev], [jansson-devel], [libjansson-devel], [jansson])
XYLEM_LIBRARY([XXHASH], [libxxhash >= 0.8.0], [libxxhash-dev], [xxhash-devel], [xxhash-devel], [xxhash])
XYLEM_LIBRARY([PCRE2], [libpcre2-8 >= 10.32], [libpcre2-dev], [pcre2-devel], [pcre2-devel], [pcre2])
XYLEM_LIBRARY([CMOCKA], [cmocka >= 1.1], [libcmocka-dev], [libcmocka-devel], [libcmocka-devel], [cmocka])
XYLEM_OPTION([PMIX], [pmix >= 4.2.2], [libpmix-dev], [pmix-devel], [pmix-devel], [openpmix])
])

# configure finds the tools by macros of their own.
AC_DEFUN([XYLEM_TOOL], [])

AC_DEFUN([XYLEM_LIBRARY], [
    PKG_CHECK_MODULES([$1], [$2], [], [
        xylem_missing="$xylem_missing
  $2 (package $3 for apt, $4 for dnf, $5 for zypper, $6 for pacman)"])
])

AC_DEFUN([XYLEM_OPTION], [
    PKG_CHECK_MODULES([$1], [$2], [xylem_have_$1=yes], [xylem_have_$1=no])
])

# XYLEM_PACKAGES_END: one message that names all that is missing.
AC_DEFUN([XYLEM_PACKAGES_END], [
    AS_IF([test -n "$xylem_missing"], [AC_MSG_ERROR([these libraries are missing or too old:
$xylem_missing

Install the packages named, or let ./bootstrap build do it. A library outside
the system's folders is found when PKG_CONFIG_PATH names the folder of its .pc
file.])])
])
