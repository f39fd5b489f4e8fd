# Runs one test over the provider strict: over_strict.sh TEST [ARGUMENTS...]
#
# The test finds the provider's name in XYLEM_TEST_PROVIDER, and a launcher that
# names it in XYLEM; every process finds the provider itself by
# FI_PROVIDER_PATH. A process may die of a violation where nobody hears it, so
# what strict has reported is looked at in the end, and fails the test too.
set -u

: "${top_srcdir:?run this by make check}"
: "${top_builddir:?run this by make check}"
here=$top_srcdir/tests/provider
[ -e "$top_builddir/tests/provider/.libs/libstrict-fi.so" ] || {
    echo "skipped: no provider strict here: libfabric has no headers for it"
    exit 77
}
report=$(mktemp -d)/report || exit 1
trap 'rm -rf "${report%/*}"' EXIT

export FI_PROVIDER_PATH=$top_builddir/tests/provider/.libs
export XYLEM_TEST_PROVIDER=strict
export XYLEM=$here/xylem_strict.sh
export STRICT_REPORT=$report STRICT_EAGAIN=${STRICT_EAGAIN:-10}

case $1 in
*.py) "${PYTHON:-python3}" "$@" ;;
*.sh) bash "$@" ;;
*) ${XYLEM_TEST_WRAP:-} "$@" ;;
esac
status=$?
if [ -s "$report" ]; then
    sort "$report" | uniq -c
    if grep -qv '^strict: RNR: ' "$report"; then
        echo "strict has caught a violation"
        status=1
    fi
fi
exit $status
