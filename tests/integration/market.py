"""A market of real agents for a test: an organisation, members that join it, processes that are killed and restarted.

Use it as a context manager: at the end it stops what it started and fails the test if any process is left.
"""

import dataclasses
import http.client
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import api_client
import processes

ABACUS = os.environ.get("ABACUS_BIN", "abacus")
SLOW = float(os.environ.get("ABACUS_SLOW", "1"))

# Below the ports that the system gives to outgoing connections: one that is down for a while gets its port back.
_PORTS = (12_000, 32_000)
_LOG_LINES = 15
_GONE_S = 20


def bound(seconds):
    """How long to wait for something that takes well below `seconds` on a machine of two CPUs."""
    return seconds * SLOW


def wait_until(what, condition, within_s, detail=lambda: ""):
    """Asks until `condition()` is true and returns what it gave. Fails, saying `what` and `detail()`."""
    end = time.monotonic() + bound(within_s)
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {bound(within_s):g} s: {what}\n{detail()}")
        time.sleep(0.05)


def run_abacus(*arguments, timeout_s=60, env=None, enter=(), **options):
    """Runs the program to its end, `enter` before its name; stdout and stderr are text in the result."""
    return subprocess.run([*enter, ABACUS, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=bound(timeout_s), env=env, **options)


def must(result):
    if result.returncode != 0:
        raise AssertionError(f"{result.args} ended with {result.returncode}:\n{result.stdout}{result.stderr}")
    return result


def free_port():
    while True:
        port = random.randint(*_PORTS)
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


@dataclasses.dataclass
class Place:
    """Where an agent runs: its address, and what stands before its command line and in its environment there."""
    address: str = "127.0.0.1"
    enter: list = dataclasses.field(default_factory=list)
    env: dict = dataclasses.field(default_factory=dict)


class Agent:
    """One agent: its data directory for the whole test, and its process while it runs."""

    def __init__(self, directory, capacity, options, env, place, binary):
        self.directory = directory
        self.capacity = capacity
        self.options = options
        self.place = place
        self.binary = binary
        self.port = 0
        self.process = None
        self.node = None  # its id, once it was started
        self._env = env

    @property
    def socket_path(self):
        return os.path.join(self.directory, "agent.sock")

    @property
    def endpoint(self):
        return f"{self.place.address}:{self.port}"

    def api(self, method, path, body=None, timeout_s=60):
        return api_client.request(self.socket_path, method, path, body, bound(timeout_s))

    def get(self, path):
        return self.api("GET", path)

    def is_up(self):
        return self.process is not None and self.process.poll() is None

    def log(self):
        try:
            with open(self._log_path(), errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return "(no log)\n"

    def log_tail(self):
        return f"--- {self._log_path()}\n" + "".join(self.log().splitlines(True)[-_LOG_LINES:])

    def start(self):
        """Starts it and waits until it answers. The port is chosen at the first start and kept."""
        for _ in range(10):
            chosen = self.port or free_port()
            self._spawn(chosen)
            wait_until(f"{self.directory} answers or ends", self._answers_or_ended, 30, self.log_tail)
            if self.is_up():
                self.port = chosen
                return
            if self.port or "in use" not in self.log_tail():
                break
        raise AssertionError(f"{self.directory} ended at once with {self.process.returncode}\n{self.log_tail()}")

    def signal(self, number):
        self.process.send_signal(number)

    def wait_for_end(self, within_s=20):
        wait_until(f"{self.directory} ends", lambda: not self.is_up(), within_s, self.log_tail)

    def kill9(self):
        self.signal(signal.SIGKILL)
        self.wait_for_end()

    def restart(self):
        self.start()

    def _log_path(self):
        return self.directory + ".log"  # beside it: some tests fill the disk of the directory

    def _spawn(self, port):
        arguments = [*self.place.enter, self.binary, "agent", "--data-dir", self.directory,
                     "--listen", f"{self.place.address}:{port}", "--capacity", self.capacity, *self.options]
        with open(self._log_path(), "ab") as log:
            self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env={**self._env, **self.place.env},
                                            preexec_fn=processes.die_with_parent, start_new_session=True)

    def _answers_or_ended(self):
        if not self.is_up():
            return True
        try:
            return self.api("GET", "/v1/info")["pid"] == self.process.pid
        except (OSError, http.client.HTTPException):
            return False


class Market:
    """`regions` go round in turn; `options(i)` gives further arguments of the agent with index i, `place(i)` where it
    runs, `binary(i)` the program that it is."""

    def __init__(self, agents=3, regions=("north",), capacity="cpu=4!,memory=512MiB!", options=lambda i: [],
                 place=lambda i: Place(), binary=lambda i: ABACUS):
        self.directory = tempfile.mkdtemp(prefix="abacus-market-")
        self.shared = os.path.join(self.directory, "shared")
        os.mkdir(self.shared)
        self._env = {**os.environ, "ABACUS_HOME": os.path.join(self.directory, "home"), "HOME": self.directory}
        for name in ("ABACUS_AGENT", "ABACUS_AGENT_TOKEN"):
            self._env.pop(name, None)
        self.regions = [regions[i % len(regions)] for i in range(agents)]
        self.agents = [Agent(os.path.join(self.directory, f"a{i}"), capacity, options(i), self._env, place(i),
                             binary(i))
                       for i in range(agents)]

    def __enter__(self):
        try:
            self._found_and_join()
            self.wait_until_all_know_all()
        except BaseException:
            self.kill_all()
            raise
        return self

    def __exit__(self, error_type, _error, _traceback):
        try:
            if error_type is None:
                self.end()
            else:
                print("\n".join(agent.log_tail() for agent in self.agents[:5]))
        finally:
            self.kill_all()

    def env(self, i=None):
        """The environment of a command; with `i`, one that speaks to the agent with that index."""
        return self._env if i is None else {**self._env, "ABACUS_AGENT": self.agents[i].directory}

    def run(self, i, *arguments, timeout_s=60):
        """`abacus ARGUMENTS` as a user of agent i."""
        return run_abacus(*arguments, timeout_s=timeout_s, env=self.env(i))

    def popen(self, i, *arguments):
        return subprocess.Popen([ABACUS, *arguments], env=self.env(i), stdin=subprocess.DEVNULL, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=processes.die_with_parent)

    def submit(self, i, **job):
        return self.agents[i].api("POST", "/v1/jobs", job)["job"]

    def tasks(self, i, job):
        return self.agents[i].get(f"/v1/jobs/{job}/tasks?limit=10000")["tasks"]

    def wait_for_job(self, i, job, within_s=60):
        """Waits for its end and gives its view."""
        def ended():
            view = self.agents[i].get(f"/v1/jobs/{job}?wait_ms=1000")
            return view if view["ended"] else None
        return wait_until(f"job {job} of agent {i} ends", ended, within_s,
                          lambda: f"{self.agents[i].get(f'/v1/jobs/{job}')}\n{self.agents[i].log_tail()}")

    def index_of(self, node):
        return next(i for i, agent in enumerate(self.agents) if agent.node == node)

    def wait_until_all_know_all(self, within_s=30):
        for agent in self.agents:
            wait_until(f"{agent.directory} knows all {len(self.agents)} nodes",
                       lambda: len(agent.get("/v1/nodes")["nodes"]) >= len(self.agents), within_s, agent.log_tail)

    def end(self):
        """Ends agents and what runs there; fails if a process of this market is left."""
        for agent in self.agents:
            if agent.is_up():
                agent.api("POST", "/v1/shutdown", {"end_work": True})
        for agent in self.agents:
            if agent.process:
                agent.wait_for_end()
        left = processes.wait_until_gone(self.directory, bound(_GONE_S))
        if left:
            raise AssertionError("processes are left behind:\n" + "\n".join(f"{p}: {a}" for p, a in left.items()))

    def found(self):
        """Makes the organisation and starts its authority, the first agent."""
        first = self.agents[0]
        must(run_abacus("org", "init", "--name", "test", "--data-dir", first.directory, "--region", self.regions[0],
                        env={**self._env, **first.place.env}))
        self._start(first)

    def join(self, agent, region, token=None, start=True):
        """Makes an agent a member, or a member again, and starts it."""
        token = token or self.token()
        must(run_abacus("join", self.agents[0].endpoint, "--token", token, "--data-dir", agent.directory,
                        "--region", region, env={**self._env, **agent.place.env}, enter=agent.place.enter))
        if start:
            self._start(agent)

    def token(self, uses=1):
        return must(self.run(0, "org", "token", "--quiet", "--uses", str(uses))).stdout.strip()

    def _found_and_join(self):
        self.found()
        others = list(zip(self.agents, self.regions))[1:]
        token = self.token(max(1, len(others)))
        for agent, region in others:
            self.join(agent, region, token)

    @staticmethod
    def _start(agent):
        agent.start()
        agent.node = agent.get("/v1/info")["node"]

    def kill_all(self):
        for agent in self.agents:
            if agent.is_up():
                agent.kill9()
        for _ in range(20):
            left = processes.marked(self.directory)
            if not left:
                break
            processes.kill(left)
            time.sleep(0.05)
        shutil.rmtree(self.directory, ignore_errors=True)
