"""The rule of verdicts.py, held to its own words: what it excuses, and what lies just outside."""

import types
import unittest

from chaos import Outage
from task_lines import Line
from verdicts import AWARD_S, Rule

BUYER, SELLER, OTHER = 0, 1, 2
LOST_AFTER_S = 60


def faults(killed=None, stopped=None):
    """Outages of agents, by agent; no partition."""
    killed, stopped = killed or {}, stopped or {}
    return types.SimpleNamespace(killed=killed, outages=lambda a, b: [
        outage for agent in {a, b} for of in (killed, stopped) for outage in of.get(agent, [])])


def excuse(told, first, second):
    """Of beginnings given as (agent, time)."""
    lines = [Line("begin", "job.0", str(agent), time_s) for agent, time_s in (first, second)]
    return Rule(told, int).excuse(BUYER, LOST_AFTER_S, *lines)


class VerdictsTest(unittest.TestCase):
    def test_nothing_is_excused_without_a_fault(self):
        self.assertIsNone(excuse(faults(), (SELLER, 100), (OTHER, 101)))

    def test_an_award_that_its_buyers_death_made_it_forget(self):
        told = faults(killed={BUYER: [Outage(100, 103)]})
        for first_s, expected in ((100 - AWARD_S, True), (100 + AWARD_S, True), (99 - AWARD_S, False)):
            with self.subTest(first_s):
                self.assertEqual(excuse(told, (SELLER, first_s), (OTHER, 120)) == "award forgotten", expected)

    def test_an_award_that_was_not_answered(self):
        told = faults(stopped={SELLER: [Outage(100, 110)]})
        self.assertEqual(excuse(told, (SELLER, 100 - AWARD_S), (OTHER, 101)), "award unanswered")
        self.assertEqual(excuse(told, (OTHER, 101), (SELLER, 110)), "award unanswered", "it came to it late")
        self.assertIsNone(excuse(told, (SELLER, 99 - AWARD_S), (OTHER, 101)), "it was answered long before")
        self.assertIsNone(excuse(told, (OTHER, 101), (OTHER, 102)), "somebody else was stopped")

    def test_a_seller_out_of_touch_for_too_long(self):
        told = faults(stopped={SELLER: [Outage(100, 180)]})
        self.assertEqual(excuse(told, (SELLER, 50), (OTHER, 100 + LOST_AFTER_S)), "lost_after")
        self.assertIsNone(excuse(told, (SELLER, 50), (OTHER, 99 + LOST_AFTER_S)), "before its time")
        self.assertIsNone(excuse(faults(stopped={SELLER: [Outage(100, 150)]}), (SELLER, 50), (OTHER, 200)), "too short")
        self.assertIsNone(excuse(faults(stopped={OTHER: [Outage(100, 180)]}), (SELLER, 50), (SELLER, 165)), "elsewhere")

    def test_outages_one_after_the_other_are_one(self):
        told = faults(killed={SELLER: [Outage(100, 130)]}, stopped={SELLER: [Outage(130 + AWARD_S, 170)]})
        self.assertEqual(excuse(told, (SELLER, 50), (OTHER, 165)), "lost_after")


if __name__ == "__main__":
    unittest.main()
