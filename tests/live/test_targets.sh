# -i: who gets standard input, and who leaves it alone.
. "$top_srcdir/tests/live/lib.sh"

lines=1000
seq $lines >"$TMPDIR/input"

# counts OPTIONS...: RANK: LINES of each process, sorted, in $counts.
counts() {
    launch --launcher local -w a,b,c,d,e,f -l "$@" -- wc -l <"$TMPDIR/input"
    check_eq "0 " "$rc $(head -n 1 "$err")"
    counts=$(sort -n "$out" | tr '\n' ' ')
}

# want SIZE RANK...: of so many processes these have all lines, others none.
want() {
    local size=$1 rank text=
    shift
    for ((rank = 0; rank < size; rank++)); do
        case " $* " in
        *" $rank "*) text+="$rank: $lines " ;;
        *) text+="$rank: 0 " ;;
        esac
    done
    check_eq "$text" "$counts"
}

it "all, which is the default"
counts
want 6 0 1 2 3 4 5
counts -i all
want 6 0 1 2 3 4 5
counts --stdin=all --ppn 2
want 12 0 1 2 3 4 5 6 7 8 9 10 11

it "none"
counts -i none
want 6

it "one rank: the first, the last, one between, one of several on a node"
counts -i 0
want 6 0
counts -i 5
want 6 5
counts -i 3 --nodes-per-daemon 1 --arity 1
want 6 3
counts -i 9 --ppn 2
want 12 9

it "lists and ranges in any order, over the bounds of nodes and daemons"
counts -i 4,1
want 6 1 4
counts -i 5,1-3 --nodes-per-daemon 1 --arity 2
want 6 1 2 3 5
counts -i 3-8 --ppn 2 --nodes-per-daemon 2
want 12 3 4 5 6 7 8
counts -i 2-4,0,3-5,3
want 6 0 2 3 4 5
counts -i 0-5
want 6 0 1 2 3 4 5

it "what names no rank of the job is refused before anything runs"
cannot() {
    launch -N 4 -i "$1" -- touch "$TMPDIR/ran" </dev/null
    check_eq 2 "$rc"
    check_file '' "$out"
    check_has "$err" "xylem: --stdin"
    check_has "$err" "$2"
    refute test -e "$TMPDIR/ran"
}
cannot 4 "names rank 4 but the job has ranks 0 to 3"
cannot 0-4 "names rank 4 but the job has ranks 0 to 3"
cannot 1,7-9 "names rank 9 but the job has ranks 0 to 3"
cannot "" "is empty"
cannot 3-1 "the lower number first"
cannot 1- "has no end"
cannot 1,,2 "a number is missing"
cannot "1 2" "numbers and ranges with commas"
cannot all,1 "a number is missing"
cannot -1 "a number is missing"
cannot 99999999999 "too large"
check_gone

it "a shell loop keeps its lines"
seq 5 >"$TMPDIR/list"
while read -r line; do
    "$XYLEM" run -N 2 -i none -l -- echo "line $line"
done <"$TMPDIR/list" >"$out" 2>"$err"
check_eq 0 $?
for line in 1 2 3 4 5; do
    echo "0: line $line"
    echo "1: line $line"
done >"$TMPDIR/want"
# The order of the two is theirs.
paste - - <"$out" | while read -r a b c d e f; do
    printf '%s\n' "$a $b $c" "$d $e $f" | sort
done >"$TMPDIR/got"
check_same "$TMPDIR/want" "$TMPDIR/got"

it "also where the list comes through a pipe, from hosts, with an input file"
seen=$(seq 3 | while read -r line; do
    "$XYLEM" run --launcher local -w a,b -i none -- cat 2>>"$err"
    "$XYLEM" run --launcher local -w a,b --input "$TMPDIR/list" -i 1 \
        -- head -n 1 2>>"$err"
    echo "$line"
done | tr '\n' ' ')
check_eq "1 1 1 2 1 3 " "$seen"

it "nothing is left"
check_gone
