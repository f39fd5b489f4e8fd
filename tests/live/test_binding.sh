# --bind: processes have the processors that their turn gives them.
. "$top_srcdir/tests/live/lib.sh"

# The processors that may be used here, by core, as the kernel tells of them.
"$PYTHON" - >"$TMPDIR/cores" <<'EOF' || exit 1
import os

mine = os.sched_getaffinity(0)
def cores(name):
    found = set()
    for cpu in mine:
        path = f"/sys/devices/system/cpu/cpu{cpu}/topology/{name}"
        with open(path, encoding="ascii") as text:
            found.add(text.read().strip())
    return found

def members(text):
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)

for core in cores("thread_siblings_list"):
    print(",".join(str(cpu) for cpu in sorted(members(core)) if cpu in mine))
EOF
cores=$(wc -l <"$TMPDIR/cores")
bound='for cpu in $(sed -n "s/^Cpus_allowed_list:\s*//p" /proc/self/status |
    tr , " "); do seq -s , ${cpu%-*} ${cpu#*-}; done | paste -sd ,'
rsh="sh $top_srcdir/tests/live/rsh_here.sh"

# The lines of the job are RANK: CPUS; those of a node's processes from rank
# $1 on, one for each core, have each core once.
turns() {
    sort -n "$out" | sed -n "$(($1 + 1)),$(($1 + cores))s/^[0-9]*: //p" |
        sort >"$TMPDIR/turns"
    sort "$TMPDIR/cores" | diff - "$TMPDIR/turns"
}

it "--bind core: each core has its turn, and the first comes again"
launch --bind core -l -N 1 --ppn $((2 * cores)) -- sh -c "$bound"
check_eq 0 $rc
check turns 0
check turns $cores
check_eq "$(sort -n "$out" | sed -n '1s/.* //p')" \
    "$(sort -n "$out" | sed -n "$((cores + 1))s/.* //p")"

it "virtual nodes share the machine, so ranks take turns"
launch --bind core -l -N $((2 * cores)) --nodes-per-daemon 1 -- sh -c "$bound"
check_eq 0 $rc
check turns 0
check turns $cores

it "on hosts the processes of each take turns from the first core on"
launch --bind core -l -w a,b --rsh "$rsh" --interface lo --ppn $cores -- \
    sh -c "$bound"
check_eq 0 $rc
check turns 0
check turns $cores

it "--bind socket, and none"
launch --bind none -l -N 2 -- sh -c "$bound"
check_eq 0 $rc
cp "$out" "$TMPDIR/none"
launch -l -N 2 -- sh -c "$bound"
sort "$out" | diff - <(sort "$TMPDIR/none") || check_eq same differ
if [ "$(cat /sys/devices/system/cpu/cpu*/topology/physical_package_id |
    sort -u | wc -l)" = 1 ]; then
    launch --bind socket -l -N 2 -- sh -c "$bound"
    check_eq 0 $rc
    sort "$out" | diff - <(sort "$TMPDIR/none") || check_eq same differ
fi

it "who may use one processor only is bound to that one"
one=$(head -n 1 "$TMPDIR/cores" | cut -d , -f 1)
rc=0
taskset -c "$one" "$XYLEM" run --bind core -N 3 -- sh -c "$bound" \
    >"$out" 2>"$err" || rc=$?
check_eq 0 $rc
check_file "$one
$one
$one
" "$out"

it "a binding that cannot be is told"
export HWLOC_XMLFILE=$top_srcdir/tests/data/two-sockets.xml
if [ "$(nproc --all)" -lt 32 ]; then
    launch --bind socket -N 2 -- sleep 100
    check_eq 1 $rc
    check_has "$err" "rank 1 on "
    check_has "$err" "cannot be bound as --bind asks for: Invalid argument"
fi
export HWLOC_XMLFILE=$top_srcdir/configure.ac
launch --bind core -w a,b --rsh "$rsh" --interface lo -- sleep 100
check_eq 1 $rc
check_has "$err" "the topology of this machine cannot be loaded"
launch --bind core -N 2 -- sleep 100
check_eq 1 $rc
check_has "$err" "the topology of this machine cannot be loaded"
unset HWLOC_XMLFILE
launch --bind thread true
check_eq 2 $rc
check_has "$err" "--bind takes core, socket or none, not 'thread'"

it "nothing is left"
check_gone
