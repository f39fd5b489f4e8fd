# Of stdin that is a file, what no process took is there for who reads it next.
. "$top_srcdir/tests/live/lib.sh"

run() {
    launch --launcher local "$@"
}

# took SIZE: the rest of $input, read behind the job, begins at that byte.
took() {
    check_eq "0 " "$rc $(cat "$err")"
    tail -c +$(($1 + 1)) "$input" >"$TMPDIR/want"
    check_same "$TMPDIR/want" "$TMPDIR/rest"
}

# Each process takes exactly so many bytes and leaves the rest in its pipe.
take='head -c $((${0} * (XYLEM_RANK + 1))) >/dev/null'
small=$TMPDIR/small
large=$TMPDIR/large
seq 1000 >"$small"
head -c 40M /dev/urandom >"$large"

it "a shell's loop over a file keeps its lines"
seq 5 >"$TMPDIR/list"
for shell in bash sh; do
    "$shell" -c 'while read -r line; do
        "$0" run -w a,b --launcher local -- echo "line $line"
    done <"$1"' "$XYLEM" "$TMPDIR/list" >"$out" 2>"$err"
    check_file "$(for i in 1 2 3 4 5; do echo "line $i"; echo "line $i"; done)
" "$out"
done

it "a line that a process takes is gone, the next ones are not"
"$BASH" -c 'while read -r line; do
    "$0" run -w a --launcher local -- sh -c "read -r x; echo $line \$x"
done <"$1"' "$XYLEM" "$TMPDIR/list" >"$out" 2>"$err"
check_file "1 2
3 4
5
" "$out"

it "a part of a small file, all of which fits the pipe"
input=$small
{ run -w a -- sh -c "$take" 100; cat >"$TMPDIR/rest"; } <"$input"
took 100

it "the one that took most counts"
{ run -w a,b,c --ppn 2 -- sh -c "$take" 100; cat >"$TMPDIR/rest"; } <"$input"
took 600

it "a part of a file that no window holds"
input=$large
{ run -w a,b -- sh -c "$take" 5000000; cat >"$TMPDIR/rest"; } <"$input"
took 10000000

it "what waits in a spool for one that exits was not taken"
mkfifo "$TMPDIR/gate"
{
    run -w a,b --stdin-slow=spill --spill-dir "$TMPDIR" -- sh -c '
        if test $XYLEM_RANK = 0; then
            head -c 30000000 >/dev/null
            echo go >"$0"
        else
            read -r go <"$0"
            head -c 1000 >/dev/null
        fi' "$TMPDIR/gate"
    cat >"$TMPDIR/rest"
} <"$input"
took 30000000

it "all of it, and then nothing is left"
{ run -w a,b -- sh -c 'cat >/dev/null'; cat >"$TMPDIR/rest"; } <"$input"
took $((40 << 20))

it "who is not fed takes nothing"
input=$small
{ run -w a,b,c -i 1 -- sh -c "$take" 100; cat >"$TMPDIR/rest"; } <"$input"
took 200
{ run -w a,b -i none -- cat; cat >"$TMPDIR/rest"; } <"$input"
took 0

it "what was read before the job stays read"
{ read -r _; run -w a -- sh -c "$take" 100; cat >"$TMPDIR/rest"; } <"$input"
took 102

it "--input leaves stdin alone"
{ run -w a --input "$large" -- sh -c "$take" 9; cat >"$TMPDIR/rest"; } <"$input"
took 0

it "a process that a signal ends has taken what it took"
{
    run -w a -- sh -c "$take; kill -9 \$\$" 100
    cat >"$TMPDIR/rest"
} <"$input"
check_eq 137 "$rc"
: >"$err"
rc=0
took 100

it "a process that cannot be started took nothing"
{ run -w a -- /no/such/program; cat >"$TMPDIR/rest"; } <"$input"
check_eq 1 "$rc"
: >"$err"
rc=0
took 0

it "a process that closed its stdin took what it had read"
{
    run -w a -- sh -c "$take; exec <&-; read -r x <\"\$1\"" 100 "$small"
    cat >"$TMPDIR/rest"
} <"$input"
took 100

it "of a process that was lost nothing is known: all that was sent is gone"
{
    run -w a,b --nodes-per-daemon 1 --heartbeat 2 -- sh -c '
        test $XYLEM_RANK = 0 || exec tail -f /dev/null
        head -c 10 >/dev/null
        spawner=$PPID
        read -r _ _ _ daemon _ <"/proc/$spawner/stat"
        kill -9 "$daemon"; exec tail -f /dev/null'
    cat >"$TMPDIR/rest"
} <"$input"
check_eq 1 "$rc"
check_has "$err" "is lost"
check_file "" "$TMPDIR/rest"

it "nothing is left"
check_gone
