# Exit codes, the end by a bad exit, by time and by a reader that leaves.
. "$top_srcdir/tests/live/lib.sh"

it "0 when all return 0, else the code of one that failed"
launch -N 5 -- true
check_eq 0 $rc
launch -N 5 --arity 2 --nodes-per-daemon 1 -- sh -c \
    'test "$XYLEM_RANK" != 4 || exit 42'
check_eq 42 $rc
check_has "$err" 4

it "of the lowest rank among the first that were seen to fail"
mkfifo "$TMPDIR/after"
"$XYLEM" run -N 4 -- sh -c '
    case $XYLEM_RANK in
    2) exit 7 ;;
    1) read -r _ <"$0"; exit 9 ;;
    esac' "$TMPDIR/after" >"$out" 2>"$err" </dev/null &
job=$!
eventually 60 grep -q "^xylem: rank 2 on .* returned 7" "$err"
sleep 0.3 # sleep-ok: what fails within 100 ms counts as the same moment
exec 9<>"$TMPDIR/after"
echo go >&9
rc=0
wait $job || rc=$?
exec 9>&-
check_eq 7 $rc
check_has "$err" "2 processes ended badly"

it "128 and the number of a signal"
launch -N 3 -- sh -c 'test "$XYLEM_RANK" != 1 || kill -SEGV $$'
check_eq 139 $rc

it "--kill-on-bad-exit ends the others"
launch -N 6 --arity 2 -K -- sh -c '
    test "$XYLEM_RANK" != 3 || exit 3
    exec tail -f /dev/null'
check_eq 3 $rc
check_gone

it "--timeout ends the job with 124"
launch -N 4 --arity 2 --timeout 1 -- tail -f /dev/null
check_eq 124 $rc
check_gone

it "a reader that leaves ends the job quietly with 141"
"$XYLEM" run -N 4 --arity 2 -- yes 2>"$err" </dev/null | head -n 1 >"$out"
check_eq "141 0" "${PIPESTATUS[*]}"
check_file 'y
' "$out"
refute grep -q "^xylem: [^n]" "$err"
check_gone

it "a background child that holds the channels is waited for, not for ever"
# The process ends when its child has spoken.
launch -N 2 --linger 1 -- sh -c '
    spoke=$0/spoke.$XYLEM_RANK
    mkfifo "$spoke"
    (echo early; echo >"$spoke"; tail -f /dev/null) & echo $! >>"$0/pids"
    read -r _ <"$spoke"
    exit 0' "$TMPDIR" </dev/null
check_eq 0 $rc
check_eq 2 "$(grep -c early "$out")"
# shellcheck disable=SC2046
kill $(cat "$TMPDIR/pids") 2>"$err"
check_gone

it "a late line of a background child is still read"
launch -N 2 --linger 30 -- sh -c '(cat; echo late) & exit 0' </dev/null
check_eq 0 $rc
check_eq 2 "$(grep -c late "$out")"
