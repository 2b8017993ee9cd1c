"""What a user sees of jobs while agents come and go: asks again and again, and notes whatever is taken back."""

import http.client
import threading
import time

import api_client

_EVERY_S = 0.4
_PATIENCE_S = 3
_NOT_THERE = (OSError, http.client.HTTPException)


class UserView(threading.Thread):
    """Watches the jobs handed in at one agent. `problems` are sentences; empty if nothing was taken back."""

    def __init__(self, agent):
        super().__init__(daemon=True)
        self.problems = []
        self.ends = {}  # task: its end when it was first seen
        self.asked = 0
        self._agent = agent
        self._jobs = []
        self._ended_at = {}
        self._over = threading.Event()

    def watch(self, job):
        """Once the agent has acknowledged the job."""
        self._jobs.append(job)

    def run(self):
        while not self._over.wait(_EVERY_S):
            self.look()

    def stop(self):
        self._over.set()
        self.join()
        self.look()

    def look(self):
        try:
            for job in list(self._jobs):
                self._look_at(job)
                self.asked += 1
        except _NOT_THERE:
            pass

    def _look_at(self, job):
        try:
            view = self._agent.api("GET", f"/v1/jobs/{job}", timeout_s=_PATIENCE_S)
            tasks = self._agent.api("GET", f"/v1/jobs/{job}/tasks?limit=10000", timeout_s=_PATIENCE_S)["tasks"]
        except api_client.ApiError as error:
            self._note(f"job {job} was acknowledged, and then: {error}")
            return
        self._check_job(job, view)
        for task in tasks:
            self._check_task(task)

    def _check_job(self, job, view):
        known = self._ended_at.get(job)
        if known and view["ended_at_ns"] != known:
            self._note(f"job {job} ended at {known}, and then at {view['ended_at_ns']}")
        if view["ended"]:
            self._ended_at.setdefault(job, view["ended_at_ns"])

    def _check_task(self, task):
        name = task["task"]
        end = task["end"] if task["phase"] == "ended" else None
        known = self.ends.get(name)
        if known is not None and end != known:
            self._note(f"{name} ended with {known}, and then was {task['phase']} with {end}")
        if end is not None:
            self.ends.setdefault(name, end)

    def _note(self, problem):
        self.problems.append(f"{time.time():.3f} {self._agent.directory}: {problem}")
