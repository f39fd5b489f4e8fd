"""The command line of a job of a plan, and where its files are."""
import os
import sys

import bounds
import odd

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.environ.get("top_builddir") or
                        os.path.join(HERE, "..", "..", "build"))
XYLEM = os.environ.get("XYLEM") or os.path.join(BUILD, "commands", "xylem")
STYLE = {"label": ["--label"], "json": ["--format", "json"], "plain": []}


class Folder:
    """All that a job reads and leaves behind is in one folder."""

    def __init__(self, path):
        self.path = os.path.abspath(path)
        self.tmp = self.at("tmp")
        self.runtime = self.at("runtime")
        self.stats = self.at("stats.json")

    def at(self, *names):
        return os.path.join(self.path, *names)

    def job(self, number):
        return self.at("job.%d.json" % number)

    def journals(self, number):
        return self.at("journal.%d" % number)

    def output(self, number):
        return self.at("out.%d" % number)

    def errors(self, number):
        return self.at("err.%d" % number)

    def outdir(self, number):
        return self.at("files.%d" % number)

    def client(self, number, what):
        return self.at("client.%d.%s" % (number, what))


def writer(folder, number):
    return ["--", sys.executable, "-S", "-E", os.path.join(HERE, "writer.py"),
            folder.job(number), folder.journals(number)]


def tree(plan, folder):
    """The options that say where the daemons run."""
    words = ["-v", "--arity", plan["arity"], "--heartbeat", plan["heartbeat"],
             "--on-node-loss", plan["policy"], "--launch-timeout",
             int(bounds.LAUNCH_S * bounds.SLOW)]
    names = "h[1-%d]" % plan["nodes"]
    if plan["family"] == "far":
        shell = "%s -S -E %s %s" % (sys.executable,
                                    os.path.join(HERE, "far.py"),
                                    folder.at("far"))
        return words + ["--launcher", "ssh", "--rsh", shell, "-w", names,
                        "--interface", "lo", "--topology", "none"]
    if plan["family"] == "network":
        import rig
        return words + ["--launcher", "ssh", "--rsh", rig.Rig.agent, "-w",
                        names, "--topology", "none"]
    return words + ["--launcher", "local", "-N", plan["nodes"],
                    "--nodes-per-daemon", plan["per_daemon"]]


def slow(job, folder):
    if job["slow"] == "spill":
        return ["--stdin-slow", "spill", "--spill-dir", folder.tmp]
    return ["--stdin-slow", "close=2"] if job["slow"] == "close" else []


def shown(job, folder, number):
    """How the output comes out."""
    if job["style"] == "files":
        words = ["--file-only", "--output-dir", folder.outdir(number)]
    else:
        words = STYLE[job["style"]]
    return words + ["--merge-stderr"] * job["merge"] + \
        ["--stddiag"] * job["stddiag"]


def files(plan, folder):
    """The options for the report, and a FIFO that replaces a file."""
    option = odd.option(plan["odd"])
    words = ["--stats", folder.stats] if option != "--stats" else []
    if option:
        words += [option, folder.at("fifo")]
    if plan["odd"] in ("input-fifo", "hostfile-fifo"):
        words += ["--timeout", odd.FIFO_LIMIT_S]
    return words


def run(plan, folder):
    """`xylem run` with a tree of its own."""
    job = plan["jobs"][0]
    targets = job["stdin"]["targets"]
    if "push" in job:
        targets = str(job["push"]["rank"])
    words = tree(plan, folder) + ["--ppn", job["ppn"], "-i", targets] + \
        slow(job, folder) + shown(job, folder, 0) + files(plan, folder)
    if "push" in job and job["push"]["end"] == "stay":
        words.append("--keep-stdin")
    if odd.option(plan["odd"]) == "--hostfile":
        words = ["--launcher", "local", *files(plan, folder), "--", "true"]
    elif plan["odd"] == "too-many":
        words = ["-N", odd.MANY_NODES, "--nodes-per-daemon", 1, "--", "true"]
    else:
        words += writer(folder, 0)
    return [XYLEM, "run", *map(str, words)]


def dvm(plan, folder):
    words = tree(plan, folder) + slow(plan["jobs"][0], folder)
    return [XYLEM, "dvm", *map(str, words)]


def submit(plan, folder, number, pid):
    """`xylem run` in the dvm with this process number."""
    job = plan["jobs"][number]
    words = ["--dvm=%d" % pid, "-v", "--ppn", job["ppn"], "-i",
             job["stdin"]["targets"], *shown(job, folder, number),
             *writer(folder, number)]
    return [XYLEM, "run", *map(str, words)]


def attach(client, pid):
    words = ["-v", "--pid", pid, *STYLE[client["style"]]]
    if client.get("push") is not None:
        words += ["-i", client["push"]]
    if client["ranks"]:
        words += ["--ranks", client["ranks"]]
    return [XYLEM, "attach", *map(str, words)]


def follow_up():
    """The next session of this user here."""
    return [XYLEM, "run", "--launcher", "local", "-N", "1", "--", "true"]
