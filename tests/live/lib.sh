# What the live tests share. Source it first: . "$top_srcdir/tests/live/lib.sh"
#
#   it "a sentence"             names the case that follows
#   check CMD...                CMD must succeed
#   refute CMD...               CMD must fail
#   check_eq WANT GOT           two strings are equal
#   check_file WANT FILE        the file holds exactly this text
#   check_same FILE FILE        two files are byte-equal
#   check_has FILE TEXT         the file holds this fixed text
#   check_lacks FILE TEXT       it does not
#   check_gone [SECONDS]        no process of xylem is left (5 s at most)
#   eventually SECONDS CMD...   CMD succeeds within that time (times
#                               XYLEM_TEST_SLOW); no fixed waits
#   launch ARGS...              $XYLEM run ARGS: status in $rc, $out, $err
#   launch_telling TEXT CMD...  CMD launches; again, three times at most, until
#                               $err has the text: failures of one second are
#                               told together, if they come so close
#   skip WHY                    ends the test here, as skipped
#
# A failed check is printed with its line and the test goes on; the script's
# status is 1 when any check failed. $TMPDIR is empty at the start, removed at
# the end, and ours alone. Each test is run by tests/run.py, which has the time
# limit, and fails a test that leaves a process behind.
set -u

: "${top_srcdir:?run the live tests by make check}"
: "${top_builddir:?run the live tests by make check}"
: "${TMPDIR:?run the live tests by make check}"
XYLEM=${XYLEM:-$top_builddir/commands/xylem}
XYLEMD=${XYLEMD:-$top_builddir/commands/xylemd}
out=$TMPDIR/out
err=$TMPDIR/err
rc=0
live_case=
live_bad=0
live_done=0
live_slow=${XYLEM_TEST_SLOW:-1}
live_slow=${live_slow%%.*} # whole times; never less than one
[ "${live_slow:-0}" -ge 1 ] || live_slow=1

it() {
    live_case=$1
    echo "# $1"
}

live_pass() {
    live_done=$((live_done + 1))
}

# live_fail TEXT: the caller two levels up is the line of the test.
live_fail() {
    live_bad=$((live_bad + 1))
    echo "FAILED line ${BASH_LINENO[1]}: $live_case: $1"
}

check() {
    if "$@"; then live_pass; else live_fail "$* (status $?)"; fi
}

refute() {
    if "$@"; then live_fail "not $*"; else live_pass; fi
}

check_eq() {
    if [ "$1" = "$2" ]; then
        live_pass
    else
        live_fail "want '${1:0:2000}', got '${2:0:2000}'"
    fi
}

check_file() {
    if printf '%s' "$1" | cmp -s - "$2"; then
        live_pass
    else
        live_fail "$2 differs from what is wanted (<):"
        printf '%s' "$1" | diff - "$2" | head -n 20
    fi
}

check_same() {
    local why
    if why=$(cmp "$1" "$2" 2>&1); then live_pass; else live_fail "$why"; fi
}

check_has() {
    if grep -qF -e "$2" "$1"; then
        live_pass
    else
        live_fail "no '$2' in $1, which begins:"
        head -c 2000 "$1"
    fi
}

check_lacks() {
    if grep -qF -e "$2" "$1"; then
        live_fail "'$2' is in $1"
        grep -F -e "$2" "$1" | head -n 5
    else
        live_pass
    fi
}

check_gone() {
    local list
    if list=$("$PYTHON" "$top_srcdir/tests/run.py" --left "${1:-5}"); then
        live_pass
    else
        live_fail "processes of xylem $list"
    fi
}

# A short rest between two looks: a read that times out. In a shell of its own,
# since <() is a job to bash, and $! that of the caller's last one.
live_rest() {
    (read -rt 0.05 <> <(:)) || :
}

eventually() {
    local end=$((SECONDS + $1 * live_slow))
    shift
    until "$@"; do
        if [ $SECONDS -gt $end ]; then
            live_fail "not in time: $*"
            return 1
        fi
        live_rest
    done
    live_pass
}

launch() {
    rc=0
    "$XYLEM" run "$@" >"$out" 2>"$err" || rc=$?
}

launch_telling() {
    local text=$1

    shift
    for _ in 1 2 3; do
        "$@"
        grep -qF -- "$text" "$err" && return
    done
}

skip() {
    echo "skipped: $1"
    trap - EXIT
    exit 77
}

live_end() {
    local status=$?
    if [ $live_bad -gt 0 ]; then
        echo "$live_bad checks failed, $live_done passed"
        [ -f "$err" ] && echo "stderr of the last run:" && tail -n 20 "$err"
        exit 1
    fi
    [ $status -ne 0 ] && exit $status
    if [ $live_done -eq 0 ]; then
        echo "the test checked nothing"
        exit 1
    fi
    echo "$live_done checks passed"
}
trap live_end EXIT

[ -x "$XYLEM" ] || {
    echo "$XYLEM is not there: build it first"
    exit 1
}
