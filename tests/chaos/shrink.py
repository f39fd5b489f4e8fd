"""The smallest set of faults with which a plan still fails."""
import copy


def without(plan, start, count):
    """The plan without so many of its faults, or of its clients behind them."""
    found = copy.deepcopy(plan)
    both = [*found["faults"], *found["clients"]]
    kept = both[:start] + both[start + count:]
    found["faults"] = [one for one in kept if "do" in one]
    found["clients"] = [one for one in kept if "do" not in one]
    return found


def size(plan):
    return len(plan["faults"]) + len(plan["clients"])


def shrink(plan, fails, tries=3):
    """Takes away what can go, halves first. fails(plan) runs it: one that did
    not fail in so many tries is taken for one that holds."""
    count = max(size(plan) // 2, 1)
    while size(plan) > 0:
        start = 0
        while start < size(plan):
            smaller = without(plan, start, count)
            if size(smaller) < size(plan) and \
                    any(fails(smaller) for _ in range(tries)):
                plan = smaller
            else:
                start += count
        if count == 1:
            break
        count = max(count // 2, 1)
    return plan
