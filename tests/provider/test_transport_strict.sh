# The transport's tests again, over the provider strict.
status=0
for test in test_transport test_transport_end; do
    bash "$top_srcdir/tests/provider/over_strict.sh" \
        "$top_builddir/tests/unit/$test" || status=$?
done
exit $status
