# Output of unusual shape arrives as it was written.
. "$top_srcdir/tests/live/lib.sh"

lines=$top_builddir/tests/live/tool_lines
checker=$top_builddir/tests/live/tool_check

it "binary output of one process is byte-equal with --raw"
head -c 20000000 /dev/urandom >"$TMPDIR/blob"
launch -N 1 --raw -- cat "$TMPDIR/blob"
check_eq 0 $rc
check_same "$TMPDIR/blob" "$out"

it "also through levels of daemons, and when it comes in by stdin"
launch -N 7 --arity 2 --nodes-per-daemon 1 --raw -- sh -c '
    if [ "$XYLEM_RANK" = 6 ]; then exec cat; fi' <"$TMPDIR/blob"
check_eq 0 $rc
check_same "$TMPDIR/blob" "$out"

it "a last line without newline, empty lines, a NUL byte, a carriage return"
printf 'one\n\n\nt\0wo\r\nlast' >"$TMPDIR/want"
launch -N 1 --raw -- cat "$TMPDIR/want"
check_same "$TMPDIR/want" "$out"
launch -N 1 -- cat "$TMPDIR/want"
check_same "$TMPDIR/want" <(head -c "$(wc -c <"$TMPDIR/want")" "$out")
check_has "$out" last

it "the same with labels"
printf '0: one\n0: \n0: \n0: t\0wo\r\n0: last' >"$TMPDIR/want"
launch -N 1 -l -- printf 'one\n\n\nt\0wo\r\nlast'
check_same "$TMPDIR/want" <(head -c "$(wc -c <"$TMPDIR/want")" "$out")

it "only an empty line; no output at all"
launch -N 1 -l -- echo
check_file $'0: \n' "$out"
launch -N 3 -l -- true
check_file '' "$out"

it "a line of 10 MB is one line, among others that print"
launch -N 5 --arity 2 -l -- sh -c '
    if [ "$XYLEM_RANK" = 3 ]; then
        head -c 10000000 /dev/zero | tr "\0" x
        echo
    fi
    "$0" --count 500' "$lines"
check_eq 0 $rc
check_eq "1" "$(grep -acE '^3: x{1000,}$' "$out")"
check_eq 10000004 "$(grep -aE '^3: x{1000,}$' "$out" | wc -c)"
grep -avE '^3: x{1000,}$' "$out" >"$TMPDIR/rest"
check "$checker" --procs 5 --count 500 --label <"$TMPDIR/rest"

it "processes that close their stdout and live on"
mkfifo "$TMPDIR/hold"
"$XYLEM" run -N 4 -l -- "$lines" --count 500 --close \
    <"$TMPDIR/hold" >"$out" 2>"$err" &
job=$!
exec 7>"$TMPDIR/hold"
complete() {
    "$checker" --procs 4 --count 500 --label <"$out" >"$TMPDIR/wrong"
}
eventually 20 complete # while they live
exec 7>&-
check wait $job
check complete

it "processes that die with output in their pipe"
launch -N 6 --arity 2 -l -- "$lines" --count 3000 --die
check_eq 137 $rc
check "$checker" --procs 6 --count 3000 --label <"$out"
launch -N 6 --arity 2 -- "$lines" --count 3000 --no-last-newline --die
check_eq 137 $rc
check "$checker" --procs 6 --count 3000 <"$out"

it "standard error of a process that dies is not lost"
launch -N 3 -l -- sh -c 'echo out; echo "last words" >&2; kill -9 $$'
check_eq 137 $rc
for rank in 0 1 2; do
    check_has "$err" "$rank: last words"
    check_has "$out" "$rank: out"
done

it "stdout and stderr stay apart, or come together with --merge-stderr"
launch -N 2 -l -- sh -c 'echo to-out; echo to-err >&2'
check_lacks "$out" to-err
check_lacks "$err" to-out
launch -N 2 -l --merge-stderr -- sh -c 'echo to-out; echo to-err >&2'
check_has "$out" "1: to-out"
check_has "$out" "1: to-err"
check_lacks "$err" to-err

it "closed standard descriptors are as good as /dev/null"
launch -N 2 -- wc -c <&-
check_eq 0 $rc
check_file '0
0
' "$out"
check_eq 0 "$("$XYLEM" run -N 2 -- true >&- 2>"$err"; echo $?)"

it "nothing is left"
check_gone
