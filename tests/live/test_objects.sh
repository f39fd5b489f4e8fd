# --ppn N:core and N:socket, by machines that hwloc has recorded.
# timeout: 120
. "$top_srcdir/tests/live/lib.sh"

data=$top_srcdir/tests/data

# counts WANT MACHINE ARGS...: so many processes run on each node, in order.
counts() {
    local want=$1
    export HWLOC_XMLFILE=$data/$2.xml
    shift 2
    launch "$@" -- sh -c 'echo $XYLEM_NODE $XYLEM_RANK'
    check_eq "0 $want" "$rc $(sort -n "$out" | cut -d ' ' -f 1 | uniq -c |
        sed 's/^ *\([0-9]*\) .*/\1/' | paste -sd ' ')"
    unset HWLOC_XMLFILE
}

it "so many for each socket or core"
counts "2" two-sockets --ppn 1:socket
counts "6 6" two-sockets -N 2 --ppn 3:socket
counts "64" two-sockets --ppn 2:core
counts "16" many-numa --ppn 4:socket
counts "64" many-numa --ppn 1:core
counts "1 1 1" one-core -N 3 --ppn 1:core
counts "5" one-core --ppn 5:socket

it "what a container was not given does not count"
counts "3" cut-down --ppn 1:core
counts "4" cut-down --ppn 2:socket

it "with -n it is what a node takes at most"
counts "2 2 1" two-sockets -n 5 --ppn 1:socket
counts "3 2" two-sockets -n 5 -N 2 --ppn 2:socket
HWLOC_XMLFILE=$data/two-sockets.xml launch -n 5 -N 2 --ppn 1:socket true
check_eq 2 $rc
check_has "$err" "asked for 5 processes, but 2 nodes with 2 each (--ppn)"

it "each program counts for itself"
export HWLOC_XMLFILE=$data/two-sockets.xml
launch -N 2 --ppn 1:socket echo A : --ppn 2 echo B : echo C
check_eq "0 4 4 2" \
    "$rc $(for p in A B C; do grep -c $p "$out"; done | paste -sd ' ')"

# The host b is another machine.
cat >"$TMPDIR/rsh" <<'EOF'
case $1 in
b) export HWLOC_XMLFILE="$ODD" ;;
esac
shift
exec sh -c "$*"
EOF
hosts() {
    launch -w a,b,c --rsh "sh $TMPDIR/rsh" --interface lo --arity 1 "$@"
}

it "hosts that are like the launcher's run as many"
export ODD=$data/two-sockets.xml
hosts --ppn 1:socket -l echo hi
check_eq "0 6" "$rc $(grep -c hi "$out")"

it "one that is not is named, and what it has"
export ODD=$data/one-core.xml
hosts --ppn 1:socket sleep 100
check_eq 1 $rc
check_has "$err" "b: this host has 1 socket with 1 core, not 2 sockets"
check_has "$err" "by which --ppn N:socket counts: give --ppn a number alone"
export ODD=$data/cut-down.xml
hosts --ppn 1:core sleep 100
check_eq 1 $rc
check_has "$err" "b: this host has 2 sockets with 3 cores, not 32 cores"

it "nobody asks a host that runs no program of that kind"
hosts -n 2 --ppn 1:socket echo A : -n 1 echo B
check_eq 0 $rc

it "without such a wish nobody looks at a machine"
export HWLOC_XMLFILE=$top_srcdir/configure.ac ODD=$top_srcdir/configure.ac
hosts --ppn 2 -l echo hi
check_eq "0 6" "$rc $(grep -c hi "$out")"
launch -N 2 --ppn 2 -l echo hi
check_eq "0 4" "$rc $(grep -c hi "$out")"
hosts --ppn 1:core echo hi
check_eq 1 $rc
check_has "$err" "the topology of this machine cannot be loaded"
unset HWLOC_XMLFILE ODD

it "wrong usage is told"
for wrong in 1:thread 1: :core 0:core x:core 1:none 1:core:core 99999:core; do
    launch --ppn $wrong true
    check_eq "2 $wrong" "$rc $wrong"
    check_has "$err" "--ppn takes "
done
HWLOC_XMLFILE=$data/many-numa.xml launch --ppn 16000:core true
check_eq 2 $rc
check_has "$err" "--ppn 16000:core makes 1024000 processes on a node with 64"

it "nothing is left"
check_gone
