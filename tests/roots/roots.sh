#!/usr/bin/env bash
# The two commands of the README on a Debian that has nothing installed: in a
# root that debootstrap makes anew and that holds the sources and nothing else.
#
# usage: roots.sh first SUITE       builds, warnings being errors, and runs the
#                                   first command
#        roots.sh bare SUITE        both commands as root; the second where
#                                   nothing can be mounted, there is no terminal
#                                   and root is weak; both as an ordinary user
#        roots.sh check SUITE...    both commands as root, in each of these
#
# The sources of root lie in a folder that others cannot enter. To make a root
# takes root and debootstrap, and git where the sources are a clone. The mirror
# is the one that apt uses here, with its settings. A root lives in memory, all
# but /var/tmp, in namespaces of this run: all mounts and processes end with it,
# however it ends.
# The whole output is in files of XYLEM_ROOTS_LOGS, ./roots by default. Exit 77:
# a root cannot be made here.
set -u
here=$(realpath "${BASH_SOURCE[0]}") || exit 1
top=${here%/tests/roots/*}
sources=/root/xylem
bad=0

say() {
    echo "roots: $*"
}

die() {
    say "$*"
    exit 1
}

# A root that cannot be made says nothing of the sources.
give_up() {
    say "$*"
    exit 77
}

# --- making a root ----------------------------------------------------------

find_mirror() {
    # shellcheck disable=SC2016 # apt's variable
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
        'Label: Debian' 'Component: main' | head -n 1
}

# Settings of apt that decide whether a mirror is reached and believed.
apt_settings() {
    apt-config dump | grep -E '^Acquire::(https?|Check-|Retries|ForceIPv)'
}

# What git has of the sources, or all there is of an unpacked tarball.
copy_sources() {
    mkdir -p "$1"
    if [ -e "$top/.git" ]; then
        git -C "$top" -c safe.directory="$top" ls-files -z |
            tar -C "$top" --null -T - -cf -
    else
        tar -C "$top" --exclude='./build*' -cf - .
    fi | tar -C "$1" --no-same-owner -xf -
}

# make_root SUITE: in place of the last one.
make_root() {
    local mirror start=$SECONDS log=$XYLEM_ROOTS_LOGS/$1.root.log
    mirror=$(find_mirror)
    [ -n "$mirror" ] || give_up "apt knows no mirror of Debian on this machine"
    umount -l "$place" 2>/dev/null
    mount -t tmpfs -o mode=755 none "$place" && mkdir "$root" || exit 1
    if ! debootstrap --variant=minbase "$1" "$root" "$mirror" >"$log" 2>&1; then
        tail -n 5 "$log"
        give_up "$1: debootstrap failed"
    fi
    {
        apt_settings
        echo 'Acquire::Retries "3";'
    } >"$root/etc/apt/apt.conf.d/mirror"
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/fast"
    cp /etc/hosts "$root/etc/hosts"
    chmod 700 "$root/root"
    copy_sources "$root$sources" || die "$1: cannot copy the sources"
    say "$1: a root, $((SECONDS - start)) s"
}

# --- commands in it ---------------------------------------------------------

# Devices, as a container has them.
add_devices() {
    local name
    mount -t tmpfs -o mode=755 none dev
    for name in null zero full random urandom tty; do
        touch "dev/$name"
        mount --bind "/dev/$name" "dev/$name"
    done
    ln -s /proc/self/fd dev/fd
    ln -s fd/0 dev/stdin
    ln -s fd/1 dev/stdout
    ln -s fd/2 dev/stderr
    mkdir -m 1777 dev/shm
}

add_terminals() {
    mkdir dev/pts
    mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 none dev/pts
    ln -s pts/ptmx dev/ptmx
}

# enter KIND COMMAND...: becomes the command in the root. In a `machine` the
# root is all there is. In a `chroot` it is no mount point, so that no namespace
# of mounts can be made, and root is as weak as containers have it.
enter() {
    local kind=$1 weak="-all,+chown,+dac_override,+fowner,+fsetid,+kill"
    shift
    weak+=",+setgid,+setuid,+setpcap,+net_bind_service,+sys_chroot,+setfcap"
    [ "$kind" = chroot ] || mount --rbind "$root" "$root" || exit 1
    cd "$root" || exit 1
    mount -t proc none proc && mount -t sysfs none sys && add_devices || exit 1
    mount --bind "$disk" var/tmp || exit 1
    if [ "$kind" = chroot ]; then
        exec setpriv --bounding-set "$weak" --inh-caps "$weak" chroot . "$@"
    fi
    add_terminals
    mkdir -p old && pivot_root . old && umount -l /old && exec "$@"
}

# inside KIND USER COMMAND...: in mounts that end with it.
inside() {
    local kind=$1 user=$2 who=() home=/root
    shift 2
    if [ "$user" != root ]; then
        home=/home/$user
        who=(setpriv "--reuid=$user" "--regid=$user" --init-groups)
    fi
    unshare --mount --propagation private bash "$here" enter "$kind" \
        "${who[@]}" env -i "HOME=$home" LANG=C.UTF-8 TERM=dumb \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        ${http_proxy:+"http_proxy=$http_proxy"} \
        ${https_proxy:+"https_proxy=$https_proxy"} \
        ${XYLEM_CONFIGURE:+"XYLEM_CONFIGURE=$XYLEM_CONFIGURE"} \
        ${XYLEM_TEST_BRIEF:+"XYLEM_TEST_BRIEF=$XYLEM_TEST_BRIEF"} "$@"
}

# judge WHAT STATUS START LOG
judge() {
    if [ "$2" -eq 0 ]; then
        say "$1: good, $((SECONDS - $3)) s"
        return
    fi
    bad=1
    tail -n 40 "$4"
    say "$1: FAILED (status $2), $((SECONDS - $3)) s; all of it: $4"
}

# first SUITE KIND USER FOLDER: eight names with their labels.
first() {
    local what="$1, $2, $3" log=$XYLEM_ROOTS_LOGS/$1.$2.$3.first.log
    local start=$SECONDS want got
    want=$(for i in {0..7}; do echo "$i: $(uname -n)"; done)
    got=$(inside "$2" "$3" "$4/bootstrap" run -N 8 --label -- hostname \
        2>"$log" | sort)
    echo "$got" >>"$log"
    [ "$got" = "$want" ]
    judge "$what: bootstrap run" $? "$start" "$log"
}

# tests_that LOG RESULT: their names. Behind them the logs of failures name them
# again.
tests_that() {
    sed -n "/^====/q; s/^\($2\): //p" "$1"
}

# check SUITE KIND USER FOLDER: the suite, and what it left out, by name with
# the reason.
check() {
    local what="$1, $2, $3" log=$XYLEM_ROOTS_LOGS/$1.$2.$3.check.log
    local start=$SECONDS status=0 test
    inside "$2" "$3" "$4/bootstrap" check >"$log" 2>&1 || status=$?
    tests_that "$log" SKIP | while read -r test; do
        say "  $test: $(sed -n 's/^skipped: //p' \
            "$root$4/build/${test%.??}.log" | head -n 1)"
    done
    find "$root$4/build/tests" -name '*.log' -exec grep -H '^# left out' {} + |
        sed "s|.*/build/|roots:   |"
    say "$what: $(sed -n 's/^# \(PASS\|SKIP\|FAIL\|ERROR\): */\1 /p' "$log" |
        head -n 4 | paste -sd,)"
    tests_that "$log" 'FAIL\|ERROR' | sed 's/^/FAILED: /'
    judge "$what: bootstrap check" $status "$start" "$log"
}

# --- what is asked for ------------------------------------------------------

run_first() {
    make_root "$1"
    XYLEM_CONFIGURE=--enable-werror first "$1" machine root $sources
}

run_check() {
    local suite
    for suite; do
        make_root "$suite"
        first "$suite" machine root $sources
        check "$suite" machine root $sources
    done
}

run_bare() {
    run_check "$1"
    XYLEM_TEST_BRIEF=1 check "$1" chroot root $sources
    inside machine root useradd --create-home somebody || exit 1
    copy_sources "$root/home/somebody/xylem"
    inside machine root chown -R somebody: /home/somebody
    first "$1" machine somebody /home/somebody/xylem
    XYLEM_TEST_BRIEF=1 check "$1" machine somebody /home/somebody/xylem
}

# Runs everything in namespaces of its own. When the parent of this process
# ends, or a signal ends this process, all that is in them ends, too.
alone() {
    local child status=0
    [ "$(id -u)" -eq 0 ] || die "making a root needs root"
    command -v debootstrap >/dev/null ||
        DEBIAN_FRONTEND=noninteractive apt-get install -y \
            --no-install-recommends debootstrap >/dev/null 2>&1 ||
        die "debootstrap is missing, and could not be installed"
    export XYLEM_ROOTS_LOGS=${XYLEM_ROOTS_LOGS:-$PWD/roots}
    mkdir -p "$XYLEM_ROOTS_LOGS" || exit 1
    place=$(mktemp -d) || exit 1
    disk=$(mktemp -d /var/tmp/xylem-root-XXXXXX) && chmod 1777 "$disk" || exit 1
    export place disk root=$place/root
    trap 'rmdir "$place"; rm -rf "$disk"' EXIT
    setpriv --pdeathsig KILL unshare --mount --propagation private --pid \
        --fork --kill-child --mount-proc bash "$here" within "$@" &
    child=$!
    trap 'kill -KILL $child 2>/dev/null; exit 143' HUP INT TERM
    wait $child || status=$?
    return $status
}

case ${1:-} in
first | bare | check)
    [ $# -gt 1 ] || die "which release of Debian?"
    alone "$@"
    ;;
enter) "$@" ;;
within)
    "run_$2" "${@:3}"
    exit $bad
    ;;
*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$here"
    exit 2
    ;;
esac
