"""Gives a script a world of its own: namespaces that end with it.

    world.enter()      at the start of main(), before there are threads

The calling script goes on as a process of a new pid namespace, with mounts and
a network of its own, and empty folders in place of /run and of the settings of
ssh and Slurm. When it ends, or dies by whatever signal, the
kernel kills all that was started in there, and networks and mounts go with the
last process. So there is nothing to clean up and nothing that can be forgotten.
"""
import contextlib
import ctypes
import os
import signal
import subprocess
import sys

NEWNS, NEWUTS, NEWIPC = 0x00020000, 0x04000000, 0x08000000
NEWPID, NEWNET = 0x20000000, 0x40000000
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
PR_SET_PDEATHSIG = 1
# Folders of the machine that empty folders hide: nothing in the world reads
# them.
COVERED = "/run", "/etc/ssh", "~/.ssh", "/etc/slurm", "/var/lib/munge"
LIBC = ctypes.CDLL(None, use_errno=True)


def checked(result, what):
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def unshare(flags):
    checked(LIBC.unshare(ctypes.c_int(flags)), "unshare")


def mount(source, target, kind=None, flags=0):
    words = [word and word.encode() for word in (source, target, kind)]
    checked(LIBC.mount(*words, ctypes.c_ulong(flags), None),
            f"mount at {target}")


def join(pid):
    """Moves this process to the host of that one, and stays in its folder."""
    here = os.getcwd()
    for name, flag in ("net", NEWNET), ("uts", NEWUTS), ("mnt", NEWNS):
        with open(f"/proc/{pid}/ns/{name}") as file:
            checked(LIBC.setns(file.fileno(), flag), f"setns to {name}")
    os.chdir(here)


def network_of(pid):
    """Returns the same answer for processes on the same host; None if the
    process has ended."""
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{pid}/ns/net")


def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def status_of(status):
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) \
        else os.WEXITSTATUS(status)


def rule():
    """The first process of the new pid namespace: starts the script, which
    returns from here, and collects processes that end until the script
    does."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)
    script = os.fork()
    if script == 0:
        signal.signal(signal.SIGINT, interrupt)
        return
    while True:
        pid, status = os.wait()
        if pid == script:
            os._exit(status_of(status))


def why_not():
    """Returns the reason why no world can be made here; None when one can."""
    if os.geteuid() != 0:
        return "namespaces need root"
    done = subprocess.run(
        ["unshare", "--pid", "--fork", "--mount-proc", "--net", "--uts",
         "--ipc", "true"], stderr=subprocess.PIPE, text=True, check=False)
    return done.stderr.strip() or "no namespaces" if done.returncode else None


def enter():
    sys.stdout.flush()
    unshare(NEWPID | NEWNS | NEWNET | NEWUTS | NEWIPC)
    init = os.fork()
    if init:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os._exit(status_of(os.waitpid(init, 0)[1]))
    mount(None, "/", None, MS_REC | MS_PRIVATE)
    mount("proc", "/proc", "proc")
    rule()
    for folder in COVERED:
        if os.path.isdir(os.path.expanduser(folder)):
            mount("tmpfs", os.path.expanduser(folder), "tmpfs")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
