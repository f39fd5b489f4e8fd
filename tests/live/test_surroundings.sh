# What a process finds: environment, working directory, umask and limits.
. "$top_srcdir/tests/live/lib.sh"

# A host whose daemon has other manners than the launcher, and another home.
mkdir "$TMPDIR/home" "$TMPDIR/here"
cat >"$TMPDIR/rsh" <<'EOF'
umask 077
ulimit -S -t 3000
ulimit -S -n 512
ulimit -S -s 4096
ulimit -S -f 99999
export OF_THE_HOST=1
cd "$THERE"
shift
exec sh -c "$*"
EOF
export THERE=$TMPDIR/home
host() {
    launch -w a --rsh "sh $TMPDIR/rsh" --interface lo "$@"
}
limits='for l in t n s f; do ulimit -S -$l; done | paste -sd " "; umask'

# as_here WANT ARGS...: in the launcher's shell limits are set, and the process
# has those.
it "umask and soft limits are the launcher's, on other hosts and here"
for where in "-N 1" "-w a --interface lo"; do
    (
        umask 027
        ulimit -S -t 1000 && ulimit -S -n 400 && ulimit -S -s 6000 &&
            ulimit -S -f 500000
        # shellcheck disable=SC2086
        "$XYLEM" run $where --rsh "sh $TMPDIR/rsh" -- bash -c "$limits" \
            >"$out" 2>"$err"
    )
    check_file '1000 400 6000 500000
0027
' "$out"
done

it "hard limits are the host's, and a soft one goes no further"
hard=$(ulimit -H -n)
cat >"$TMPDIR/tight" <<'EOF'
ulimit -t 700
ulimit -n 2000
shift
exec sh -c "$*"
EOF
(
    ulimit -S -t 1000 && ulimit -S -n "$hard"
    "$XYLEM" run -w a --rsh "bash $TMPDIR/tight" --interface lo -- \
        bash -c 'ulimit -S -t; ulimit -H -t; ulimit -S -n; ulimit -H -n' \
        >"$out" 2>"$err"
)
check_file '700
700
2000
2000
' "$out"

it "descriptors that a daemon needs are no limit of its processes"
(
    ulimit -S -n 256
    "$XYLEM" run -N 80 --nodes-per-daemon 80 -- sh -c 'ulimit -S -n' \
        >"$out" 2>"$err"
)
check_eq "80 256" "$(uniq -c "$out" | sed 's/^ *//')"

it "the environment is the launcher's, without its shell's private parts"
rest=() # what a provider of the tests needs
[ -z "${XYLEM_TEST_PROVIDER:-}" ] ||
    mapfile -t rest < <(
        env | grep '^top_builddir=\|^FI_PROVIDER_PATH=\|^STRICT_'
    )
env -i "${rest[@]}" PATH="$PATH" TMPDIR="$TMPDIR" THERE="$THERE" A=1 B= \
    SHLVL=7 OLDPWD=/x _=/y XYLEM_OLD=1 'BASH_FUNC_f%%=() { :; }' 'C=two words
in lines' "$XYLEM" run -w a --rsh "sh $TMPDIR/rsh" --interface lo \
    -D / --env D=4 --env A=2 --env E=a=b -- env >"$out" 2>"$err"
grep -v '^XYLEM_\|^PATH=\|^TMPDIR=\|^THERE=' "$out" |
    grep -vxF -f <(printf '%s\n' "${rest[@]}") | LC_ALL=C sort >"$TMPDIR/env"
check_file 'A=2
B=
C=two words
D=4
E=a=b
PWD=/
in lines
' "$TMPDIR/env"
check_eq "LOCAL_RANK=0 MARK= NNODES=1 NODE=0 RANK=0 SIZE=1" \
    "$(sed -n 's/^XYLEM_//p' "$out" | sed 's/^\(MARK=\).*/\1/' |
        LC_ALL=C sort | paste -sd ' ')"
check_lacks "$out" OF_THE_HOST

it "the directory is the launcher's, where it exists"
cd "$TMPDIR/here"
host -- sh -c 'pwd; echo $PWD'
check_file "$TMPDIR/here
$TMPDIR/here
" "$out"
check_file '' "$err"
launch -N 1 -- pwd
check_file "$TMPDIR/here
" "$out"

it "else the daemon's own; with -D it must be there"
cat >"$TMPDIR/elsewhere" <<'EOF'
rmdir "$TMPDIR/here" 2>/dev/null
cd "$THERE"
shift
exec sh -c "$*"
EOF
launch -w a --rsh "sh $TMPDIR/elsewhere" --interface lo -- \
    sh -c 'pwd; echo $PWD'
check_eq 0 $rc
check_file "$TMPDIR/home
$TMPDIR/home
" "$out"
check_has "$err" "xylem: a: the launcher's directory cannot be entered (No such"
check_has "$err" "processes start in the daemon's own; -D names another"
mkdir "$TMPDIR/here"
cd "$TMPDIR/here"
launch -w a,b,c --ppn 2 --rsh "sh $TMPDIR/elsewhere" --interface lo -- true
check_eq "0 1" "$rc $(grep -c 'cannot be entered' "$err")"
mkdir "$TMPDIR/here"
cd "$TMPDIR/here"
launch -v -w a,b,c --rsh "sh $TMPDIR/elsewhere" --interface lo -- true
check_eq "0 3" "$rc $(grep -c 'cannot be entered' "$err")"
cd "$TMPDIR"
host -D "$TMPDIR/here" -- pwd
check_eq 1 $rc
check_has "$err" "chdir of '$TMPDIR/here': No such file or directory"

it "nothing is left"
check_gone
