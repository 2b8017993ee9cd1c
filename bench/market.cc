// Starts the agents of a benchmark: one organisation, a scratch folder, an enrolled node for each, one loop for all.
#include "market.h"

#include <sys/resource.h>

#include <boost/asio/co_spawn.hpp>
#include <chrono>
#include <cstdlib>

#include "base/check.h"
#include "noop_executor.h"
#include "runtime/agent/loop_pump.h"
#include "runtime/net/identity.h"
#include "spdlog/sinks/null_sink.h"

namespace abacus::bench {
namespace {

constexpr std::uint64_t kGiB = 1ull << 30;

template <class T>
T must(Result<T> result) {
  CHECK_MSG(result.has_value(), result ? "" : result.error().message);
  return std::move(*result);
}

void enrol(const std::filesystem::path& data_dir, const KeyPair& organisation, const Certificate& certificate) {
  KeyPair key = must(load_or_make_node_key(data_dir));
  WallTime now = read_clocks().wall;
  CertificateContent content{key.public_key(), certificate.organisation_name(), false, {}, now - hours(1),
                             now + hours(24)};
  content.attributes.region = {"bench", true};
  Certificate node = must(sign_certificate(organisation, &certificate, content));
  CHECK(save_certificates(data_dir, node, certificate).has_value());
}

}  // namespace

Market::Market(MarketOptions options) {
  char name[] = "/tmp/abacus-bench-XXXXXX";
  CHECK(mkdtemp(name) != nullptr);
  directory_ = name;
  KeyPair organisation = KeyPair::generate();
  WallTime now = read_clocks().wall;
  Certificate certificate = must(sign_certificate(
      organisation, nullptr, {organisation.public_key(), "bench", true, {}, now - hours(1), now + hours(24)}));
  std::vector<Contact> contacts;
  for (std::size_t i = 0; i < options.agents; ++i) {
    AgentOptions agent;
    agent.data_dir = directory_ / std::to_string(i);
    std::filesystem::create_directories(agent.data_dir);
    enrol(agent.data_dir, organisation, certificate);
    agent.listen = must(Endpoint::parse("127.0.0.1:0"));
    agent.contacts = contacts;
    agent.capacity.cpu_milli = i == 0 && options.sellers_only_first ? 1 : options.cpus_each * 1'000;
    agent.capacity.memory_bytes = 1'024 * kGiB;
    agent.capacity.disk_bytes = 1'024 * kGiB;
    agent.log = std::make_shared<spdlog::logger>("bench", std::make_shared<spdlog::sinks::null_sink_mt>());
    if (options.noop_executor) {
      agent.make_executor = [](boost::asio::any_io_executor loop, const std::filesystem::path&, ExecSink sink) {
        return std::make_unique<NoopExecutor>(std::move(loop), std::move(sink));
      };
    }
    if (options.record) {
      recorders_.push_back(
          must(FileRecorder::open({agent.data_dir / "recording", 8ull << 30, ABACUS_VERSION, agent.log})));
      agent.recorder = recorders_.back().get();
    }
    agents_.push_back(must(Agent::start(io_, std::move(agent))));
    if (contacts.size() < 3) contacts.push_back({agents_.back()->identity().node_id(), agents_.back()->endpoint()});
  }
  bool met = run_until(
      [&] {
        for (const auto& agent : agents_) {
          if (agent->node().overlay().offers(read_clocks().wall).size() < agents_.size()) return false;
        }
        return true;
      },
      60);
  CHECK_MSG(met, "the agents did not find each other within a minute");
}

Market::~Market() {
  for (const auto& agent : agents_) agent->end_all_work();
  double end = seconds_now() + 1;
  run_until([&] { return seconds_now() > end; }, 2);  // The shims of real executors are told, and go.
  agents_.clear();
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

std::uint64_t Market::recorded_bytes() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < recorders_.size(); ++i) {
    sum += std::filesystem::file_size(directory_ / std::to_string(i) / "recording");
  }
  return sum;
}

void Market::submit(std::size_t agent, JobSpec spec, std::function<void()> done) {
  boost::asio::co_spawn(io_, agents_[agent]->submit(std::move(spec), {}),
                        [done = std::move(done)](std::exception_ptr error, Result<JobSubmitted> submitted) {
                          CHECK(!error);
                          CHECK_MSG(submitted.has_value(), submitted ? "" : submitted.error().message);
                          done();
                        });
}

bool Market::all_ended(std::size_t agent) const {
  for (const JobView& job : agents_[agent]->node().buying().jobs(read_clocks(), 100)) {
    if (!job.ended) return false;
  }
  return true;
}

JobSpec noop_job(std::uint32_t tasks) {
  JobSpec spec;
  spec.work.command = {"true"};
  spec.bundle.cpu_milli = 1'000;
  spec.bundle.memory_bytes = 1 << 20;
  spec.expected_run = milliseconds(1);
  spec.is_array = tasks > 1;
  spec.array.last = tasks - 1;
  return spec;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpu_seconds_now() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace abacus::bench
