"""Finds the smallest set of faults with which a plan still fails."""
import copy


def without(plan, start, count):
    """Removes this many faults from the plan, or clients after them."""
    found = copy.deepcopy(plan)
    both = [*found["faults"], *found["clients"]]
    kept = both[:start] + both[start + count:]
    found["faults"] = [one for one in kept if "do" in one]
    found["clients"] = [one for one in kept if "do" not in one]
    return found


def size(plan):
    return len(plan["faults"]) + len(plan["clients"])


def shrink(plan, fails, tries=3):
    """Removes what can be removed, halves first. fails(plan) runs a plan; a
    plan that did not fail in this many tries counts as one that passes."""
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
