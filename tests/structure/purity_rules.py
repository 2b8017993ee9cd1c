"""base, protocol, core and sim compute the same from the same input, whatever machine, clock or mood."""

import re

from source_tree import line_of, module_of
from violation import Violation

_HEADERS = {
    "clock": ("chrono", "ctime", "time.h", "sys/time.h", "sys/timerfd.h"),
    "entropy": ("random", "sys/random.h", "openssl/rand.h"),
    "threads": ("thread", "mutex", "shared_mutex", "condition_variable", "future", "atomic", "semaphore", "latch",
                "barrier", "stop_token", "pthread.h"),
    "io": ("fstream", "iostream", "cstdio", "stdio.h", "filesystem", "unistd.h", "fcntl.h", "poll.h", "signal.h",
           "csignal", "netdb.h", "sqlite3.h", "sys/socket.h", "sys/stat.h", "sys/epoll.h", "sys/mman.h", "sys/wait.h",
           "netinet/in.h", "netinet/tcp.h", "fmt/os.h", "spawn.h"),
    "unordered": ("unordered_map", "unordered_set", "memory_resource"),
}
_HEADER_FOLDERS = {
    "io": ("boost/asio", "boost/beast", "boost/filesystem", "boost/process", "spdlog/", "openssl/ssl", "prometheus/"),
    "threads": ("boost/thread", "boost/lockfree"),
    "unordered": ("boost/unordered",),
}
_NAMES = {
    "clock": r"\bstd::chrono\b|\b(?:clock_gettime|gettimeofday|localtime\w*|gmtime\w*|strftime)\b"
             r"|\b(?:system|steady|high_resolution)_clock\b|\b(?:std::)?time\s*\(\s*(?:nullptr|NULL|0|&)",
    "entropy": r"\b(?:random_device|mt19937(?:_64)?|getrandom|getentropy|arc4random\w*|RAND_bytes|randombytes_\w+)\b"
               r"|(?<![\w.>])s?rand\s*\(",
    "threads": r"\bstd::(?:j?thread|async|future|promise|atomic\w*|(?:\w+_)?mutex|condition_variable\w*|lock_guard"
               r"|unique_lock|scoped_lock|call_once)\b|\bthread_local\b|\bpthread_\w+",
    "io": r"\bstd::(?:cout|cerr|clog|cin|[io]?fstream|filesystem)\b"
          r"|\b(?:v?f?printf|puts|fputs|fputc|fopen|fread|fwrite)\s*\("
          r"|\bfmt::print\b|(?<![\w.>:])::(?:open|read|write|socket|connect|send|recv|close)\s*\(",
    "environment": r"\b(?:secure_)?getenv\b|\b(?:un)?setenv\b|\benviron\b",
    "unordered": r"\bunordered_(?:multi)?(?:map|set)\b",
    "addresses": r"\bstd::(?:multi)?(?:map|set)\s*<\s*(?:const\s+)?[\w:]+(?:\s+const)?\s*\*|\bu?intptr_t\b",
}
_INSTEAD = {
    "clock": "time comes in as `now`",
    "entropy": "draw from the Prng that the node owns",
    "threads": "this code runs on one thread",
    "io": "describe it as an effect and let the driver do it",
    "environment": "pass configuration in",
    "unordered": "use an ordered container: iteration order must not depend on hashing",
    "addresses": "order by a value, not by where it happens to lie in memory",
    "float-money": "use Money, Price or Fixed",
    "exceptions": "return a Result, or CHECK for a bug",
}
_MONEY_NAME = re.compile(r"money|price|cost|credit|micro_?(?:s\b|per|cr)|\bmicro\b|tariff|budget|balance",
                         re.IGNORECASE)
_FLOATING = re.compile(r"\b(?:float|double)\b")
_PURE = ("base", "protocol", "core", "sim")


def _is_pure(file):
    module = module_of(file.path)
    return file.is_cpp and not file.is_test and module is not None and module.split("/")[0] in _PURE


def _report(rule, file, line, found):
    return Violation(rule, file.path, line, f"{found.strip()}: {_INSTEAD[rule]}")


def check_headers(files):
    """No header that offers clocks, entropy, threads, IO or unordered containers."""
    for file in filter(_is_pure, files):
        for include in file.includes:
            for rule in _INSTEAD:
                if include.name in _HEADERS.get(rule, ()) or include.name.startswith(_HEADER_FOLDERS.get(rule,
                                                                                                         ("\0",))):
                    yield _report(rule, file, include.line, include.name)


def check_names(files):
    """No use of them either, through whatever header they come."""
    for file in filter(_is_pure, files):
        for rule, pattern in _NAMES.items():
            for match in re.finditer(pattern, file.code):
                yield _report(rule, file, line_of(file.code, match.start()), match.group(0))


def check_exceptions(files):
    """core neither throws nor catches."""
    for file in filter(_is_pure, files):
        if module_of(file.path).split("/")[0] != "core":
            continue
        for match in re.finditer(r"\b(?:throw\b|catch\s*\(|try\s*\{)", file.code):
            yield _report("exceptions", file, line_of(file.code, match.start()), match.group(0))


def check_float_money(files):
    """No floating point in a statement that speaks of money; Fixed::to_double is for printing outside."""
    for file in filter(_is_pure, files):
        for match in re.finditer(r"[^;{}]+", file.code):
            floating = _FLOATING.search(match.group(0))
            if floating and _MONEY_NAME.search(match.group(0)):
                yield _report("float-money", file, line_of(file.code, match.start() + floating.start()),
                              floating.group(0))
        if module_of(file.path).split("/")[0] in ("protocol", "core"):
            for match in re.finditer(r"\bto_double\b", file.code):
                yield _report("float-money", file, line_of(file.code, match.start()), match.group(0))
