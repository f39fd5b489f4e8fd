# What cannot work says why in one line or two, exits with 1 or 2, and leaves
# nothing behind.
. "$top_srcdir/tests/live/lib.sh"

# cannot TEXT ARGS...: `xylem run ARGS` fails soon and its message has TEXT,
# in any case.
cannot() {
    local text=$1
    shift
    launch "$@" </dev/null
    check test $rc = 1 -o $rc = 2
    check_file '' "$out"
    if grep -qi -e "$text" "$err"; then
        live_pass
    else
        live_fail "no '$text' in: $(head -c 1000 "$err")"
    fi
    check_has "$err" "xylem: "
    check test "$(grep -c . "$err")" -le 6
    check_gone
}

it "an unknown program"
cannot "no-such-program" -N 3 -- no-such-program
cannot "no-such-program" -N 9 --arity 2 --nodes-per-daemon 1 -- \
    "$TMPDIR/no-such-program"

it "a file that is no program"
echo "just text" >"$TMPDIR/text"
cannot "$TMPDIR/text" -N 3 -- "$TMPDIR/text"

it "a working directory that is not there"
cannot "$TMPDIR/nowhere" -N 3 -D "$TMPDIR/nowhere" -- true

it "wrong usage exits with 2"
for args in "--no-such-option -- true" "-N 0 -- true" "-N x -- true" \
    "-N 2" "-N 2 --arity 0 -- true" "-N 4 -i 9 -- true" \
    "-N 4 -i 1- -- true" "-w node[1- -- true" "--port-range 9-1 -- true" \
    "--launcher nonsense -- true" "--timeout -1 -- true" "--env =x -- true" \
    "-N 3 -w a,b -- true" "-n 5 -w a:2,b:2 -- true" "--launcher ssh -- true" \
    "-n 9 -N 3 --ppn 2 -- true"; do
    # shellcheck disable=SC2086
    cannot "xylem: " $args
    check_eq "2 for $args" "$rc for $args"
done

it "usage and what it advises name the whole command"
cannot "xylem run --help" -N 2 --no-such-option -- true
launch --help
check_eq 0 $rc
check_has "$out" "Usage: xylem run "
launch --version
check_eq 0 $rc
check_has "$out" "xylem $XYLEM_VERSION"

it "an input file that is not there"
cannot "$TMPDIR/nothing" -N 2 --input "$TMPDIR/nothing" -- cat

it "a host file that is not there"
cannot "$TMPDIR/nothing" --hostfile "$TMPDIR/nothing" -- true

it "no such provider"
cannot "nonsense" -N 2 --provider nonsense -- true

it "no such interface"
cannot "nonsense0" -N 2 --interface nonsense0 -- true

it "no free port in the range"
coproc PORT { "$PYTHON" -c '
import socket, sys
held = socket.socket()
held.bind(("0.0.0.0", 0))
held.listen()
print(held.getsockname()[1], flush=True)
sys.stdin.read()'; }
holder=$PORT_PID
read -r port <&"${PORT[0]}"
cannot "$port" -N 3 --port-range "$port-$port" -- true
eval "exec ${PORT[1]}>&-"
wait "$holder"

it "too few file descriptors"
launch_few() {
    (
        ulimit -n 16
        "$XYLEM" run -N 40 --arity 4 -- true >"$out" 2>"$err" </dev/null
    )
}
launch_few
rc=$?
check test $rc = 1 -o $rc = 2
check grep -qiE 'descriptor|open files|ulimit' "$err"
check_gone

it "a low soft limit of descriptors is raised to the hard one"
(
    ulimit -Sn 32
    "$XYLEM" run -N 40 --arity 32 -- true >"$out" 2>"$err" </dev/null
)
check_eq 0 $?

it "xylemd is missing, or is no xylemd, or is of another version"
cannot "$TMPDIR/xylemd" -N 3 --xylemd "$TMPDIR/xylemd" -- true
cat >"$TMPDIR/rubbish" <<'TEXT'
#!/bin/sh
echo "Welcome to a machine that greets everybody"
TEXT
cat >"$TMPDIR/silent" <<'TEXT'
#!/bin/sh
exit 0
TEXT
chmod +x "$TMPDIR/rubbish" "$TMPDIR/silent"
cannot "xylemd\|daemon" -N 3 --xylemd "$TMPDIR/rubbish" -- true
cannot "xylemd\|daemon" -N 3 --xylemd "$TMPDIR/silent" -- true

# rsh NAME: a remote shell of that name with the text on stdin.
rsh() {
    cat >"$TMPDIR/$1"
    chmod +x "$TMPDIR/$1"
}

it "a host that cannot be reached, by name"
rsh unreachable <<'TEXT'
#!/bin/sh
case $1 in
badhost) echo "ssh: connect to host $1: No route to host" >&2; exit 255 ;;
esac
shift
exec sh -c "$*"
TEXT
cannot "badhost" -w "good1,badhost,good2" --rsh "$TMPDIR/unreachable" -- true
check_has "$err" "No route to host"
cannot "badhost" -w "good1,good2,badhost" --arity 1 \
    --rsh "$TMPDIR/unreachable" -- true
cannot "badhost" -w "badhost,good1" --no-tree-spawn \
    --rsh "$TMPDIR/unreachable" -- true

it "a remote shell that prints rubbish, fails, or is not there"
rsh chatter <<'TEXT'
#!/bin/sh
yes "no shell today" | head -c 100000
TEXT
rsh fails <<'TEXT'
#!/bin/sh
echo "Permission denied (publickey)." >&2
exit 255
TEXT
cannot "host\[1-2\]\|host[12]" -w host1,host2 --rsh "$TMPDIR/chatter" -- true
cannot "Permission denied" -w host1,host2 --rsh "$TMPDIR/fails" -- true
cannot "$TMPDIR/nothing" -w host1,host2 --rsh "$TMPDIR/nothing" -- true

it "a remote shell that greets and then works is no error"
rsh greets <<'TEXT'
#!/bin/sh
shift
echo "Welcome to $1" >&2
exec sh -c "$*"
TEXT
launch -w host1,host2,host3 --rsh "$TMPDIR/greets" -l -- echo hello </dev/null
check_eq 0 $rc
check_eq 3 "$(grep -c hello "$out")"

it "an output that cannot be written"
if [ -w /dev/full ]; then
    "$XYLEM" run -N 3 -- echo hello >/dev/full 2>"$err" </dev/null
    check test $? = 1
    check grep -qi "space" "$err"
    check_gone
fi
