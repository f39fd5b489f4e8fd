# Nodes are lost while the others go on,
# over the provider strict.
# timeout: 600
exec bash "$top_srcdir/tests/provider/over_strict.sh" \
    "$top_srcdir/tests/live/test_loss.py"
