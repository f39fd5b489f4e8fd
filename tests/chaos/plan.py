"""A random job and its faults, as plain data that follows from a seed.

    plan.draw("17")      a job on this machine
    plan.draw("n17")     one on hosts of the rig, with faults of the network

A plan is what json can hold:

    seed, family            local (virtual nodes), far (daemons that are no
                            children of the launcher, as with ssh), dvm, network
    mix                     the part of the mix that it was drawn for: a family,
                            or odd, deep (deep.py), open, wide
    odd                     what makes it a job that is to be refused, or to
                            be ended by its --timeout, or how it meets a
                            limit; see odd.py
    nodes, per_daemon, arity, heartbeat, policy
    jobs                    one, or those of the dvm: what writer.py does, and
                            how it is fed and read
    clients                 tools that attach, and how they leave
    faults                  what is done, to whom, when

`when` is a condition on what has been seen: {"on": NAME, "n": NUMBER,
"delay_s": SECONDS}; run.py has the names.
"""
import json

import deep
import odd
import writer

STYLES = ("label", "label", "json", "files", "plain")
LOSSY_STOP = 2  # heartbeats: a shorter stop loses no node


def weighted(draw, **choices):
    """Draws one of the names, each as likely as its number says."""
    return draw.choices(list(choices), list(choices.values()))[0]


def log_uniform(draw, low, high):
    return int(low * (high / low) ** draw.random())


def draw_stdin(draw, procs, is_dvm):
    size = 0 if draw.random() < 0.3 else log_uniform(draw, 1, 8 << 20)
    targets = weighted(draw, all=6, none=1, one=1, some=2)
    if targets == "one" or targets == "some" and is_dvm:
        targets = str(draw.randrange(procs))
    elif targets == "some":
        targets = ",".join(str(rank) for rank in range(procs)
                           if rank == 0 or draw.randrange(2))
    return {"size": size, "targets": targets,
            "kind": weighted(draw, pipe=3, file=2),
            "pauses": draw.choice([0, 0, 10])}


def draw_reads(draw, slow):
    """Draws how processes read: one way for each, out of these."""
    found = draw.choice([["all"], ["all", "slow"], ["all", "late"],
                         ["all", "part", "close"], ["all", "never"],
                         ["slow"], ["late", "all", "close", "part"]])
    return found if slow != "close" else ["all", "late"]


def draw_job(draw, seed, nodes, ppn, plan):
    """The tree is that of the plan."""
    procs = nodes * ppn
    stddiag = draw.random() < 0.2
    small = plan["per_daemon"] > 1 or plan["arity"] > 11 or \
        plan["family"] == "dvm"
    style = draw.choice(STYLES)
    profile = weighted(draw, tiny=10, short=20, mixed=30, edges=15, long=12,
                       huge=4)
    if style == "json" and profile in ("long", "huge"):
        profile = "mixed"
    if style == "plain" and profile in ("long", "huge", "edges", "tiny"):
        profile = "mixed"
    if profile == "long" and procs > 8:
        profile = "edges"
    slow = weighted(draw, wait=6, spill=2, close=1)
    total = log_uniform(draw, 2000, 24 << 20)
    if profile == "tiny":
        total = min(total, 200000)
    return {
        "seed": seed, "procs": procs, "ppn": ppn, "style": style,
        "profile": profile,
        "lead_s": draw.choice([0, 0, 0.3]), "tail_s": draw.choice([0, 0.5]),
        # The third channel is told from the second by the heads of lines.
        "beside": draw.choice(["short", "tiny", "mixed"])
        if not stddiag or style in ("json", "files") else "short",
        "bytes": max(total // procs, 40), "whole": 7000 if small else 60000,
        "merge": draw.random() < 0.1, "stddiag": stddiag,
        "span_s": round(draw.uniform(0.2, 3), 2), "slow": slow,
        "reads": draw_reads(draw, slow),
        "fails": draw.choice([0, 0, 0, 0.15, 1]),
        "leaves": draw.choice([0, 0, 0.3, 1]),
        "stdin": draw_stdin(draw, procs, plan["family"] == "dvm"),
        "reader": {"kind": weighted(draw, fast=6, slow=2, late=2),
                   "late_s": round(draw.uniform(0.2, 3), 2)},
    }


def draw_when(draw, plan):
    """Draws a moment in the launch, in the middle or at the end."""
    job = plan["jobs"][0]
    has_stdin = job["stdin"]["size"] and job["stdin"]["targets"] != "none"
    on = weighted(draw, daemons=2, started=3, bytes=5 * (
        job["style"] != "files"), fed=2 * bool(has_stdin), ended=2)
    most = {"daemons": plan["nodes"] // plan["per_daemon"],
            "started": job["procs"], "ended": job["procs"],
            "fed": max(job["stdin"]["size"], 1),
            "bytes": job["bytes"] * job["procs"]}[on]
    if on in ("started", "ended"):
        count = draw.choice([1, most, draw.randint(1, most)])
    else:
        count = draw.randint(1, max(most * 3 // 4, 1))
    return {"on": on, "n": count, "delay_s": draw.choice(
        [0, 0, round(draw.random() * 0.05, 3),
         round(draw.random() * job["span_s"] / 4, 2)])}


def draw_whom(draw, plan):
    """Draws the processes to kill, several at once."""
    def node():
        return draw.randrange(plan["nodes"])
    kind = weighted(draw, daemon=30, spawner=20, both=8, daemons=8, launcher=4,
                    above=3, helper=6, pair=3, spawners=3, subset=5,
                    starter=3 if plan["family"] == "far" else 0,
                    client=15 if plan["clients"] else 0,
                    submit=20 if plan["family"] == "dvm" else 0,
                    shell=4 if plan["family"] == "far" else 0)
    some = node()
    return {
        "daemon": [["daemon", some]], "spawner": [["spawner", some]],
        "both": [["daemon", some], ["spawner", some]],
        "daemons": [["daemon", node()] for _ in range(draw.randint(2, 4))],
        "launcher": [["launcher", 0]], "above": [["above", 0]],
        "helper": [["helper", 0]],
        "pair": [["launcher", 0], ["helper", 0]],
        "spawners": [["spawner", n] for n in range(plan["nodes"])] +
                    [["above", 0]] * draw.randrange(2),
        "subset": [[who, 0 if who != "daemon" and who != "spawner" else some]
                   for who in draw.sample(
                       ["launcher", "above", "daemon", "spawner", "helper"],
                       draw.randint(2, 4))],
        "submit": [["submit", some]],
        "client": [["client", n] for n in range(len(plan["clients"]))],
        "starter": [["starter", some]], "shell": [["shell", some]],
    }[kind]


def draw_stop(draw, plan):
    who = weighted(draw, daemon=8, daemons=2, launcher=2, spawner=2, helper=2,
                   above=1, submit=3 if plan["family"] == "dvm" else 0,
                   shell=1 if plan["family"] == "far" else 0,
                   client=3 if plan["clients"] else 0)
    whom = [[who, draw.randrange(plan["nodes"]) if who != "client" else
             draw.randrange(len(plan["clients"]))]]
    if who == "daemons":
        whom = [["daemon", draw.randrange(plan["nodes"])] for _ in range(3)]
    beat = plan["heartbeat"]
    for_s = round(draw.uniform(0.05, min(LOSSY_STOP * beat, 6)), 2)
    if who in ("daemon", "daemons", "launcher") and beat <= 3 and \
            draw.random() < 0.5:
        for_s = None
    return {"do": "stop", "whom": whom, "for_s": for_s}


def draw_network_fault(draw, plan):
    """Draws faults between hosts; number 0 is the launcher's, n that of node n
    - 1."""
    kind = weighted(draw, link=3, drop=3, reset=4, port=2, icmp=1, host=1,
                    half=2, flap=2, mtu=1, slow=2)
    count, beat = plan["nodes"] + 1, plan["heartbeat"]
    one, other = draw.sample(range(count), 2)
    if draw.random() < 0.5:  # a child and its parent
        one = draw.randrange(1, count)
        other = (one - 1) // plan["arity"]
    fault = {"do": kind, "a": one, "b": other, "both": draw.random() < 0.4,
             "for_s": None if draw.random() < 0.4 else
             round(draw.uniform(0.2, LOSSY_STOP * beat), 2)}
    if kind == "half":
        side = draw.sample(range(1, count), draw.randint(1, count - 1))
        fault["side"] = sorted(side)
    if kind == "flap":
        fault.update(times=draw.randint(2, 6),
                     for_s=round(draw.uniform(0.1, beat / 2), 2))
    if kind == "mtu":
        fault.update(size=draw.choice([576, 800, 1280]), for_s=None)
    if kind == "slow":
        fault.update(mbit=draw.choice([20, 50, 200]), for_s=None)
    return fault


def draw_faults(draw, plan):
    count = draw.choices(range(6), [20, 45, 20, 8, 4, 3])[0]
    for job in plan["jobs"]:
        job["span_s"] = max(job["span_s"], 1)
        if plan["family"] == "network":  # the job sees what the fault causes
            job["tail_s"] = draw.choice([0.5, 1.5, 3])
    for _ in range(count):
        if plan["family"] == "network" and draw.random() < 0.85:
            fault = draw_network_fault(draw, plan)
        elif draw.random() < 0.3:
            fault = draw_stop(draw, plan)
        elif draw.random() < 0.15:
            fault = {"do": weighted(draw, leave=2, term=2, pause=3),
                     "whom": [["launcher", 0]]}
            if fault["do"] == "pause":
                fault["for_s"] = round(draw.uniform(0.1, 4), 2)
        else:
            fault = {"do": "kill", "whom": draw_whom(draw, plan)}
        fault["when"] = draw_when(draw, plan)
        yield fault


def draw_clients(draw, plan):
    """Lines are whole where tools attach: what they get is easy to judge."""
    job = plan["jobs"][0]
    if draw.random() < 0.7 or job["profile"] in ("long", "huge", "edges") or \
            job["style"] == "files":
        return
    job.update(span_s=max(job["span_s"], 2), lead_s=1)
    for _ in range(draw.randint(1, 3)):
        yield {"style": draw.choice(["label", "json"]),
               "ranks": draw.choice([None, str(draw.randrange(job["procs"]))]),
               "when": {"on": "started", "n": 1,
                        "delay_s": round(draw.random(), 2)},
               "end": weighted(draw, stay=4, leave=2, kill=2, stop=1, shut=1),
               "end_s": round(draw.uniform(0.1, 3), 2)}


def draw_push(draw, plan):
    """Draws a tool that pushes to one process, which nothing else feeds."""
    job = plan["jobs"][0]
    size = log_uniform(draw, 1, 1 << 20)
    job["stdin"].update(size=0, kind="pipe", targets="all")
    job["push"] = {"rank": draw.randrange(job["procs"]), "size": size,
                   "end": draw.choice(["stay", "kill"]),
                   "end_s": round(draw.uniform(0, 2), 2)}
    job["reads"] = ["all"]


def draw_tree(draw, family):
    """Draws the number of nodes, and their shape."""
    nodes = weighted(draw, one=1, few=6, many=3)
    nodes = {"one": 1, "few": draw.randint(2, 6),
             "many": draw.randint(7, 14)}[nodes]
    if family == "network":  # more than one way leads to the root
        return draw.randint(3, 8), 1, draw.choice([1, 2, 2, 3])
    if family == "far":
        nodes = min(nodes, 8)
    per_daemon = draw.choice([1, 1, 1, 2, 3, 4]) if family in (
        "local", "dvm") else 1
    return nodes, min(per_daemon, nodes), draw.choice([1, 2, 2, 3, 4, 16])


def make_open(draw, plan):
    """Draws a job with many lines that stay unfinished at the same time: the
    memory that daemons use for them is bounded."""
    nodes = draw.choice([1, 1, 1, 2, 3])
    plan.update(nodes=nodes, per_daemon=draw.choice([1, nodes]), arity=2,
                family="local", clients=[], heartbeat=10)
    ppn = draw.randint(160, 220) // nodes
    whole = 60000 if plan["per_daemon"] == 1 else 7000
    job = plan["jobs"][0]
    job.update(ppn=ppn, procs=ppn * nodes, profile="open", style="label",
               merge=False, stddiag=True, reads=["never"], leaves=0,
               bytes=draw.choice([whole, whole, draw.randint(1000, whole)]),
               whole=whole, span_s=4, fails=0)
    job["stdin"].update(size=0, targets="none")
    job["reader"]["kind"] = "fast"


def make_wide(draw, plan):
    """Many virtual nodes in few daemons."""
    nodes = draw.randint(24, 100)
    plan.update(nodes=nodes, family="local", heartbeat=10,
                per_daemon=draw.choice([nodes, nodes // 2, nodes // 3 + 1]),
                arity=draw.choice([2, 4, 16, 32, 64]))
    job = plan["jobs"][0]
    job.update(procs=nodes, ppn=1, whole=7000, stddiag=False, leaves=0,
               profile=draw.choice(["tiny", "short", "mixed"]),
               style=draw.choice(["label", "json", "files"]),
               bytes=draw.choice([100, 1000, 10000]))
    job["stdin"].update(targets="all", size=min(job["stdin"]["size"], 1 << 20))


def draw_odd(draw, plan):
    """Jobs that go on may have faults, too."""
    plan["odd"] = draw.choice([*odd.REFUSED, *odd.CARRIED_OUT])
    job = plan["jobs"][0]
    if odd.option(plan["odd"]) == "--input":
        job["stdin"]["kind"] = "fifo"
    if not odd.option(plan["odd"]) and plan["odd"] not in odd.REFUSED and \
            draw.randrange(2):
        plan["faults"] = list(draw_faults(draw, plan))


def draw_family(draw, name):
    """Draws the kind of the job, and its tree."""
    network = name.startswith("n")
    family = "network" if network else weighted(
        draw, local=44, far=23, dvm=13, odd=9, deep=6, open=3, wide=2)
    plan = {"seed": name, "mix": family, "family": "local" if family in (
        "odd", "deep", "open", "wide") else family, "odd": None, "clients": [],
        "faults": []}
    nodes, per_daemon, arity = draw_tree(draw, plan["family"])
    plan.update(nodes=nodes, per_daemon=per_daemon, arity=arity,
                heartbeat=draw.choice([3, 5] if network else [3, 5, 10]),
                policy=weighted(draw, **{"continue": 7, "abort": 3}))
    return family, plan


def draw(name):
    """Makes the plan of a seed, a text: always the same plan."""
    draw_ = writer.chance("plan", name)
    family, plan = draw_family(draw_, name)
    ppn = draw_.choice([1, 1, 1, 2, 3])
    count = draw_.randint(1, 3) if family == "dvm" else 1
    plan["jobs"] = [draw_job(draw_, "%s.%d" % (name, number), plan["nodes"],
                             ppn, plan) for number in range(count)]
    if family == "odd":
        draw_odd(draw_, plan)
        return plan
    if family == "deep":
        deep.shape(draw_, plan)
        plan["faults"] = list(deep.faults(draw_, plan))
        return plan
    if family == "open":
        make_open(draw_, plan)
        if draw_.random() < 0.7:
            return plan
    elif family == "wide":
        make_wide(draw_, plan)
    else:
        plan["clients"] = list(draw_clients(draw_, plan))
    plan["faults"] = list(draw_faults(draw_, plan))
    if family in ("local", "far") and draw_.random() < 0.1:
        draw_push(draw_, plan)
    return plan


def dump(plan, path):
    with open(path, "w") as file:
        json.dump(plan, file, indent=1, sort_keys=True)
        file.write("\n")


def load(path):
    with open(path) as file:
        return json.load(file)


def tell_when(when):
    return "%s >= %d + %g s" % (when["on"], when["n"], when["delay_s"])


def tell_fault(fault):
    """Describes a plan in one line."""
    words = [fault["do"]]
    if "whom" in fault:
        words.append("+".join("%s %d" % tuple(who) for who in fault["whom"]))
    words += ["%s=%s" % (name, fault[name]) for name in sorted(fault)
              if name not in ("do", "whom", "when")]
    return " ".join(words) + " when " + tell_when(fault["when"])


def tell(plan):
    """Describes a plan for a reader, in several lines."""
    yield "seed %(seed)s: %(family)s, %(nodes)d nodes, %(per_daemon)d to a " \
        "daemon, arity %(arity)d, heartbeat %(heartbeat)d s, %(policy)s" % plan
    if plan["odd"]:
        yield "  odd: " + plan["odd"]
    for job in plan["jobs"]:
        yield "  job: %(procs)d processes, %(profile)s lines, %(bytes)d " \
            "bytes each, %(style)s, stdin %(stdin)s, %(slow)s" % job
    for client in plan["clients"]:
        yield "  client: %(style)s, ranks %(ranks)s, %(end)s" % client
    for fault in plan["faults"]:
        yield "  fault: " + tell_fault(fault)
