# Every process gets exactly the bytes of the launcher's standard input.
. "$top_srcdir/tests/live/lib.sh"

full=${XYLEM_TEST_FULL:-}
nodes=${full:+64}
nodes=${nodes:-16}
mib=${full:+256}
mib=${mib:-16}
input=$TMPDIR/input
head -c "${mib}M" /dev/urandom >"$input"
sum=$(sha256sum <"$input")

# sums COUNT: the output is so many times the right sum and nothing else.
sums() {
    check_eq 0 $rc
    check_eq "$1 $sum" "$(sort "$out" | uniq -c | sed 's/^ *//')"
}

it "$mib MiB from a pipe into $nodes processes"
launch -N $nodes -- sha256sum < <(cat "$input")
sums $nodes

it "the same from a file on stdin, and by --input"
launch -N $nodes -- sha256sum <"$input"
sums $nodes
launch -N $nodes --input "$input" -- sha256sum </dev/null
sums $nodes

it "with one daemon for each node, in raw mode and in a chain of nodes"
launch -N 7 --arity 2 --nodes-per-daemon 1 --raw -- sha256sum <"$input"
sums 7
launch -N 4 --arity 1 --nodes-per-daemon 1 -- sha256sum <"$input"
sums 4

it "several processes to a node"
launch -N 3 --ppn 4 -- sha256sum <"$input"
sums 12

it "an empty input, and one byte"
sum=$(sha256sum </dev/null)
launch -N 5 -- sha256sum </dev/null
sums 5
sum=$(printf x | sha256sum)
launch -N 5 -- sha256sum < <(printf x)
sums 5

it "input that comes in drops reaches every process at once"
mkfifo "$TMPDIR/slow"
answers() {
    [ "$(grep -c "^got drop $1$" "$out")" = 5 ]
}
"$XYLEM" run -N 5 -- sh -c 'while read -r line; do echo "got $line"; done' \
    <"$TMPDIR/slow" >"$out" 2>"$err" &
job=$!
exec 7>"$TMPDIR/slow"
for i in 1 2 3; do
    # The next one is written when all have answered this one.
    echo "drop $i" >&7
    eventually 20 answers $i
done
exec 7>&-
check wait $job
check_eq "15" "$(grep -c '^got drop' "$out")"

it "-i none: all see the end at once, and the input is left alone"
launch -N 5 -i none -- wc -c <"$input"
check_eq 0 $rc
check_eq "5 0" "$(sort "$out" | uniq -c | awk '{ print $1, $2 }')"
{
    launch -N 2 -i none -- true
    rest=$(wc -c)
} <"$input"
check_eq "$(wc -c <"$input")" "$rest"

it "-i LIST: the others see the end at once"
sum=$(sha256sum <"$input")
launch -N 9 --nodes-per-daemon 1 --arity 2 -l -i 1,3-4,8 -- sha256sum <"$input"
check_eq 0 $rc
empty=$(sha256sum </dev/null)
for rank in 0 1 2 3 4 5 6 7 8; do
    case $rank in
    1 | 3 | 4 | 8) echo "$rank: $sum" ;;
    *) echo "$rank: $empty" ;;
    esac
done >"$TMPDIR/want"
sort -n "$out" >"$TMPDIR/got"
check_same "$TMPDIR/want" "$TMPDIR/got"

it "a process that takes a part, closes its stdin or exits holds nobody up"
mkfifo "$TMPDIR/late"
"$XYLEM" run -N $nodes -- sh -c '
    case $XYLEM_RANK in
    1) head -c 1000 >/dev/null ;;
    2) exec <&-; read -r go <"$0" ;;
    3) ;;
    *) sha256sum ;;
    esac' "$TMPDIR/late" <"$input" >"$out" 2>"$err" &
job=$!
others() {
    [ "$(grep -c . "$out")" = $((nodes - 3)) ]
}
eventually ${full:+4}60 others # while rank 2 still lives
echo go >"$TMPDIR/late"
wait $job
rc=$?
sums $((nodes - 3))

it "nothing is left"
check_gone
