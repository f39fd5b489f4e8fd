# .ci/run on a project that only says what a test suite would say: what it
# counts, and that nothing counts as good that was not seen to be.
XYLEM=/bin/true
. "$top_srcdir/tests/live/lib.sh"

project=$TMPDIR/project
tools=$TMPDIR/tools
mkdir -p "$project/.ci" "$tools"
cp "$top_srcdir/.ci/run" "$project/.ci/"
# What it would install, or needs to unpack a tarball.
for name in clang xz clang-format ssh apt-get make; do
    ln -s /bin/true "$tools/$name"
done
printf '#!/bin/sh\ncp %s/bootstrap "$4"\n' "$project" >"$tools/tar"
chmod +x "$tools/tar"
export PATH=$tools:$PATH

# suite TEXT [NAMES]: what ./bootstrap check does, after ./bootstrap build and a
# run on so many names.
suite() {
    cat >"$project/bootstrap" <<TEXT
#!/bin/sh
case \$1 in
check) ;;
run)
    seq 0 $((${2:-8} - 1)) | sed "s/\$/: $(uname -n)/"
    exit
    ;;
*) exec mkdir -p "\$XYLEM_BUILD" ;;
esac
$1
TEXT
    chmod 755 "$project/bootstrap"
}

# summary PASS FAIL: a command that prints it as automake does.
summary() {
    echo "echo 'Testsuite summary for x'"
    echo "echo '# TOTAL: $(($1 + $2))'"
    echo "echo '# PASS:  $1'"
    echo "echo '# FAIL:  $2'"
    echo "echo '# ERROR: 0'"
}

# ci STEP...: its output in $out, its status in $rc.
ci() {
    rc=0
    "$project/.ci/run" "$@" >"$out" 2>"$err" </dev/null || rc=$?
}

it "what passed is counted"
suite "$(summary 3 0)"
ci check
check_eq 0 $rc
check_has "$out" 'ci: check: good, 3 tests'
check_eq '3 passed, 0 failed' "$(tail -n 1 "$out")"

it "what failed is counted, also where the status says nothing"
suite "$(summary 3 2)"
ci check
check_eq 1 $rc
check_has "$out" 'ci: check: FAILED'
check_eq '3 passed, 2 failed' "$(tail -n 1 "$out")"

it "a step that fails without a failed test counts as one"
suite "$(summary 3 0)
exit 2"
ci check
check_eq 1 $rc
check_has "$out" 'check: FAILED (status 2)'
check_eq '3 passed, 1 failed' "$(tail -n 1 "$out")"

it "so does a first run on other than eight names"
suite "$(summary 3 0)" 7
ci check
check_eq 1 $rc
check_has "$project/build-ci/check.log" 'run -N 8 --label -- hostname: 0: '
check_eq '3 passed, 1 failed' "$(tail -n 1 "$out")"

it "a step that ran no test has failed"
suite "$(summary 0 0)"
ci check
check_eq 1 $rc
check_has "$out" 'check: FAILED (no test was run)'
suite 'echo all is well'
ci check
check_eq 1 $rc
check_eq '0 passed, 1 failed' "$(tail -n 1 "$out")"

it "a step whose log vanishes has failed"
suite "$(summary 3 0)
rm ${project@Q}/build-ci/check.log"
ci check
check_eq 1 $rc
check_has "$out" 'check: FAILED (its log was taken away)'
check_eq '0 passed, 1 failed' "$(tail -n 1 "$out")"

it "another log in its place does not count"
suite "rm ${project@Q}/build-ci/check.log
{
$(summary 5 0)
} >${project@Q}/build-ci/check.log"
ci check
check_eq 1 $rc
check_eq '0 passed, 1 failed' "$(tail -n 1 "$out")"

it "a step begins with no signal ignored"
suite "$(summary 1 0)
sh -c 'kill -INT \$\$; echo deaf'"
ci check
check_lacks "$project/build-ci/check.log" deaf

it "the step of a bare root fails where that does; only root has it"
suite "$(summary 1 0)"
mkdir -p "$project/tests/roots"
printf '#!/bin/sh\necho "$@"; exit 3\n' >"$project/tests/roots/roots.sh"
chmod +x "$project/tests/roots/roots.sh"
ci roots
if [ "$(id -u)" -eq 0 ]; then
    check_eq 1 $rc
    check_has "$project/build-ci/roots.log" 'first trixie'
else
    check_eq 0 $rc
    check_has "$project/build-ci/roots.log" 'left out: only root'
fi

it "steps of one word run side by side"
mkfifo "$TMPDIR/meet"
rm "$tools/make"
cat >"$tools/make" <<TEXT
#!/bin/sh
case \$* in *distcheck) cat ${TMPDIR@Q}/meet ;; *) exit ;; esac
$(summary 1 0)
TEXT
chmod +x "$tools/make"
suite "echo they meet >${TMPDIR@Q}/meet
$(summary 1 0)"
ci check,distcheck
check_eq 0 $rc
check_has "$project/build-ci/distcheck.log" 'they meet'
check_eq '2 passed, 0 failed' "$(tail -n 1 "$out")"
ln -sf /bin/true "$tools/make"

it "each of them is counted"
suite "$(summary 1 1)"
ci check,user
check_eq 1 $rc
check_eq '2 passed, 2 failed' "$(tail -n 1 "$out")"

it "random jobs are counted by their status, and their seeds are told"
suite ''
cat >"$project/check-chaos" <<'TEXT'
#!/bin/sh
echo "seeds: from 17, $SEEDS of them, and $NETWORK from n17"
exit ${CHAOS:-0}
TEXT
chmod +x "$project/check-chaos"
rm "$tools/make"
printf '#!/bin/sh\nexec %s/check-chaos\n' "$project" >"$tools/make"
chmod +x "$tools/make"
few=60 network=0
[ "$(id -u)" -ne 0 ] || { few=50 network=10; }
ci chaos
check_eq 0 $rc
check_has "$out" "ci:     seeds: from 17, $few of them, and $network from n17"
check_eq '0 passed, 0 failed' "$(tail -n 1 "$out")"
CHAOS=1 ci chaos
check_eq 1 $rc
check_has "$out" 'chaos: FAILED (status 1)'
check_eq '0 passed, 1 failed' "$(tail -n 1 "$out")"
rm "$tools/make"
ln -s /bin/true "$tools/make"

# The folder that the ordinary user of the last run worked in.
user_folder() {
    sed -n 's/^here: //p' "$project/build-ci/user.log"
}

it "the step of the ordinary user leaves no folder"
suite "echo here: \$(dirname \$0)
$(summary 1 0)"
ci user
check_has "$project/build-ci/user.log" 'here: /tmp/xylem-ci-'
refute test -e "$(user_folder)"

it "nor does one that is ended, and what it ran ends with it"
suite 'echo here: $(dirname $0)
echo runs as $$
exec tail -f /dev/null'
"$project/.ci/run" user >"$out" 2>"$err" </dev/null &
ci=$!
runs() {
    grep -q '^runs as' "$project/build-ci/user.log"
}
eventually 20 runs 2>/dev/null
user=$(sed -n 's/^runs as //p' "$project/build-ci/user.log")
folder=$(user_folder)
check test -d "$folder"
kill $ci
rc=0
wait $ci || rc=$?
check_eq 143 $rc
refute test -e "$folder"
refute test -e "$(dirname "$folder")"
# Who collects it is not us: that may take a moment.
is_gone() {
    ! test -e "/proc/$user"
}
eventually 5 is_gone
