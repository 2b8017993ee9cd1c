"""Twenty agents and a batch of tasks while agents are killed, stopped and cut off from each other at random.

ABACUS_LONG=1 takes a large batch and long faults, three times. ABACUS_SEED repeats a run's faults and jobs; when agents
answer remains the machine's affair.
"""

import collections
import os
import random
import time
import unittest

import chaos
import network
import processes
import receipts
import task_lines
import user_view
import verdicts
from market import Market, Place, bound, wait_until

AGENTS, HOSTS = 20, 4
REGIONS = ("north", "north", "south", "far")  # of hosts; agent i is on host i % HOSTS
FAR_HOST = 3
STEADY = 1  # buys, is never killed, and so can count
BUYERS = (STEADY, 2, 5, FAR_HOST)
ABREAST = 20  # tasks of a job
DEFAULT_LOST_AFTER_S = 60
LONG_TASKS = 5
SETTLED_WITHIN_S = 90


class Size:
    """How much of everything."""

    def __init__(self, long):
        self.tasks = 2_000 if long else 400
        self.repeats = 3 if long else 1
        self.stop_s = 20 if long else 7
        self.cut_s = 30 if long else 10
        self.over_s = 75 if long else 16
        self.lost_after_s = 15 if long else 5  # of the impatient jobs
        self.ended_within_s = 240 if long else 90


def is_far(index):
    return index % HOSTS == FAR_HOST


class Job:
    def __init__(self, buyer, job, count, repeat="idempotent", lost_after_s=DEFAULT_LOST_AFTER_S):
        self.buyer = buyer
        self.id = job
        self.count = count
        self.once = repeat == "at_most_once"
        self.lost_after_s = lost_after_s


class ChaosTest(unittest.TestCase):
    def setUp(self):
        self.size = Size(os.environ.get("ABACUS_LONG") == "1")

    def submit(self, buyer, count, sleep_s, **more):
        lost_after_s = more.pop("lost_after_s", DEFAULT_LOST_AFTER_S)
        job = self.market.submit(buyer, command=task_lines.command(sleep_s), array=f"0-{count - 1}", cpu="0.5",
                                 memory="16MiB", environment={"LINES": self.lines_path}, lost_after=lost_after_s,
                                 **more)
        self.views[buyer].watch(job)
        self.jobs[job] = Job(buyer, job, count, more.get("repeat", "idempotent"), lost_after_s)
        return self.jobs[job]

    def lines(self, word):
        return task_lines.by_task(self.lines_path, word)

    def job_of(self, task):
        return self.jobs[task.partition(".")[0]]

    def tasks(self, job):
        return self.market.tasks(job.buyer, job.id)

    # ---- the run

    def begin_long_tasks(self):
        """Work on either side of the coming partition whose buyer is on the other; it outlasts all faults."""
        outlasts_s = self.size.over_s + bound(4)
        self.long = [self.submit(buyer, LONG_TASKS, outlasts_s, regions=[region], lost_after_s=600)
                     for buyer, region in ((STEADY, "far"), (2, "far"), (FAR_HOST, "north"))]
        for job in self.long:
            wait_until(f"all of {job.id} run",
                       lambda job=job: all(task["phase"] == "running" for task in self.tasks(job)), 30)
        time.sleep(verdicts.AWARD_S)

    def hand_in_one(self):
        """A job of a random kind at a random buyer that is there."""
        buyer = self.rng.choice([buyer for buyer in BUYERS if not self.faults.is_out(buyer)] or [None])
        kind = self.rng.choice(({}, {}, {"repeat": "at_most_once"}, {"lost_after_s": self.size.lost_after_s}))
        sleep_s = self.rng.choice((task_lines.SHORT_SLEEP, 1, 4))
        if buyer is None:
            self.agenda.after(0.2, self.hand_in_one)
        else:
            self.submit(buyer, ABREAST, sleep_s, **kind)

    def break_things(self):
        size = self.size
        self.agenda = chaos.Agenda()
        plan = chaos.plan(self.rng, AGENTS, BUYERS, {STEADY}, size.over_s, size.stop_s, size.cut_s)
        self.faults = chaos.Faults(self.market, self.net, is_far, plan, self.agenda)
        for _ in range(size.tasks // ABREAST):
            self.agenda.at(size.over_s * self.rng.random() * self.rng.random(), self.hand_in_one)  # more of them early
        self.agenda.run()

    def wait_for_ends(self):
        end = time.monotonic() + bound(self.size.ended_within_s)
        for job in self.jobs.values():
            self.market.wait_for_job(job.buyer, job.id, max(0, end - time.monotonic()))

    def wait_until_settled(self):
        """All leases are closed and paid on both sides, and nothing but the agents runs."""
        agents = self.market.agents
        wait_until("no lease is left", lambda: not any(
            agent.get("/v1/leases")["leases"] + agent.get("/v1/selling")["leases"] for agent in agents),
            SETTLED_WITHIN_S, self.open_leases)
        running = {agent.process.pid for agent in agents}
        wait_until("nothing but agents runs", lambda: set(processes.marked(self.market.directory)) <= running, 20,
                   lambda: str(processes.marked(self.market.directory)))

    def open_leases(self):
        return "\n".join(f"{i} {kind}: {lease}" for i, agent in enumerate(self.market.agents)
                         for kind, path in (("bought", "/v1/leases"), ("sold", "/v1/selling"))
                         for lease in agent.get(path)["leases"])

    # ---- what must be true afterwards

    def check_ends(self):
        """Every task is in its user's view once, at its end, done; and nothing of that was ever taken back."""
        names = []
        for job in self.jobs.values():
            view = self.market.agents[job.buyer].get(f"/v1/jobs/{job.id}")
            self.assertEqual((view["tasks"], view["succeeded"], view["failed"], view["waiting"], view["placed"]),
                             (job.count, job.count, 0, 0, 0), view)
            for task in self.tasks(job):
                self.assertEqual((task["phase"], task["end"]["kind"], task["end"]["exit_code"]), ("ended", "exited", 0),
                                 task)
                names.append(task["task"])
        self.assertEqual((len(names), len(set(names))), (self.all_tasks(), self.all_tasks()))
        problems = [problem for view in self.views.values() for problem in view.problems]
        self.assertEqual(problems, [], "taken back: " + "\n".join(problems))
        looks = sum(view.asked for view in self.views.values())
        print(f"{len(names)} tasks of {len(self.jobs)} jobs ended once each, watched by {looks} looks")

    def all_tasks(self):
        return sum(job.count for job in self.jobs.values())

    def check_counters(self):
        """Those of agents that were not killed: a buyer counts its tasks, a seller what began there. A process that is
        started for a buyer which has given the award up may be ended before it writes its first line."""
        steady = self.market.agents[STEADY].get("/v1/counters")
        of_steady = sum(job.count for job in self.jobs.values() if job.buyer == STEADY)
        self.assertEqual((steady["tasks_succeeded"], steady["tasks_failed"]), (of_steady, 0), steady)
        begun = collections.Counter(line.node for lines in self.lines("begin").values() for line in lines)
        cut_short = 0
        for i, agent in enumerate(self.market.agents):
            if i not in self.faults.killed:
                counters = agent.get("/v1/counters")
                self.assertEqual(counters["processes_started"], counters["processes_ended"], f"agent {i}: {counters}")
                self.assertLessEqual(begun[agent.node], counters["processes_started"], f"agent {i}: {counters}")
                cut_short += counters["processes_started"] - begun[agent.node]
        print(f"{cut_short} processes of agents that were not killed were ended before their first line")

    def check_long_tasks(self):
        """The partition, and whatever else happened, neither ended them nor began them again."""
        begun, done = self.lines("begin"), self.lines("end")
        for job in self.long:
            for index in range(job.count):
                task = f"{job.id}.{index}"
                self.assertEqual((len(begun[task]), len(done[task])), (1, 1), self.story(task))
                for cut in self.faults.cut:
                    self.assertTrue(begun[task][0].time_s < cut.begun and cut.over < done[task][0].time_s)

    def check_beginnings(self):
        """A task begins again only as verdicts.py allows, and never if it may run once only."""
        rule = verdicts.Rule(self.faults, self.market.index_of)
        excuses, strange = collections.Counter(), []
        for task, lines in self.lines("begin").items():
            job = self.job_of(task)
            for first, second in zip(lines, lines[1:]):
                excuse = None if job.once else rule.excuse(job.buyer, job.lost_after_s, first, second)
                excuses[excuse or "no excuse"] += 1
                if not excuse:
                    strange.append(task)
        print(f"begun again: {dict(excuses) or 'none'}")
        self.assertEqual(strange, [], "begun again" + "".join(self.story(task) for task in strange[:3]))

    def check_costs(self):
        """What a job cost is at least what its tasks ran for, slots being paid from accept to release."""
        for job in self.jobs.values():
            view = self.market.agents[job.buyer].get(f"/v1/jobs/{job.id}")
            self.assertEqual(view["committed_micro"], 0, view)
            # A task that ended at a lease which its buyer's death made it forget costs its user nothing.
            ran = sum(task["cost_micro"] for task in self.tasks(job))
            self.assertGreaterEqual(view["spent_micro"] + job.count, ran, view)
            self.spent[job.id] = view["spent_micro"]

    def check_receipts(self):
        """After the agents' end, by their journals: a job's cost is the sum of its buyer's receipts, each of which its
        seller has too. A lease that only its seller knows was awarded just before its buyer was killed."""
        books = {agent.node: receipts.of(agent.directory) for agent in self.market.agents}
        paid = collections.Counter()
        unknown = 0
        for node, book in books.items():
            for receipt in book.values():
                if receipt.buyer == node:
                    paid[receipt.job] += receipt.owed_micro
                    self.assertEqual(books[receipt.seller].get(receipt.lease), receipt)
                elif receipt.lease not in books[receipt.buyer]:
                    unknown += 1
                    kills = self.faults.killed.get(self.market.index_of(receipt.buyer), [])
                    self.assertTrue(any(kill.begun - verdicts.AWARD_S <= receipt.opened_at_s <= kill.over
                                        + verdicts.AWARD_S for kill in kills), f"its buyer has none: {receipt}")
        self.assertEqual(dict(paid), {job: spent for job, spent in self.spent.items() if spent})
        print(f"{sum(paid.values())} micro-credits paid by {sum(map(len, books.values()))} receipts; "
              f"{unknown} leases forgotten by a killed buyer")

    def story(self, task):
        """All that is known of a task, for a message."""
        lines = "".join(f"{line.word} at agent {self.market.index_of(line.node)} {line.time_s:.3f}\n"
                        for line in task_lines.read(self.lines_path) if line.task == task)
        job = self.job_of(task)
        agents = {job.buyer} | {self.market.index_of(line.node) for line in self.lines("begin")[task]}
        outages = "".join(f"agent {agent} {kind} {outage.begun:.3f} to {outage.over:.3f}\n" for agent in sorted(agents)
                          for kind in ("killed", "stopped")
                          for outage in getattr(self.faults, kind).get(agent, []))
        outages += "".join(f"partition {cut.begun:.3f} to {cut.over:.3f}\n" for cut in self.faults.cut)
        return (f"\n{task} of agent {job.buyer}{', once' if job.once else ''}, lost after {job.lost_after_s} s\n{lines}"
                f"{outages}{self.market.run(job.buyer, 'explain', task).stdout}")

    # ---- all of it

    def once(self, seed):
        print(f"\nABACUS_SEED={seed}")
        self.rng = random.Random(seed)
        self.jobs, self.spent = {}, {}
        with network.Network(HOSTS) as self.net, Market(
                AGENTS, REGIONS, place=lambda i: Place(self.net.hosts[i % HOSTS].address,
                                                       self.net.hosts[i % HOSTS].enter)) as self.market:
            self.lines_path = self.market.shared + "/lines"
            self.views = {buyer: user_view.UserView(self.market.agents[buyer]) for buyer in BUYERS}
            for view in self.views.values():
                view.start()
            self.begin_long_tasks()
            self.break_things()
            print(self.faults.summary())
            self.wait_for_ends()
            for view in self.views.values():
                view.stop()
            self.check_ends()
            self.check_long_tasks()
            self.check_beginnings()
            self.wait_until_settled()
            self.check_counters()
            self.check_costs()
            self.market.end()
            self.check_receipts()

    def test_nothing_is_lost_or_done_twice_whatever_breaks(self):
        seed = int(os.environ.get("ABACUS_SEED", random.SystemRandom().randrange(10**6)))
        for repeat in range(self.size.repeats):
            try:
                self.once(seed + repeat)
            except network.Unavailable as error:
                print(f"not run: {error}")
                self.skipTest(str(error))


if __name__ == "__main__":
    unittest.main()
