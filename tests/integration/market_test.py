"""Twenty agents, five hundred tasks, a seller and a buyer killed on the way."""

import collections
import time
import unittest

import task_lines
from market import Market, bound, wait_until

BUYER_KILLED, BUYER = 0, 1
AGENTS = 20
LONG_TASKS = 6
LONG_S = bound(8)
# Buyer, tasks, and more of the job. The first three are handed in before the kills, the others after the restarts.
SHORT_JOBS = ((BUYER, 160, {}), (BUYER_KILLED, 120, {}), (BUYER_KILLED, 40, {"repeat": "at_most_once"}),
              (BUYER, 84, {}), (BUYER_KILLED, 84, {}))
ALL_TASKS = sum(count for _, count, _ in SHORT_JOBS) + 2 * LONG_TASKS
DOWN_S = 1.5
NEAR_A_KILL_S = bound(2)


class MarketTest(unittest.TestCase):
    def submit(self, buyer, count, sleep_s, **more):
        return self.market.submit(buyer, command=task_lines.command(sleep_s), array=f"0-{count - 1}", cpu="0.5",
                                  memory="16MiB", environment={"LINES": self.lines_path}, **more)

    def lines(self, word):
        """When each task wrote a line that begins with `word`: its times, ascending."""
        return {task: [line.time_s for line in lines]
                for task, lines in task_lines.by_task(self.lines_path, word).items()}

    def may_begin_again(self, task, times):
        """Idempotent work may, whose first run fell into the moment when an agent died: an award then leaves before it
        is durable, and one that nobody remembers is made again."""
        strict = any(task.startswith(job) for job in self.at_most_once)
        return not strict and any(abs(times[0] - killed_s) < NEAR_A_KILL_S for killed_s in self.kills)

    def story(self, task):
        """All that is known of a task, for a message."""
        with open(self.lines_path) as file:
            lines = "".join(line for line in file if line.split()[1] == task)
        buyer = next(buyer for buyer, job, _ in self.jobs if task.startswith(job))
        return f"\n{task} of agent {buyer}\n{lines}{self.market.run(buyer, 'explain', task).stdout}"

    def kill(self, agent):
        self.market.agents[agent].kill9()
        self.kills.append(time.time())

    def wait_until_begun(self, job, count):
        wait_until(f"{count} tasks of {job} run", lambda: sum(t.startswith(job) for t in self.lines("begin")) >= count,
                   30)

    def running(self, buyer, job):
        return {t["task"]: t["seller"] for t in self.market.tasks(buyer, job) if t["phase"] == "running"}

    def ended(self, buyer):
        return {t["task"]: t["end"] for job in self.jobs_of(buyer) for t in self.market.tasks(buyer, job)
                if t["phase"] == "ended"}

    def kill_a_seller(self, job):
        """Kills one that runs a long task of BUYER's; gives its index and those tasks."""
        running = self.running(BUYER, job)
        self.assertEqual(len(running), LONG_TASKS)
        node = collections.Counter(running.values()).most_common()[0][0]
        self.kill(self.market.index_of(node))
        return self.market.index_of(node), [task for task, seller in running.items() if seller == node]

    def check_ends(self):
        """Every task is in its user's view once, at its end, done."""
        ids = []
        for buyer, job, count in self.jobs:
            view = self.market.wait_for_job(buyer, job, 90)
            self.assertEqual((view["tasks"], view["succeeded"], view["failed"], view["waiting"], view["placed"]),
                             (count, count, 0, 0, 0), view)
            tasks = self.market.tasks(buyer, job)
            ids += [task["task"] for task in tasks]
            for task in tasks:
                self.assertEqual((task["phase"], task["end"]["kind"], task["end"]["exit_code"]), ("ended", "exited", 0),
                                 task)
        self.assertEqual((len(ids), len(set(ids))), (ALL_TASKS, ALL_TASKS))
        counters = self.market.agents[BUYER].get("/v1/counters")  # since its start; that of the other buyer was killed
        self.assertEqual(counters["tasks_succeeded"], sum(count for buyer, _, count in self.jobs if buyer == BUYER))

    def jobs_of(self, buyer):
        return [job for owner, job, _ in self.jobs if owner == buyer]

    def hand_in(self, buyer, count, sleep_s, **more):
        job = self.submit(buyer, count, sleep_s, **more)
        self.jobs.append((buyer, job, count))
        if more.get("repeat") == "at_most_once":
            self.at_most_once.append(job)
        return job

    def scenario(self):
        """Gives the tasks that ran while their seller or their buyer was down."""
        long_of_buyer, long_of_killed = (self.hand_in(buyer, LONG_TASKS, LONG_S, regions=["north"])
                                         for buyer in (BUYER, BUYER_KILLED))
        for job in (long_of_buyer, long_of_killed):
            self.wait_until_begun(job, LONG_TASKS)
        for buyer, count, more in SHORT_JOBS[:3]:
            self.hand_in(buyer, count, task_lines.SHORT_SLEEP, **more)
        wait_until("some tasks ended", lambda: len(self.ended(BUYER_KILLED)) >= 10, 30)
        seller, through_seller = self.kill_a_seller(long_of_buyer)
        through_buyer = list(self.running(BUYER_KILLED, long_of_killed))
        self.assertEqual(len(through_buyer), LONG_TASKS)
        ended_before = self.ended(BUYER_KILLED)
        self.kill(BUYER_KILLED)
        self.let_down_pass(through_seller + through_buyer)
        self.market.agents[seller].restart()
        self.market.agents[BUYER_KILLED].restart()
        for buyer, count, more in SHORT_JOBS[3:]:
            self.hand_in(buyer, count, task_lines.SHORT_SLEEP, **more)
        self.check_ends()
        ended_now = self.ended(BUYER_KILLED)
        self.assertEqual({task: ended_now[task] for task in ended_before}, ended_before)
        return through_seller + through_buyer

    def let_down_pass(self, tasks):
        """The agents are down for a while; the tasks that are to run through it are still at work afterwards."""
        time.sleep(DOWN_S)
        done = self.lines("end")
        self.assertEqual([task for task in tasks if task in done], [])

    def test_every_task_ends_once_though_agents_are_killed(self):
        # The buyers are in the south: what must run in the north runs elsewhere than at its buyer.
        regions = ("south", "south", "north", "north", "north")
        with Market(AGENTS, regions, capacity="cpu=4!,memory=512MiB!") as self.market:
            self.lines_path = self.market.shared + "/lines"
            self.jobs, self.at_most_once, self.kills = [], [], []
            ran_through = self.scenario()
            begun, done = self.lines("begin"), self.lines("end")
            self.assertEqual(len(done), ALL_TASKS)
            for task in ran_through:
                self.assertEqual((len(begun[task]), len(done[task])), (1, 1),
                                 f"{task} ran through a restart and was run again")
            again = sorted(task for task, times in begun.items() if len(times) > 1)
            strange = [task for task in again if not self.may_begin_again(task, begun[task])]
            print(f"{len(again)} of {ALL_TASKS} tasks begun again, {len(strange)} without excuse")
            self.assertEqual(strange, [], "begun again" + "".join(self.story(task) for task in strange[:2]))


if __name__ == "__main__":
    unittest.main()
