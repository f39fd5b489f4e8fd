"""Deep trees under load in both directions, whose inner daemons die.

What matters around a dead daemon are the data under way there: records that no
node above has yet, and input that no node beneath has yet. So there is much of
both, the processes that read and the reader of the output are slow at times,
and often the daemon beneath the dead one stands still and comes late."""


def shape(draw, plan):
    """The tree, and a job that fills it."""
    nodes = draw.randint(4, 8)
    plan.update(nodes=nodes, per_daemon=1, arity=draw.choice([1, 1, 1, 2]),
                family="local", clients=[], policy="continue",
                heartbeat=draw.choice([3, 5]))
    job = plan["jobs"][0]
    job.update(procs=nodes, ppn=1, profile=draw.choice(["short", "mixed"]),
               style=draw.choice(["label", "json"]), merge=False, leaves=0,
               fails=0, slow="wait", beside="short", whole=60000, span_s=2,
               bytes=draw.randint(200000, 2 << 20),
               reads=draw.choice([["all"], ["all", "slow"], ["all", "late"]]))
    job["stdin"].update(kind="pipe", targets="all", pauses=0,
                        size=draw.randint(4 << 20, 12 << 20))
    job["reader"]["kind"] = draw.choice(["fast", "slow", "late"])


def moment(draw, plan):
    job = plan["jobs"][0]
    on = draw.choice(["fed", "bytes"])
    most = {"fed": job["stdin"]["size"], "bytes":
            job["bytes"] * job["procs"]}[on]
    return {"on": on, "n": draw.randint(1, most // 2), "delay_s":
            draw.choice([0, 0.01, 0.1])}


def faults(draw, plan):
    """Makes one inner daemon die, or two; the reader may pause until then."""
    inner = (plan["nodes"] - 2) // plan["arity"]  # daemons that have children
    for node in sorted(draw.sample(range(inner), draw.randint(1, min(
            2, inner)))):
        when = moment(draw, plan)
        if draw.random() < 0.4:
            yield {"do": "pause", "whom": [["launcher", 0]], "when": when,
                   "for_s": round(draw.uniform(0.5, 3), 2)}
        if draw.random() < 0.6:  # the first child of that daemon
            yield {"do": "stop", "when": when, "for_s": round(
                draw.uniform(0.3, 4), 2), "whom": [
                    ["daemon", (node + 1) * plan["arity"]]]}
        later = dict(when, delay_s=when["delay_s"] + draw.choice(
            [0.02, 0.2, 1]))
        yield {"do": "kill", "whom": [["daemon", node]], "when": later}
