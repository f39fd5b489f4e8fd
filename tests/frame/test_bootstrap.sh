# ./bootstrap on a project of three files: a configure that writes a Makefile
# that writes a xylem. A made-up PATH decides what the system has.
XYLEM=/bin/true
. "$top_srcdir/tests/live/lib.sh"

project=$TMPDIR/project
tools=$TMPDIR/tools
mkdir -p "$project/m4" "$tools"
cp "$top_srcdir/bootstrap" "$project/"
cp "$top_srcdir/m4/packages.m4" "$project/m4/"
touch -d '1 hour ago' "$project/configure.ac" "$project/Makefile.am" \
    "$project/m4/packages.m4"
cat >"$project/configure" <<'TEXT'
#!/bin/sh
echo "configured with: $*"
cat # what it reads here would be missing in the job
mkdir -p commands
echo "fake status" >config.status
printf 'all: commands/xylem\ncommands/xylem: %s\n\t@echo made a xylem\n' \
    "$0" >Makefile
printf '\t@cp %s commands/xylem\ncheck:\n\t@echo tested\nclean:\n' \
    "$(dirname "$0")/fake" >>Makefile
TEXT
touch "$project/Makefile.in"
cat >"$project/fake" <<'TEXT'
#!/bin/sh
echo "in $(pwd): $*"
cat
exit 7
TEXT
chmod +x "$project/configure" "$project/fake"

# stand_in NAME: a command that only says how it was called.
stand_in() {
    printf '#!/bin/sh\n%s\n' "$2" >"$tools/$1"
    chmod +x "$tools/$1"
}
stand_in pkg-config 'case "$*" in *libfabric*) [ -e "$0.fixed" ] ;; esac'
stand_in apt-get 'echo "apt-get $*" >>"$0.log"
touch "${0%/*}/pkg-config.fixed"'
stand_in id 'echo 1000'
stand_in autoreconf 'exit 1'
export PATH=$tools:$PATH
unset XYLEM_BUILD XYLEM_CONFIGURE CC CFLAGS LDFLAGS
boot=$project/bootstrap

it "an ordinary user is told the exact command"
rc=0
"$boot" build >"$out" 2>"$err" || rc=$?
check_eq 1 $rc
check_has "$err" 'missing: libfabric >= 1.11'
check_has "$err" 'sudo apt-get install -y --no-install-recommends libfabric-dev'
check_file '' "$out"
refute test -e "$tools/apt-get.log"

it "root gets them installed"
stand_in id 'echo 0'
check "$boot" build 2>"$err"
check_file 'apt-get install -y --no-install-recommends libfabric-dev
' "$tools/apt-get.log"

it "the first run sets up, and stdin and stdout are the job's alone"
rm -rf "$project/build"
cd "$TMPDIR" || exit 1
rc=0
printf 'for the job\n' | "$boot" run -N 8 'two words' >"$out" 2>"$err" || rc=$?
check_eq 7 $rc
check_file "in $TMPDIR: run -N 8 two words
for the job
" "$out"
check_has "$project/build/bootstrap.log" "made a xylem"

it "the second run is quiet and builds nothing"
printf 'again\n' | "$boot" run x >"$out" 2>"$err"
check_file "in $TMPDIR: run x
again
" "$out"
# A step of two seconds is announced; a slow machine may take so long.
check_file '' <(grep -v '^bootstrap: building (log: ' "$err")
check_lacks "$project/build/bootstrap.log" "made a xylem"

it "a run without arguments is a demo with a stdin of its own"
"$boot" run >"$out" 2>"$err" </dev/null
check_file "in $TMPDIR: run -N 8 --label -- cat -n
one
two
" "$out"

it "a stdin that is closed is no trouble"
"$boot" run x <&- >"$out" 2>"$err"
check_file "in $TMPDIR: run x
" "$out"

it "new options configure again"
XYLEM_CONFIGURE='--enable-werror --x=y' "$boot" build 2>"$err"
check_has "$project/build/bootstrap.log" 'with: --enable-werror --x=y'

it "a build folder elsewhere is taken as seen from here"
XYLEM_BUILD=other "$boot" build 2>"$err"
check test -x "$TMPDIR/other/commands/xylem"

it "check runs the test suite"
check "$boot" check >"$out" 2>"$err"
check_file 'tested
' "$out"

it "a build that fails shows why and ends with 1"
sed -i 's/made a xylem/& badly; exit 3/' "$project/configure"
rc=0
"$boot" run x >"$out" 2>"$err" </dev/null || rc=$?
check_eq 1 $rc
check_has "$err" 'made a xylem badly'
check_file '' "$out"

it "a path with a space is refused by name"
mkdir "$TMPDIR/a b"
cp -r "$project/." "$TMPDIR/a b/"
refute "$TMPDIR/a b/bootstrap" build 2>"$err"
check_has "$err" 'a path with spaces'

it "wrong usage ends with 2"
for words in '' 'walk' 'install'; do
    rc=0
    # shellcheck disable=SC2086 # words
    "$boot" $words >"$out" 2>"$err" || rc=$?
    check_eq 2 $rc
done
