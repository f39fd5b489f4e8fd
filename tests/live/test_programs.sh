# Several programs in one job: `xylem run A : B`.
. "$top_srcdir/tests/live/lib.sh"

mkdir "$TMPDIR/one" "$TMPDIR/two words"
tell='echo "$XYLEM_RANK of $XYLEM_SIZE on $XYLEM_NODE as $XYLEM_LOCAL_RANK:'
tell="$tell \$A \$B \$(basename \"\$PWD\") \$0 \$*\""

# sorted WANT...: the job returned 0 and these are its lines, sorted.
sorted() {
    check_eq 0 $rc
    LC_ALL=C sort "$out" >"$TMPDIR/sorted"
    check_file "$(printf '%s\n' "$@")
" "$TMPDIR/sorted"
}

it "each program has its number, environment, directory and arguments"
export A=all B=all
launch --launcher local -w a:4,b:4 \
    -n 2 --env A=1 -D "$TMPDIR/one" sh -c "$tell" first 'x  y' : \
    -n 3 --env A=2 --env B=2 --env A=3 -D "$TMPDIR/two words" \
    -- sh -c "$tell" second : \
    -n 1 --env B -D / sh -c "$tell" third ''
sorted "0 of 6 on 0 as 0: 1 all one first x  y" \
    "1 of 6 on 0 as 1: 1 all one first x  y" \
    "2 of 6 on 0 as 2: 3 2 two words second " \
    "3 of 6 on 0 as 3: 3 2 two words second " \
    "4 of 6 on 1 as 0: 3 2 two words second " \
    "5 of 6 on 1 as 1: all all / third "

it "programs share nodes: one of each, and two of another"
launch -N 3 -l --nodes-per-daemon 1 --arity 1 sh -c 'echo A on $XYLEM_NODE' : \
    --ppn 2 sh -c 'echo B on $XYLEM_NODE'
sorted "0: A on 0" "1: A on 1" "2: A on 2" "3: B on 0" "4: B on 0" \
    "5: B on 1" "6: B on 1" "7: B on 2" "8: B on 2"

it "stdin goes to ranks of any of them"
seq 7 >"$TMPDIR/in"
launch -N 2 -l -i 1,2 wc -l : --ppn 2 sh -c 'echo got $(wc -l)' <"$TMPDIR/in"
sorted "0: 0" "1: 7" "2: got 7" "3: got 0" "4: got 0" "5: got 0"
launch --launcher local -w a,b,c,d,e,f --nodes-per-daemon 1 --arity 2 -l -i 7 \
    wc -l : wc -c <"$TMPDIR/in"
sorted "0: 0" "10: 0" "11: 0" "1: 0" "2: 0" "3: 0" "4: 0" "5: 0" "6: 0" \
    "7: 14" "8: 0" "9: 0"

it "the exit code is that of the one that failed, and the proof is of all"
launch -n 2 --ppn 1 --stats "$TMPDIR/stats" true : \
    -n 2 sh -c 'test "$XYLEM_RANK" = 3 || exit 7'
check_eq 7 $rc
check_has "$err" "rank 2 on "
check_has "$err" "returned 7"
check_eq '{"channels": 8, "complete": 8}' "$("$PYTHON" -c '
import json, sys
p = json.load(open(sys.argv[1]))["proof"]
print(json.dumps({k: p[k] for k in ("channels", "complete")}))
' "$TMPDIR/stats")"

it "a program that cannot start is named"
launch -N 2 sleep 100 : no-such-program
check_eq 1 $rc
check_has "$err" "cannot be started: exec of 'no-such-program'"
launch -N 2 sleep 100 : -D "$TMPDIR/nowhere" true
check_eq 1 $rc
check_has "$err" "chdir of '$TMPDIR/nowhere'"

it "a program that is not in PATH may lie in the job's directory"
mkdir "$TMPDIR/here"
printf 'echo "$0 $1"\n' >"$TMPDIR/here/local-script"
launch -D "$TMPDIR/here" local-script word
check_eq 1 $rc
check_has "$err" "exec of 'local-script': Permission denied"
chmod +x "$TMPDIR/here/local-script"
launch -D "$TMPDIR/here" local-script word : -D "$TMPDIR" echo in PATH
check_eq 0 $rc
sorted "./local-script word" "in PATH"
launch -D "$TMPDIR" local-script
check_eq 1 $rc
check_has "$err" "exec of 'local-script': No such file"

it "a ':' is a word of the program with --no-colon"
launch --no-colon echo a : b :
check_eq 0 $rc
check_file 'a : b :
' "$out"
launch --no-colon :
check_eq 1 $rc
check_has "$err" "exec of ':'"
launch echo a:b :c d:
check_eq 0 $rc
check_file 'a:b :c d:
' "$out"

# wrong TEXT ARGS...: wrong usage, told with TEXT.
wrong() {
    local text=$1
    shift
    launch "$@" </dev/null
    check_eq 2 $rc
    check_file '' "$out"
    check_has "$err" "$text"
}

it "wrong usage is told"
wrong "no program is given before the ':'" : true
wrong "no program is given before the ':'" -N 2 -- : true
wrong "no program is given behind the ':'" true :
wrong "no program is given before the ':'" true : : true
wrong "no program is given behind the ':'" true : -n 2
wrong "--nodes is for all programs: give it before the first one" \
    true : -N 2 true
wrong "--hosts is for all programs" true : -H a true
wrong "--label is for all programs" true : --label true
wrong "--no-colon is for all programs" true : --no-colon true
wrong "--ppn takes a number" true : --ppn x true
wrong "no-such-option" true : --no-such-option true
wrong "--env nothing_of_that_name: it is not in the environment" \
    true : --env nothing_of_that_name true
wrong "('true' to 'echo'): asked for 5 processes, but the hosts have 4 slots" \
    -w a:2,b:2 -n 2 true : -n 3 echo
many=()
for i in {1..64}; do many+=(true :); done
wrong "a job has 64 programs at most" "${many[@]}" true
check_gone

it "sixty-four programs run"
unset "many[127]"
launch -l "${many[@]}"
check_eq 0 $rc

it "nothing is left"
check_gone
