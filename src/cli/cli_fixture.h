// For tests: commands run as users run them, against an agent of tables.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <sstream>

#include "api/service_fixture.h"
#include "cli/cli.h"
#include "runtime/posix/temporary_directory.h"

namespace abacus {

struct CliResult {
  int code = 0;
  std::string out, err;
};

class CliTest : public testing::Test {
 protected:
  CliTest() {
    setenv("ABACUS_HOME", home_.c_str(), 1);
    unsetenv("ABACUS_AGENT");
    actions_.version = "1.2.3";
    actions_.run_agent = [this](const AgentSettings& settings) {
      agent_settings_ = settings;
      return Status{};
    };
    actions_.org_init = [](const OrgSettings& settings) { return Result<std::string>("made " + settings.name); };
    actions_.join = [](const JoinSettings& settings) { return Result<std::string>("joined at " + settings.host); };
    actions_.make_local_member = [](const LocalMemberSettings&) { return Status{}; };
    actions_.probe_machine = [] { return Result<Capacity>(Capacity{2000, 8ull << 30, 1ull << 40, {}}); };
  }
  CliResult cli(std::vector<std::string> words) {
    std::vector<const char*> argv{"abacus"};
    for (const std::string& word : words) argv.push_back(word.c_str());
    std::ostringstream out, err;
    int code = run_cli(static_cast<int>(argv.size()), argv.data(), actions_, {out, err});
    return {code, out.str(), err.str()};
  }

  /// Starts the agent of tables and names it by ABACUS_AGENT.
  void serve() {
    fake_.start();
    setenv("ABACUS_AGENT", fake_.server.path().c_str(), 1);
  }

  std::string write_file(const std::string& name, const std::string& text) {
    std::ofstream(home_ + "/" + name) << text;
    return home_ + "/" + name;
  }

  TemporaryDirectory directory_;
  std::string home_ = directory_.path();
  CliActions actions_;
  AgentSettings agent_settings_;
  ServedFake fake_;
};

/// The end of a task that came to one by itself.
inline TaskEnd ended_with(EndKind kind, int exit_code = 0, int signal = 0) {
  TaskEnd end;
  end.kind = kind;
  end.exit_code = exit_code;
  end.signal = signal;
  return end;
}

}  // namespace abacus
