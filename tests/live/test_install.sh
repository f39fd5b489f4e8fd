# What make install puts somewhere works there, also when the tree it was
# configured for is another: all is found from where the program is.
. "$top_srcdir/tests/live/lib.sh"

root=$TMPDIR/moved
stage=$TMPDIR/stage
make -s -C "$top_builddir" install DESTDIR="$stage" >"$TMPDIR/log" 2>&1 || {
    cat "$TMPDIR/log"
    exit 1
}
prefix=$(cd "$stage" && dirname "$(dirname "$(find . -name xylemd)")")
mv "$stage/$prefix" "$root"

it "programs, module, pages and documents are there"
check test -x "$root/bin/xylem"
check test -x "$root/bin/xylemd"
check test -f "$root"/lib*/xylem/xylem_machine.so
check test -f "$root"/lib*/xylem/xylem_ofi.so
helper=$(find "$root" -name xylem-pmix)
check test -n "$helper" -o ! -x "$top_builddir/pmix_api/xylem-pmix"
check test -f "$root/share/doc/xylem/LICENSE"

it "the version is the one of the package"
check_eq "xylem $XYLEM_VERSION" "$("$root/bin/xylem" --version | head -n 1)"
check_eq "xylemd $XYLEM_VERSION" "$("$root/bin/xylemd" --version | head -n 1)"

it "a dvm is asked for a job, with libpmix or without"
"$root/bin/xylem" run --dvm=nobody -- true 2>"$err"
rc=$?
check_eq 1 $rc
check_has "$err" "no dvm nobody runs"

it "an installed xylem needs nothing of the build"
XYLEM=$root/bin/xylem
cd / || exit 1
launch -N 3 --label -- sh -c 'readlink /proc/$PPID/exe >&2; cat' <<<"in"
check_eq 0 $rc
check_file '0: in
1: in
2: in
' <(sort "$out")
refute grep -F "$top_builddir" "$err"
check_gone
