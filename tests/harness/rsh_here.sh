# A remote shell that leads to this machine, called as `CMD HOST COMMANDLINE`.
# What it starts finds the host in RSH_HOST.
#
#   RSH_LOG     a file that gets a line `CALLER HOST` for each call
#   RSH_TAP     a file that gets all that is said on stdin to RSH_TAPPED
#   RSH_TAPPED  the host whose stdin goes there
#   RSH_VIA     the port of this machine at which RSH_TAPPED is to find those
#               above it in place of the right one
#   RSH_BAD     hosts that cannot be reached, as `h1 h2`
#   RSH_MUTE    hosts that take the call and never answer
#   RSH_HELD    hosts that wait for a line from the FIFO RSH_GATE, each one
#   RSH_WAYS    a file that gets a line `FROM HOST` for each call; FROM is the
#               host it is made on, `-` the launcher's
#   RSH_CUT     hosts from which none can be reached
#   RSH_STUCK   hosts from which calls are made and never answered
host=$1
from=${RSH_HOST:--}
[ -z "${RSH_WAYS:-}" ] || echo "$from $host" >>"$RSH_WAYS"
case " ${RSH_CUT:-} " in *" $from "*)
    echo "$host: Permission denied" >&2
    exit 255
    ;;
esac
case " ${RSH_STUCK:-} " in *" $from "*) exec tail -f /dev/null ;; esac
export RSH_HOST="$host"
shift
[ -z "${RSH_LOG:-}" ] || echo "$PPID $host" >>"$RSH_LOG"
case " ${RSH_BAD:-} " in *" $host "*)
    echo "connect to host $host: No route to host" >&2
    exit 255
    ;;
esac
case " ${RSH_MUTE:-} " in *" $host "*) exec tail -f /dev/null ;; esac
case " ${RSH_HELD:-} " in *" $host "*) read -r _ <"$RSH_GATE" ;; esac
if [ "$host" = "${RSH_TAPPED:-}" ]; then
    via=${RSH_VIA:+"s/^\(peer [0-9]* \)[^ ]*/\1127.0.0.1:$RSH_VIA/"}
    tee -a "$RSH_TAP" | sed -u "$via" | sh -c "$*"
    exit
fi
exec sh -c "$*"
