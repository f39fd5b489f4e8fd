# Nothing of PMI or PMIx around the launcher reaches the processes, nor what
# the launcher sets up for tools; what the user names does.
. "$top_srcdir/tests/live/lib.sh"

it "variables of a server above the launcher are not passed on"
PMIX_RANK=3 PMIX_NAMESPACE=above PMIX_SERVER_URI41='x;tcp4://127.0.0.1:1' \
    PMIX_LAUNCHER_RNDZ_URI='x;tcp4://127.0.0.1:1' PMI_FD=7 PMI_RANK=1 \
    PMI2_X=1 PMIXED=kept launch -N 2 -- sh -c 'env | grep ^PMI | sort'
check_eq 0 $rc
check_file 'PMIXED=kept
PMIXED=kept
' "$out"

it "one that is named is"
PMIX_MCA_psec=native launch -N 1 --env PMIX_MCA_psec --env PMI_X=1 -- \
    sh -c 'env | grep ^PMI | sort'
check_eq 0 $rc
check_file 'PMIX_MCA_psec=native
PMI_X=1
' "$out"
check_gone
