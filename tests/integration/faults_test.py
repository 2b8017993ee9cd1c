"""One fault at a time, and what is promised for it: stopped sellers, bad networks, full disks, damaged journals, wrong
clocks, old certificates."""

import os
import shutil
import signal
import time
import unittest

import api_client
import fake_clock
import network
import own_mounts
import task_lines
from market import Market, Place, bound, must, run_abacus, wait_until

BUYER = 0
HOUR_S = 3600
DAY_S = 24 * HOUR_S


def setUpModule():
    try:
        own_mounts.leave_the_others()
    except own_mounts.Unavailable:
        pass  # FullDiskTest says so.


class FaultsTest(unittest.TestCase):
    """What the tests below share. `self.market` is theirs; tasks note their lines in a file of it."""

    @property
    def lines_path(self):
        return self.market.shared + "/lines"

    def submit(self, count, sleep_s, buyer=BUYER, **more):
        return self.market.submit(buyer, command=task_lines.command(sleep_s), array=f"0-{count - 1}", cpu="0.5",
                                  memory="16MiB", environment={"LINES": self.lines_path}, **more)

    def times(self, word, job):
        """When the tasks of a job wrote such a line, in the order of time."""
        return [line.time_s for line in task_lines.read(self.lines_path) if line.word == word
                and line.task.startswith(job)]

    def enter_network(self, net):
        """For the rest of the test; says so and skips it where there are no namespaces."""
        try:
            self.net = self.enterContext(net)
        except network.Unavailable as error:
            print(f"not run: {error}")
            self.skipTest(str(error))

    def enter_market_on(self, net, regions):
        """A market with an agent on each host of the network, for the rest of the test."""
        self.enter_network(net)
        places = [Place(host.address, host.enter) for host in self.net.hosts]
        self.market = self.enterContext(Market(len(places), regions, place=lambda i: places[i]))

    def wait_until_running(self, job, count, buyer=BUYER):
        wait_until(f"{count} tasks of {job} run", lambda: sum(
            task["phase"] == "running" for task in self.market.tasks(buyer, job)) == count, 20,
            self.market.agents[buyer].log_tail)

    def check_done(self, job, buyer=BUYER, within_s=60):
        """It ends, each task with success; gives its tasks."""
        view = self.market.wait_for_job(buyer, job, within_s)
        self.assertEqual((view["succeeded"], view["failed"]), (view["tasks"], 0), self.market.tasks(buyer, job))
        return self.market.tasks(buyer, job)

    def check_ran_once(self, job, count):
        self.assertEqual((len(self.times("begin", job)), len(self.times("end", job))), (count, count))

    def sellers(self, job):
        return {self.market.index_of(task["seller"]) for task in self.market.tasks(BUYER, job)}


class StoppedSellerTest(FaultsTest):
    """A seller that stands still for longer than suspicion takes."""

    STOPPED, OTHER = 1, 2
    COUNT = 3

    def suspected(self):
        return {node["node"] for node in self.market.agents[BUYER].get("/v1/nodes")["nodes"] if node["suspect"]}

    def place_all_at_the_one(self):
        """Patient and impatient work at the seller that will be stopped; the other one sells nothing meanwhile."""
        other = self.market.agents[self.OTHER]
        other.api("POST", "/v1/drain", {"on": True})
        jobs = [self.submit(self.COUNT, bound(5), regions=["south"], lost_after=lost_after) for lost_after in (60, 4)]
        for job in jobs:
            self.wait_until_running(job, self.COUNT)
            self.assertEqual(self.sellers(job), {self.STOPPED})
        other.api("POST", "/v1/drain", {"on": False})
        return jobs

    def test_it_gets_no_work_and_loses_none_before_its_time(self):
        with Market(3, ("north", "south", "south")) as self.market:
            patient, impatient = self.place_all_at_the_one()
            stopped = self.market.agents[self.STOPPED]
            stopped.signal(signal.SIGSTOP)
            stopped_s = time.time()
            wait_until("the buyer suspects it", lambda: stopped.node in self.suspected(), 20)
            suspected_s = time.time()
            fresh = self.submit(6, 0.1, regions=["south"])
            self.check_done(fresh)
            self.assertEqual(self.sellers(fresh), {self.OTHER})
            # Its processes are not stopped and have ended meanwhile; who does not wait for the news runs them again.
            self.check_done(impatient)
            self.assertEqual(self.sellers(impatient), {self.OTHER})
            begun = self.times("begin", impatient)
            self.assertEqual(len(begun), 2 * self.COUNT)
            self.assertGreaterEqual(begun[self.COUNT], stopped_s + 4, "placed again before lost_after")
            self.assertEqual({task["attempt"] for task in self.market.tasks(BUYER, patient)}, {1})
            stopped.signal(signal.SIGCONT)
            self.check_done(patient)
            self.check_ran_once(patient, self.COUNT)
            self.assertEqual(self.sellers(patient), {self.STOPPED})
            print(f"suspected after {suspected_s - stopped_s:.1f} s, placed again after "
                  f"{begun[self.COUNT] - stopped_s:.1f} s, stopped for {time.time() - stopped_s:.1f} s")


class BadNetworkTest(FaultsTest):
    """Every packet takes its time, and some never arrive."""

    DELAY_S, LOSS = 0.05, 0.03
    COUNT = 12

    def setUp(self):
        self.enter_network(network.BadNetwork(4, self.DELAY_S, self.LOSS))

    def test_tasks_end_and_distances_are_known(self):
        places = [Place(host.address, host.enter) for host in self.net.hosts]
        with Market(4, ("north", "south"), place=lambda i: places[i]) as self.market:
            jobs = [self.submit(self.COUNT, task_lines.SHORT_SLEEP, repeat=repeat, regions=["south"])
                    for repeat in ("idempotent", "at_most_once")]
            for job in jobs:
                self.check_done(job)
            self.check_ran_once(jobs[1], self.COUNT)
            must(self.market.run(BUYER, "run", "--region", "south", "--", "echo", "over the bad network"))
            trips = [node["round_trip_ns"] / 1e9 for node in self.market.agents[BUYER].get("/v1/nodes")["nodes"]
                     if not node["self"]]
            self.assertGreaterEqual(min(trips), 2 * self.DELAY_S * 0.9, trips)
            begun = len(self.times("begin", jobs[0]))
            print(f"{begun} beginnings of {self.COUNT} idempotent tasks, round trips of {min(trips):.2f} to "
                  f"{max(trips):.2f} s")


class OneWayTest(FaultsTest):
    """Two nodes of which one hears the other, and is not heard."""

    SELLER, OTHER = 1, 2
    COUNT = 3
    MUTE_S = 12

    def setUp(self):
        self.enter_market_on(network.Network(3), ("north", "south", "west"))

    def check_work_goes_on(self, muted, deaf):
        """Running work outlives it, at a seller that is not heard or does not hear, and is not begun again; others
        trade on."""
        job = self.submit(self.COUNT, bound(self.MUTE_S / 2), regions=["south"])
        self.wait_until_running(job, self.COUNT)
        self.net.mute(self.net.hosts[muted], [self.net.hosts[deaf]])
        muted_s = time.time()
        elsewhere = self.submit(self.COUNT, 0.1, regions=["west"])
        self.check_done(elsewhere)
        wait_until("the work is done", lambda: len(self.times("end", job)) == self.COUNT, self.MUTE_S)
        time.sleep(max(0.0, muted_s + bound(self.MUTE_S) - time.time()))
        self.net.heal()
        self.check_done(job)
        self.check_ran_once(job, self.COUNT)
        self.assertEqual(self.sellers(job), {self.SELLER})

    def test_a_seller_that_is_not_heard(self):
        self.check_work_goes_on(self.SELLER, BUYER)

    def test_a_seller_that_does_not_hear(self):
        self.check_work_goes_on(BUYER, self.SELLER)


class LateAwardTest(FaultsTest):
    """An award is under way for as long as TCP repeats it, also when its buyer has died meanwhile."""

    AWARDED, OTHER = 1, 2
    HEALED_AFTER_S = 11.5  # The dead buyer's last packets are repeated some 13.5 s after they were sent.

    def setUp(self):
        if os.environ.get("ABACUS_LONG") != "1":
            print("not run: takes long; ABACUS_LONG=1 runs it")
            self.skipTest("takes long")
        self.enter_market_on(network.Network(3), ("north", "south", "south"))

    def award_into_the_partition(self):
        """At once and unasked, since the seller's price was heard just now."""
        self.check_done(self.submit(1, 0.6, regions=["south"], expected_run=5))
        self.net.cut_off([self.net.hosts[self.AWARDED]])
        job = self.submit(1, 5, regions=["south"], expected_run=5, repeat="at_most_once")
        buyer = self.market.agents[BUYER]
        wait_until("it is awarded", lambda: [lease["seller"] for lease in buyer.get("/v1/leases")["leases"]
                                             if lease["job"] == job] == [self.market.agents[self.AWARDED].node], 1,
                   lambda: self.market.run(BUYER, "explain", job).stdout)
        time.sleep(0.1)
        return job

    def test_work_that_may_run_once_is_not_begun_by_an_award_that_its_buyer_gave_up(self):
        buyer, awarded, other = self.market.agents
        other.api("POST", "/v1/drain", {"on": True})
        job = self.award_into_the_partition()
        sent_s = time.time()
        buyer.kill9()
        buyer.restart()
        other.api("POST", "/v1/drain", {"on": False})
        time.sleep(max(0.0, sent_s + self.HEALED_AFTER_S - time.time()))
        self.net.heal()
        self.check_done(job, within_s=120)
        # One that is begun by mistake may be ended before it writes its line; so the sellers' counters are asked.
        time.sleep(5)
        started = [agent.get("/v1/counters")["processes_started"] for agent in (awarded, other)]
        self.assertEqual(sum(started), 2, f"one process for each of two jobs, not {started}: {self.sellers(job)}")


class DamagedJournalTest(FaultsTest):
    """An agent was killed, and its journal is not what it was when it comes back."""

    def setUp(self):
        self.market = self.enterContext(Market(1))
        self.agent = self.market.agents[BUYER]
        self.log = os.path.join(self.agent.directory, "journal.db-wal")
        self.job = self.submit(4, 0.1)
        self.check_done(self.job)
        self.agent.kill9()
        with open(self.log, "rb") as file:
            self.whole = file.read()

    def write_log(self, content):
        with open(self.log, "wb") as file:
            file.write(content)

    def check_refuses(self):
        with self.assertRaises(AssertionError) as refusal:
            self.agent.start()
        for words in (self.agent.directory + "/journal.db", "were committed", "backup"):
            self.assertIn(words, str(refusal.exception))
        self.assertNotEqual(self.agent.process.returncode, 0)

    def test_it_does_not_start_with_less_than_was_committed(self):
        middle = len(self.whole) // 2
        self.write_log(self.whole[:middle] + bytes([self.whole[middle] ^ 1]) + self.whole[middle + 1:])
        self.check_refuses()
        self.write_log(self.whole[:middle])
        self.check_refuses()
        os.remove(self.log)
        self.check_refuses()
        self.write_log(self.whole)
        self.agent.start()
        self.check_done(self.job)


class FullDiskTest(FaultsTest):
    """No byte is free where an agent keeps its data."""

    DISK_BYTES = 16 << 20
    SICK, WELL = 1, 0

    def setUp(self):
        market = Market(2, ("north", "south"))
        self.addCleanup(shutil.rmtree, market.directory, ignore_errors=True)  # It holds a mount until then.
        try:
            self.disk = self.enterContext(own_mounts.SmallDisk(market.agents[self.SICK].directory, self.DISK_BYTES))
        except own_mounts.Unavailable as error:
            print(f"not run: {error}")
            self.skipTest(str(error))
        self.market = self.enterContext(market)
        self.sick = market.agents[self.SICK]

    def check_refuses(self):
        """A job handed in at the agent with the full disk is refused, with the reason."""
        with self.assertRaises(api_client.ApiError) as refusal:
            self.sick.api("POST", "/v1/jobs", {"command": ["true"], "name": "refused"}, timeout_s=20)
        self.assertIn("full", refusal.exception.message)
        self.assertIn("takes nothing on", refusal.exception.message)

    def check_stayed_up_quietly(self):
        self.assertTrue(self.sick.is_up(), self.sick.log_tail())
        self.assertLess(len(self.sick.log().splitlines()), 100, "says it again and again")

    def test_a_buyer_promises_nothing_more_and_keeps_what_it_promised(self):
        job = self.submit(4, bound(3), buyer=self.SICK, regions=["north"])
        self.wait_until_running(job, 4, buyer=self.SICK)
        self.disk.fill()
        self.check_refuses()
        self.check_refuses()
        self.check_stayed_up_quietly()
        self.disk.make_room()
        self.check_done(job, buyer=self.SICK)
        self.check_ran_once(job, 4)
        self.assertEqual([job["name"] for job in self.sick.get("/v1/jobs")["jobs"]], [""])
        wait_until("it buys again", lambda: self.market.run(self.SICK, "run", "--region", "north", "--",
                                                            "true").returncode == 0, 30, self.sick.log_tail)

    def test_work_at_a_seller_is_not_lost(self):
        job = self.submit(4, bound(2), regions=["south"])
        self.wait_until_running(job, 4)
        self.disk.fill()
        further = self.submit(40, 0.1, regions=["south"])
        wait_until("the tasks end", lambda: len(self.times("end", job)) == 4, 20)
        self.check_stayed_up_quietly()
        self.disk.make_room()
        for each, count in ((job, 4), (further, 40)):
            self.check_done(each)
            print(f"{len(self.times('begin', each))} beginnings of {count} tasks at the seller with a full disk")


class ClockTest(FaultsTest):
    """A clock is set while work runs. Monotonic clocks cannot be set; that they stand still for a while is what a
    stopped agent sees."""

    SELLER, OTHER = 1, 2
    PATIENCE_S = 10  # beyond the run, which a buyer pays for at most: its bound on the difference of clocks, doubled

    def setUp(self):
        market = Market(3, ("north", "south", "south"))
        self.addCleanup(shutil.rmtree, market.directory, ignore_errors=True)
        self.clocks = {}
        try:
            for i in (BUYER, self.SELLER):
                self.clocks[i] = fake_clock.FakeClock(os.path.join(market.directory, f"clock{i}"))
        except fake_clock.Unavailable as error:
            print(f"not run: {error}")
            self.skipTest(str(error))
        for i, clock in self.clocks.items():
            market.agents[i].place.env = clock.env
        self.market = self.enterContext(market)

    def run_through(self, step):
        """Two jobs run while `step()` happens: neither is disturbed. Gives their tasks."""
        jobs = [self.submit(4, bound(1.5), regions=["south"], repeat=repeat)
                for repeat in ("idempotent", "at_most_once")]
        for job in jobs:
            self.wait_until_running(job, 4)
        step()
        for job in jobs:
            self.check_done(job)
            self.check_ran_once(job, 4)
            self.check_price(job)

    def check_price(self, job):
        """By the market's prices and this machine's clock: no step makes a job dearer."""
        tasks = self.market.tasks(BUYER, job)
        def view():
            return self.market.agents[BUYER].get(f"/v1/jobs/{job}")
        wait_until("it is settled", lambda: view()["committed_micro"] == 0, 20)
        took_s = max(self.times("end", job)) - min(self.times("begin", job)) + self.PATIENCE_S
        most = sum(task["price_micro_per_s"] for task in tasks) * took_s
        spent = view()["spent_micro"]
        self.assertTrue(0 <= spent <= most, f"{spent}, not at most {most}: {tasks}")

    def test_steps_disturb_no_running_work(self):
        for who in (self.SELLER, BUYER):
            for ahead_s in (HOUR_S, -HOUR_S):
                with self.subTest(agent=who, ahead_s=ahead_s):
                    self.run_through(lambda who=who, ahead_s=ahead_s: self.clocks[who].step(ahead_s))
                    self.clocks[who].step(0)
        must(self.market.run(BUYER, "run", "--region", "south", "--", "true"))


class CertificateTest(FaultsTest):
    """A node's certificate expires while it works. They are good for a year, so the authority's clock stands a year
    back while it signs this one, and then is right again."""

    AUTHORITY, EXPIRING, OTHER = 0, 1, 2
    GOOD_FOR_S = int(bound(10))
    ENDED_BY_ITSELF = 123
    COUNT = 3

    def setUp(self):
        self.market = Market(3, ("north", "south", "south"))
        self.addCleanup(self.market.kill_all)
        try:
            self.clock = fake_clock.FakeClock(os.path.join(self.market.directory, "clock"))
        except fake_clock.Unavailable as error:
            print(f"not run: {error}")
            self.skipTest(str(error))

    def found_a_year_ago(self):
        """The authority's own certificate holds on for an hour, that of the one that joins for GOOD_FOR_S."""
        year_back_s = self.GOOD_FOR_S - 365 * DAY_S
        self.clock.step(year_back_s + HOUR_S - 60)
        authority, expiring, other = self.market.agents
        authority.place.env = self.clock.env
        self.market.found()
        authority.signal(signal.SIGTERM)
        authority.wait_for_end()
        self.clock.step(year_back_s)
        authority.start()
        self.expires_s = time.time() + self.GOOD_FOR_S
        self.market.join(expiring, "south", start=False)
        authority.signal(signal.SIGTERM)
        authority.wait_for_end()
        authority.place.env = {}
        authority.start()
        self.market.join(other, "south")
        expiring.start()
        expiring.node = expiring.get("/v1/info")["node"]
        self.market.wait_until_all_know_all()

    def begin_work_that_outlasts_it(self):
        other = self.market.agents[self.OTHER]
        other.api("POST", "/v1/drain", {"on": True})
        job = self.submit(self.COUNT, self.GOOD_FOR_S + bound(2), regions=["south"])
        self.wait_until_running(job, self.COUNT)
        self.assertEqual(self.sellers(job), {self.EXPIRING})
        self.assertLess(time.time(), self.expires_s - 1, "too slow: it expires before the work began")
        other.api("POST", "/v1/drain", {"on": False})
        return job

    def check_others_take_over(self):
        """Work that leaves output, which has to be fetched from where it ran."""
        fresh = self.market.submit(BUYER, command=["sh", "-c", "echo $ABACUS_TASK_INDEX"], array="0-5", cpu="0.5",
                                   regions=["south"])
        tasks = self.check_done(fresh, within_s=30)
        self.assertEqual((self.sellers(fresh), {task["attempt"] for task in tasks}), ({self.OTHER}, {1}), tasks)

    def check_says_so(self, expiring):
        self.assertIn("expired", expiring.log())
        self.assertIn("abacus join", expiring.log())
        expiring.signal(signal.SIGTERM)
        expiring.wait_for_end()
        again = run_abacus("agent", "--data-dir", expiring.directory, "--listen", expiring.endpoint,
                           env=self.market.env(), timeout_s=20)
        self.assertEqual(again.returncode, self.ENDED_BY_ITSELF)
        for words in ("certificate", "expired", "abacus join"):
            self.assertIn(words, again.stderr)

    def test_it_is_left_alone_until_it_has_joined_again(self):
        self.found_a_year_ago()
        expiring = self.market.agents[self.EXPIRING]
        job = self.begin_work_that_outlasts_it()
        time.sleep(max(0.0, self.expires_s - time.time()) + bound(2))
        self.check_others_take_over()
        wait_until("the work has ended", lambda: len(self.times("end", job)) == self.COUNT, 20)
        self.check_says_so(expiring)
        self.market.join(expiring, "south")
        self.check_done(job)
        self.check_ran_once(job, self.COUNT)
        self.market.end()


if __name__ == "__main__":
    unittest.main()
