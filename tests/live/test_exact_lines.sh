# Every line of every process arrives once, whole and in its process's order.
. "$top_srcdir/tests/live/lib.sh"

# A busy machine may leave a writer in the middle of a line for longer than
# memory has room for the others'.
stat -fc %T "$TMPDIR" /var/tmp | grep -qvx -e tmpfs -e ramfs ||
    skip "neither TMPDIR nor /var/tmp lies on a disk"

full=${XYLEM_TEST_FULL:-}
nodes=${full:+64}
nodes=${nodes:-16}
count=${full:+200000}
count=${count:-6000}
lines=$top_builddir/tests/live/tool_lines
checker=$top_builddir/tests/live/tool_check

# collect PROCS CHECK-OPTIONS -- RUN-ARGS: the job's lines are all right.
collect() {
    local procs=$1 codes
    shift
    local options=()
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    "$XYLEM" run "$@" 2>"$err" </dev/null |
        "$checker" --procs "$procs" "${options[@]}" >"$TMPDIR/wrong"
    codes=${PIPESTATUS[*]}
    check_eq "0 0" "$codes"
    head -n 20 "$TMPDIR/wrong"
}

it "$nodes processes, $count lines each"
collect $nodes --count $count -- -N $nodes -- "$lines" --count $count

it "with labels"
collect $nodes --label --count $count -- \
    -N $nodes --label -- "$lines" --count $count

it "one daemon for each node, three levels"
collect 13 --label --count $count -- \
    -N 13 --arity 2 --nodes-per-daemon 1 -l -- "$lines" --count $count

it "several processes on a node"
collect 12 --label --count 2000 -- -N 3 --ppn 4 -l -- "$lines" --count 2000

it "writers that stop for 300 ms in the middle of a line"
collect 9 --label --count 3000 -- -N 9 --arity 3 -l -- \
    "$lines" --count 3000 --pause-at 0,7,501,502,2999
collect 9 --count 3000 -- -N 9 --arity 3 -- \
    "$lines" --count 3000 --pause-at 0,7,501,502,2999

it "some stop and some do not, and nobody is lost"
collect 8 --label --count 4000 -- -N 8 --arity 2 -l -- sh -c '
    if [ $((XYLEM_RANK % 2)) = 0 ]; then
        exec "$0" --count 4000 --pause-at 100,900,3000
    fi
    exec "$0" --count 4000' "$lines"

it "writers that write line by line"
collect 8 --label --count 3000 -- -N 8 --arity 2 -l -- \
    "$lines" --count 3000 --each

it "last lines without a newline stay whole lines"
collect 8 --label --count 500 -- -N 8 -l -- \
    "$lines" --count 500 --no-last-newline
collect 8 --count 500 -- -N 8 -- "$lines" --count 500 --no-last-newline

it "standard error arrives whole as well, beside standard output"
"$XYLEM" run -N 8 --arity 2 -l -- sh -c '
    "$0" --count 3000 --seed 2 --fd 2 & "$0" --count 3000; wait' "$lines" \
    2>"$TMPDIR/both" </dev/null >"$out"
check_eq 0 $?
check "$checker" --procs 8 --count 3000 --label <"$out"
# A remark of xylem itself is no line of the job.
LC_ALL=C grep -av '^xylem: ' "$TMPDIR/both" >"$TMPDIR/err_lines"
check "$checker" --procs 8 --count 3000 --label --seed 2 <"$TMPDIR/err_lines"

it "nothing is left"
check_gone
