"""Plants violations that each structure rule must catch, and clean text that it must let pass."""

import unittest

import layer_rules
import purity_rules
import rules
import size_rules
import text_rules
import wiring_rules
from allowed import Allowed
from cpp_text import Outline, blank_comments_and_strings, classify_brace
from source_tree import SourceFile


def file(path, text):
    return SourceFile(path, text)


def found(rule, *files):
    return [(violation.path, violation.line) for violation in rule(list(files))]


class RuleCase(unittest.TestCase):
    def assert_caught(self, rule, path, text, line=1):
        self.assertIn((path, line), found(rule, file(path, text)), text)

    def assert_clean(self, rule, path, text):
        self.assertEqual([], found(rule, file(path, text)), text)


class Layers(RuleCase):
    def test_upward_and_sideways_includes_are_caught(self):
        for path, header in (
            ("src/base/a.cc", "protocol/offer.h"),
            ("src/protocol/a.h", "core/model/event.h"),
            ("src/core/model/a.cc", "core/driver/driver.h"),
            ("src/core/overlay/a.cc", "core/driver/driver.h"),
            ("src/core/node.cc", "core/driver/driver.h"),
            ("src/core/driver/a.cc", "sim/world.h"),
            ("src/core/overlay/a.cc", "core/pricing/price.h"),
            ("src/core/pricing/a.cc", "core/overlay/views.h"),
            ("src/core/selling/a.cc", "core/buying/buyer.h"),
            ("src/core/buying/a.cc", "core/selling/seller.h"),
            ("src/core/buying/a.cc", "core/node.h"),
            ("src/core/a.cc", "runtime/agent.h"),
            ("src/core/a.cc", "sim/world.h"),
            ("src/runtime/net/a.cc", "sim/network.h"),
            ("src/runtime/a.cc", "api/server.h"),
            ("src/sim/a.cc", "runtime/store/journal.h"),
            ("src/sim/checkers/a_test.cc", "runtime/store/journal.h"),
            ("src/api/a.cc", "sim/world.h"),
            ("src/api/a.cc", "cli/table.h"),
            ("src/cli/a.cc", "main/wiring.h"),
        ):
            with self.subTest(path=path, header=header):
                self.assert_caught(layer_rules.check_layers, path, f'// What.\n#include "{header}"\n', 2)
                self.assert_caught(layer_rules.check_layers, path, f"// What.\n#include <{header}>\n", 2)

    def test_downward_includes_pass(self):
        for path, header in (
            ("src/protocol/a.h", "base/ids.h"),
            ("src/core/driver/a.cc", "core/model/event.h"),
            ("src/core/driver/a.cc", "core/node.h"),
            ("src/core/buying/a.cc", "core/pricing/price.h"),
            ("src/core/buying/a.cc", "core/buying/round.h"),
            ("src/core/node.cc", "core/selling/seller.h"),
            ("src/runtime/agent.cc", "runtime/net/pool.h"),
            ("src/sim/checkers/a.cc", "sim/world.h"),
            ("src/cli/a.cc", "api/client.h"),
            ("src/main/main.cc", "sim/world.h"),
            ("src/base/a.cc", "fmt/format.h"),
            ("tests/integration/a.cc", "sim/world.h"),
        ):
            with self.subTest(path=path, header=header):
                self.assert_clean(layer_rules.check_layers, path, f'// What.\n#include "{header}"\n')

    def test_odd_paths_are_caught(self):
        for include in ('"money.h"', '"../base/money.h"', '"tests/helpers/market.h"'):
            self.assert_caught(layer_rules.check_layers, "src/core/a.cc", f"#include {include}\n")

    def test_commented_include_passes(self):
        self.assert_clean(layer_rules.check_layers, "src/base/a.cc",
                          '// #include "core/node.h"\n/*\n#include "sim/world.h"\n*/')

    def test_library_without_a_place_is_caught(self):
        self.assert_caught(layer_rules.check_layers, "src/core/novelty/a.cc", "")

    def test_beast_in_one_source_file_passes(self):
        self.assert_clean(layer_rules.check_beast, "src/api/http.cc", "#include <boost/beast.hpp>\n")

    def test_beast_twice_or_in_a_header_is_caught(self):
        one, two = (file(f"src/api/{name}.cc", "#include <boost/beast/http.hpp>\n") for name in ("a", "b"))
        self.assertEqual([("src/api/b.cc", 1)], found(layer_rules.check_beast, one, two))
        self.assert_caught(layer_rules.check_beast, "src/api/http.h", "#include <boost/beast.hpp>\n")


class Purity(RuleCase):
    def test_headers_are_caught(self):
        for header in ("chrono", "random", "thread", "mutex", "atomic", "fstream", "cstdio", "unordered_map",
                       "unordered_set",
                       "boost/asio.hpp", "boost/asio/ip/tcp.hpp", "boost/beast.hpp", "spdlog/spdlog.h", "sqlite3.h"):
            for folder in ("base", "protocol", "core/buying", "sim", "sim/checkers"):
                self.assert_caught(purity_rules.check_headers, f"src/{folder}/a.h", f"#include <{header}>\n")

    def test_headers_pass_elsewhere(self):
        for path in ("src/core/a_test.cc", "src/runtime/a.cc", "src/main/a.cc", "tests/unit/a.cc", "bench/a.cc"):
            self.assert_clean(purity_rules.check_headers, path, "#include <chrono>\n#include <thread>\n")
        self.assert_clean(purity_rules.check_headers, "src/core/a.cc", "#include <map>\n#include <vector>\n")

    def test_names_are_caught(self):
        for code in ("auto t = std::chrono::steady_clock::now();", "clock_gettime(CLOCK_MONOTONIC, &ts);",
                     "time(nullptr);",
                     "std::random_device entropy;", "int r = rand();", "randombytes_buf(p, n);", "std::thread t(f);",
                     "std::mutex m;", "std::lock_guard guard(m);", "std::atomic<int> n;", "thread_local int n;",
                     "std::cout << 1;", "printf(text);", "std::ofstream out;", "::write(fd, p, n);", 'getenv("HOME");',
                     "std::unordered_map<int, int> m;", "std::map<Lease*, int> m;", "std::set<const core::Lease*> s;",
                     "auto k = reinterpret_cast<std::uintptr_t>(p);"):
            with self.subTest(code=code):
                self.assert_caught(purity_rules.check_names, "src/core/a.cc", code)

    def test_likenesses_pass(self):
        for code in ("Prng random;", "Duration service_time(Now now);", "// std::thread is banned\n",
                     'fail("time(nullptr)");',
                     "operand(3);", "lease.rand(2);", "std::map<LeaseId, Lease*> m;", "fmt::format(text);",
                     "int threads = 3;",
                     "store.write(row);", "char c = '\"'; int n = 1'000;"):
            with self.subTest(code=code):
                self.assert_clean(purity_rules.check_names, "src/core/a.cc", code)

    def test_exceptions_in_core_only(self):
        for code in ("throw Error{};", "try { f(); } catch (...) {}", "} catch (const E& e) {"):
            self.assert_caught(purity_rules.check_exceptions, "src/core/buying/a.cc", code)
        self.assert_clean(purity_rules.check_exceptions, "src/protocol/a.cc", "try { f(); } catch (...) {}")
        self.assert_clean(purity_rules.check_exceptions, "src/core/a.cc", "int retry{3}; TRY(auto x, f()); // throw\n")

    def test_floating_money_is_caught(self):
        for code in ("double price = 2;", "Money m{static_cast<std::int64_t>(f * double(cost))};",
                     "float budget_left(int n);",
                     "auto x =\n    static_cast<double>(\n  quote.micro_per_s);"):
            with self.subTest(code=code):
                self.assertEqual(1, len(found(purity_rules.check_float_money, file("src/core/a.cc", code))))
        self.assert_caught(purity_rules.check_float_money, "src/core/pricing/a.cc", "auto x = m.to_double();")

    def test_other_floating_point_passes(self):
        for code in ("double x = coordinate.height;", "Money price;\nfloat distance;",
                     '// the price as a double\nfail("float");'):
            self.assert_clean(purity_rules.check_float_money, "src/core/a.cc", code)
        self.assert_clean(purity_rules.check_float_money, "src/sim/report.cc", "auto x = m.to_double();")


class Sizes(RuleCase):
    def test_file_budget(self):
        self.assert_clean(size_rules.check_file_size, "src/a/a.cc", "int x;\n" * 800)
        for path in ("src/a/a.cc", "tests/structure/a.py", "scripts/a.sh"):
            self.assert_caught(size_rules.check_file_size, path, "x = 1\n" * 801, 801)
        self.assert_caught(size_rules.check_file_size, "scripts/test", "#!/bin/bash\n" + ":\n" * 800, 801)
        self.assert_clean(size_rules.check_file_size, "docs/a.md", "text\n" * 801)

    def test_function_budget(self):
        body = "  f();\n" * 68
        self.assert_clean(size_rules.check_function_size, "src/a/a.cc", f"void g() {{\n{body}}}\n")
        for code in (f"void g() {{\n{body}  f();\n}}\n",
                     f"struct S {{\n  int g(int n) const noexcept override {{\n{body}  f();\n}}\n}};\n",
                     f"TEST(Group, Name) {{\n{body}  f();\n}}\n",
                     f"template <class T>\nauto S<T>::g(T t)\n    -> Result<T> {{\n{body}}}\n"):
            with self.subTest(code=code[:40]):
                self.assertEqual(1, len(found(size_rules.check_function_size, file("src/a/a.cc", code))))

    def test_function_budget_of_python(self):
        self.assert_caught(size_rules.check_function_size, "tests/a.py", "def f():\n" + "    g()\n" * 70)
        self.assert_clean(size_rules.check_function_size, "tests/a.py", "def f():\n" + "    g()\n" * 69)

    def test_purpose(self):
        self.assert_clean(size_rules.check_purpose, "src/a/a.h", "// Where offers are kept.\n#pragma once\n")
        for text in ("", "#pragma once\n", "//\n#pragma once\n", "\n// Where offers are kept.\n#pragma once\n",
                     "/* Where offers are kept. */\n#pragma once\n", "// Where offers are kept.\n"):
            self.assert_caught(size_rules.check_purpose, "src/a/a.h", text)
        self.assert_caught(size_rules.check_purpose, "bench/a.cc", "int main() {}\n")


class Outlines(unittest.TestCase):
    def functions(self, code):
        return [(f.name, f.first_line, f.last_line) for f in Outline(blank_comments_and_strings(code)).functions]

    def test_kinds_of_functions(self):
        code = """namespace a::b {
namespace {
std::array<int, 2> table = {1, 2};
int add(int x,
        int y = int{3}) {
  return x + y;
}
}  // namespace
struct S : Base {
  S() : a_{1}, b_(2), c_{f(3)} {
    go();
  }
  S(int n) noexcept : S() {}
  ~S() { close(); }
  bool operator==(const S&) const = default;
  bool operator()(int n) const { return n > 0; }
 private:
  int a_{0};
  std::function<void()> f_ = [] { g(); };
};
enum class E : int { a, b };
}
"""
        self.assertEqual([("add", 4, 7), ("S", 10, 12), ("S", 13, 13), ("~S", 14, 14), ("operator()", 16, 16)],
                         self.functions(code))

    def test_braces_in_literals_comments_and_macros_do_not_count(self):
        code = """#define OPEN \\
  {
int f() {
  const char* s = "}}}";  // }
  char c = '}'; /* } */
  auto r = R"x(}")x";
  return 1'000;
}
int g() { return 2; }
"""
        self.assertEqual([("f", 3, 8), ("g", 9, 9)], self.functions(code))

    def test_lambdas_and_local_types_belong_to_their_function(self):
        code = "void f() {\n  struct L { void m() {} };\n  run([&](int n) {\n    if (n) { g(); }\n  });\n}\n"
        self.assertEqual([("f", 1, 6)], self.functions(code))

    def test_classification(self):
        for header, kind in (("namespace abacus ", "namespace"), ("extern ", "namespace"),
                             ("class [[nodiscard]] R ", "type"),
                             ("template <class T> struct X ", "type"), ("enum class E : std::uint8_t ", "type"),
                             ("int f() ", "function"), ("auto f(int n) -> int ", "function"),
                             ("S() : a_", "initialiser"),
                             ("S() : a_{} ", "function"), ("int x = ", "initialiser"), ("Fixed x", "initialiser"),
                             ("template <class T> T f(T t) requires Good<T> ", "function")):
            with self.subTest(header=header):
                self.assertEqual(kind, classify_brace(header))


class Texts(RuleCase):
    def test_leftovers_are_caught(self):
        for text in ("// TO" "DO: later", "# FIX" "ME", "/* X" "XX */", "HA" "CK around it", 'open("/wo' 'rk/main/a")',
                     "cd /ro" "ot/x",
                     "TEST(A, DIS" "ABLED_b) {}"):
            with self.subTest(text=text):
                self.assert_caught(text_rules.check_text, "docs/a.md", "fine\n" + text + "\n", 2)

    def test_likenesses_pass(self):
        for text in ("mktemp -d /tmp/abacus.XXXXXX", "a/root/b and network/work/", "$HOME/work/abacus",
                     "mastodon todo", "hacking"):
            self.assert_clean(text_rules.check_text, "docs/a.md", text)


class Wiring(RuleCase):
    def test_mutable_globals_are_caught(self):
        for code in ("int counter = 0;", "static std::vector<int> cache;", "std::map<int, std::string> names{{1, a}};",
                     "Node* current;",
                     "inline std::string name = f();", "static Pool pool(4);",
                     "namespace a {\nnamespace {\nbool ready;\n}\n}"):
            with self.subTest(code=code):
                self.assertEqual(1, len(found(wiring_rules.check_globals, file("src/core/a.cc", code))))

    def test_mutable_static_locals_are_caught(self):
        self.assert_caught(wiring_rules.check_globals, "src/core/a.cc",
                           "int next() {\n  static int n = 0;\n  return ++n;\n}\n")

    def test_constants_declarations_and_members_pass(self):
        for code in ("constexpr int kMost = 3;", "const std::string kName = f();",
                     "static constexpr char kDigits[] = x;",
                     "int f(int n);", "Money cost_of(Price price, Duration time);", "struct S;", "using X = int;",
                     "struct S { static int made(); int n = 0; static constexpr int kN = 1; };",
                     "enum class E { a, b };",
                     "template <class T> T f(T t);", "bool operator==(A a, B b) { return true; }",
                     "extern template class S<int>;",
                     "static_assert(sizeof(int) == 4);",
                     "int f() { static const int kN = 3; static constexpr int kM = 4; return kN; }",
                     "__extension__ typedef __int128 Int128;", "#define GLOBAL \\\n  int n = 3;\n",
                     "BOOST_DESCRIBE_STRUCT(Offer, (), (node, region))\nstruct T {};"):
            with self.subTest(code=code):
                self.assert_clean(wiring_rules.check_globals, "src/core/a.cc", code)
        self.assert_clean(wiring_rules.check_globals, "src/core/a_test.cc", "int counter = 0;")

    def test_fixtures_are_tests_and_nothing_else_may_use_frameworks(self):
        fixture = "#include <gtest/gtest.h>\nint open() { static int next = 1; return next++; }\n"
        self.assert_clean(wiring_rules.check_globals, "src/runtime/exec/executor_fixture.h", fixture)
        self.assert_clean(wiring_rules.check_test_frameworks, "src/runtime/exec/executor_fixture.h", fixture)
        self.assert_clean(wiring_rules.check_test_frameworks, "src/base/a_test.cc", fixture)
        for path in ("src/runtime/exec/executor.h", "src/runtime/exec/executor.cc"):
            self.assert_caught(wiring_rules.check_test_frameworks, path, fixture)

    def test_singletons(self):
        self.assert_caught(wiring_rules.check_singletons, "src/core/a.h", "static Config& instance();")
        self.assert_clean(wiring_rules.check_singletons, "src/core/a.h",
                          "Config for_instance(Instance i); // instance()")

    def test_folders_must_be_libraries_and_listed(self):
        source = file("src/core/gang/a.cc", "")
        library = file("src/core/gang/CMakeLists.txt", "abacus_library(core_gang DEPS core_model)")
        listing = file("src/CMakeLists.txt", "set(folders base core/gang core)")
        rule = wiring_rules.check_libraries
        self.assertEqual([], found(rule, source, library, listing))
        self.assertEqual([("src/core/gang/a.cc", 1)], found(rule, source, listing))
        self.assertEqual([("src/core/gang/a.cc", 1)], found(rule, source, library,
                                                            file("src/CMakeLists.txt", "set(folders core)")))
        parent = file("src/core/CMakeLists.txt", "add_subdirectory(gang)")
        self.assertEqual([], found(rule, source, library, parent))

    def test_every_test_must_run(self):
        rule = wiring_rules.check_tests_run
        library = file("src/core/CMakeLists.txt", "abacus_library(core DEPS base)")
        self.assertEqual([], found(rule, file("src/core/a_test.cc", ""), library))
        self.assertEqual([("src/core/a_test.cc", 1)], found(rule, file("src/core/a_test.cc", "")))
        self.assertEqual([("src/core/a_test.py", 1)], found(rule, file("src/core/a_test.py", ""), library))
        named = file("tests/x/CMakeLists.txt", "add_executable(a_test a_test.cc)")
        self.assertEqual([], found(rule, file("tests/x/a_test.cc", ""), named))
        self.assertEqual([("tests/x/b_test.py", 1)], found(rule, file("tests/x/b_test.py", ""), named))


class Exceptions(unittest.TestCase):
    source = file("src/base/a.cc", "// Prints what it must.\nstd::cout << 1;\n")
    library = file("src/base/CMakeLists.txt", "abacus_library(base)")
    listing = file("src/CMakeLists.txt", "set(folders base)")

    def left(self, *allowed):
        return [(v.rule, v.line) for v in rules.violations_in([self.source, self.library, self.listing], allowed)]

    def test_named_line_is_excused(self):
        self.assertEqual([("io", 2)], self.left())
        self.assertEqual([], self.left(Allowed("io", "src/base/a.cc", "std::cout", "a reason")))

    def test_exception_for_something_else_excuses_nothing_and_is_reported(self):
        self.assertEqual([("allowed", 1), ("io", 2)], self.left(Allowed("io", "src/base/a.cc", "std::cerr",
                                                                        "a reason")))
        self.assertEqual([("allowed", 1), ("io", 2)], self.left(Allowed("clock", "src/base/a.cc", "std::cout",
                                                                        "a reason")))

    def test_every_real_exception_has_a_reason(self):
        from allowed import ALLOWED
        for entry in ALLOWED:
            self.assertGreater(len(entry.reason.split()), 3, entry)


if __name__ == "__main__":
    unittest.main()
