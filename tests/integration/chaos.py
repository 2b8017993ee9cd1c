"""Faults drawn from a seed and done to a market: agents killed and restarted, agents stopped, a partition.

`plan` draws; `Faults` carries a plan out and remembers what was done and when, for judging what came of it.
"""

import dataclasses
import functools
import heapq
import itertools
import signal
import time

KILLED, STOPPED = "killed", "stopped"


@dataclasses.dataclass
class Fault:
    kind: str
    agent: int
    at_s: float  # after the start
    for_s: float

    def overlaps(self, other):
        """True if both would be at the same agent at about the same time."""
        gap_s = 0.5
        return (self.agent == other.agent and self.at_s < other.at_s + other.for_s + gap_s
                and other.at_s < self.at_s + self.for_s + gap_s)


@dataclasses.dataclass
class Plan:
    faults: list
    cut_at_s: float
    cut_for_s: float


def plan(rng, agents, buyers, spared, over_s, stop_s, cut_s):
    """A third of the agents is stopped; one is killed every second or so, half of them buyers, but never those that are
    spared; a partition comes early."""
    killable = [[i for i in group if i not in spared] for group in (range(agents), buyers)]
    faults = [Fault(STOPPED, agent, rng.uniform(0, over_s - stop_s), stop_s)
              for agent in rng.sample(range(agents), agents // 3)]
    at_s = rng.uniform(0, 1)
    while at_s < over_s:
        kill = Fault(KILLED, rng.choice(rng.choice(killable)), at_s, rng.uniform(0.2, 2))
        if not any(kill.overlaps(fault) for fault in faults):
            faults.append(kill)
        at_s += rng.uniform(0.5, 1.5)
    return Plan(faults, rng.uniform(1, min(5, over_s - cut_s)), cut_s)


@dataclasses.dataclass
class Outage:
    """Wall-clock seconds in which an agent did nothing, or a partition held; `over` is None while it lasts."""
    begun: float
    over: float | None = None

    def touches(self, time_s, within_s):
        """True if `time_s` lies in it, or at most so far from it."""
        return self.begun - within_s <= time_s <= self.over + within_s


class Agenda:
    """Things to do at their times, one after the other in the caller's thread. Agents must be started there: they die
    with the thread that started them."""

    def __init__(self):
        self._start_s = time.monotonic()
        self._entries = []
        self._number = itertools.count()

    def elapsed_s(self):
        return time.monotonic() - self._start_s

    def at(self, at_s, act):
        heapq.heappush(self._entries, (at_s, next(self._number), act))

    def after(self, wait_s, act):
        self.at(self.elapsed_s() + wait_s, act)

    def run(self):
        """Until nothing is left to be done."""
        while self._entries:
            at_s, _, act = heapq.heappop(self._entries)
            time.sleep(max(0.0, at_s - self.elapsed_s()))
            act()


class Faults:
    """Puts the faults of a plan on an agenda, and remembers when each one really began and ended."""

    def __init__(self, market, network, far, plan_, agenda):
        self.killed = {}  # agent: its outages
        self.stopped = {}
        self.cut = []
        self._market = market
        self._network = network
        self._far = far
        self._agenda = agenda
        for fault in plan_.faults:
            act = self._kill if fault.kind == KILLED else self._stop
            agenda.at(fault.at_s, functools.partial(act, fault.agent, fault.for_s))
        agenda.at(plan_.cut_at_s, functools.partial(self._partition, plan_.cut_for_s))

    def is_out(self, agent):
        """True while it is killed or stopped."""
        return any(outage.over is None for outages in (self.killed, self.stopped)
                   for outage in outages.get(agent, []))

    def outages(self, a, b):
        """When two agents could not speak with each other; a partition counts if it stood between them."""
        of_agents = [outage for agent in {a, b} for outages in (self.killed, self.stopped)
                     for outage in outages.get(agent, [])]
        return of_agents + (self.cut if self._far(a) != self._far(b) else [])

    def summary(self):
        kills = sum(map(len, self.killed.values()))
        cuts = ", ".join(f"{cut.over - cut.begun:.1f} s" for cut in self.cut)
        return f"{kills} kills of {len(self.killed)} agents, {len(self.stopped)} agents stopped, partition of {cuts}"

    def _begin(self, outages, for_s, mend):
        outage = Outage(time.time())
        outages.append(outage)

        def end():
            mend()
            outage.over = time.time()
        self._agenda.after(for_s, end)

    def _kill(self, agent, for_s):
        if self.is_out(agent):
            return  # What was planned before took longer than planned.
        self._begin(self.killed.setdefault(agent, []), for_s, self._market.agents[agent].restart)
        self._market.agents[agent].kill9()

    def _stop(self, agent, for_s):
        if self.is_out(agent):
            return
        signal_it = self._market.agents[agent].signal
        self._begin(self.stopped.setdefault(agent, []), for_s, functools.partial(signal_it, signal.SIGCONT))
        signal_it(signal.SIGSTOP)

    def _partition(self, for_s):
        self._begin(self.cut, for_s, self._network.heal)
        self._network.cut_off([host for i, host in enumerate(self._network.hosts) if self._far(i)])
