"""Which tasks may begin a second time, and why: the rule by which a run with faults is judged.

A job with `repeat: at_most_once` has no excuse. A task of another job may begin again in three cases only:

- `award forgotten`: awards leave before they are durable. The buyer was killed within AWARD_S of the first beginning,
  and awards the task again because its journal does not know of the first award.
- `award unanswered`: the buyer gives a silent seller up after some tries, within AWARD_S. One of the two beginnings
  lies within AWARD_S of an outage between the buyer and that beginning's seller, which kept the answer, or the award
  itself, for so long.
- `lost_after`: an outage between the buyer and the seller of the first run lasted for the job's `lost_after` at least
  (outages one after the other count as one), and the second beginning came after that.
"""

from market import bound

AWARD_S = bound(2)


def _longest_silence(outages, begun_s, until_s):
    """Outages that overlap or follow each other within AWARD_S, joined; the first moments of those that touch the
    time from `begun_s` to `until_s`, with their lengths up to it."""
    joined = []
    for outage in sorted(outages, key=lambda o: o.begun):
        if joined and outage.begun <= joined[-1][1] + AWARD_S:
            joined[-1][1] = max(joined[-1][1], outage.over)
        else:
            joined.append([outage.begun, outage.over])
    return max((min(over, until_s) - begun for begun, over in joined if over >= begun_s and begun <= until_s),
               default=0)


class Rule:
    """`faults` are what was done (chaos.Faults); `index_of` gives the agent with a node's id."""

    def __init__(self, faults, index_of):
        self._faults = faults
        self._index_of = index_of

    def excuse(self, buyer, lost_after_s, first, second):
        """Why a task of `buyer` with these two lines of its beginning may have begun again; None if it may not."""
        kills = self._faults.killed.get(buyer, [])
        if any(kill.begun - AWARD_S <= first.time_s <= kill.begun + AWARD_S for kill in kills):
            return "award forgotten"
        for line in (first, second):
            outages = self._faults.outages(buyer, self._index_of(line.node))
            if any(outage.touches(line.time_s, AWARD_S) for outage in outages):
                return "award unanswered"
        outages = self._faults.outages(buyer, self._index_of(first.node))
        if _longest_silence(outages, first.time_s, second.time_s) >= lost_after_s:
            return "lost_after"
        return None
