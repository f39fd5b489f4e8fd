# --ppn N:core and N:socket, by machines that hwloc has recorded.
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

# Machines of the hosts a, b and c; each says that it was asked.
cat >"$TMPDIR/rsh" <<'EOF'
eval "HWLOC_XMLFILE=\$$1"
export HWLOC_XMLFILE
echo "$1" >>"$TMPDIR/launches"
shift
exec sh -c "$*"
EOF
two=$data/two-sockets.xml one=$data/one-core.xml odd=$data/cut-down.xml
# hosts A B C ARGS...: the files of the three; the launcher's machine is two.
hosts() {
    export a=$1 b=$2 c=$3
    shift 3
    : >"$TMPDIR/launches"
    HWLOC_XMLFILE=$two launch -w a,b,c --rsh "sh $TMPDIR/rsh" --interface lo \
        --arity 1 --label=host "$@"
}
# runs WANT LAUNCHES: the exit code and how many each host ran, and how often
# daemons were started.
runs() {
    check_eq "$1" "$rc $(cut -d : -f 1 "$out" | sort | uniq -c |
        sed 's/^ *\([0-9]*\) \(.*\)/\2:\1/' | paste -sd ' ')"
    check_eq "$2 daemons" "$(wc -l <"$TMPDIR/launches") daemons"
}

it "hosts that are like the launcher's run as many, after one launch"
hosts $two $two $two --ppn 1:socket echo hi
runs "0 a:2 b:2 c:2" 3

it "others run as many as they have, after a second one"
hosts $two $one $odd --ppn 1:core echo hi
runs "0 a:32 b:1 c:3" 6
check_file '' "$err"
hosts $one $odd $two -v --ppn 2:socket echo hi
runs "0 a:2 b:4 c:4" 6
check_has "$err" "the hosts are other machines than was thought"

it "what makes no difference makes no second launch"
hosts $two $two $odd --ppn 1:socket echo hi
runs "0 a:2 b:2 c:2" 3

it "each program counts for itself on hosts that differ, too"
hosts $two $one $odd --ppn 1:socket echo A : --ppn 1 echo B : -n 2 echo C
runs "0 a:5 b:2 c:3" 6
check_eq "5 3 2" "$(for p in A B C; do grep -c $p "$out"; done | paste -sd ' ')"

it "with -n they are filled up to that"
hosts $two $one $odd -n 35 --ppn 1:core sh -c 'echo $XYLEM_RANK'
runs "0 a:32 b:1 c:2" 8
check_has "$out" "b: 32"
hosts $two $one $odd -n 8 -N 3 --ppn 2:socket echo hi
runs "0 a:3 b:2 c:3" 6

it "a wrong wish says what the hosts have"
hosts $odd $odd $odd -n 10 --ppn 1:core true
check_eq "2 4" "$rc $(wc -l <"$TMPDIR/launches")"
check_has "$err" "asked for 10 processes, but 3 nodes with 3 each (--ppn)"
hosts $two $one $odd -n 40 --ppn 1:core true
check_eq 2 $rc
check_has "$err" "asked for 40 processes, but the hosts have room for 36"

it "it may have more than this host has"
export a=$two b=$two c=$two
HWLOC_XMLFILE=$one launch -w a,b,c --rsh "sh $TMPDIR/rsh" --interface lo \
    --label=host -n 90 --ppn 1:core echo hi
check_eq "0 90" "$rc $(grep -c hi "$out")"

it "-n fills hosts to their cores where nobody names slots"
hosts $odd $odd $odd -n 5 echo hi
runs "0 a:3 b:2" 3
hosts $one $odd $two -n 5 echo hi
runs "0 a:1 b:3 c:1" 7

it "without such a wish nobody looks at a machine"
none=$top_srcdir/configure.ac
hosts $none $none $none --ppn 2 echo hi
runs "0 a:2 b:2 c:2" 3
HWLOC_XMLFILE=$none launch -N 2 --ppn 2 -l echo hi
check_eq "0 4" "$rc $(grep -c hi "$out")"
hosts $two $none $two --ppn 1:core echo hi
check_eq 1 $rc
check_has "$err" "b: the topology of this machine cannot be loaded"

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
