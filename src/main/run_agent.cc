// `abacus agent`: an agent, its API and its enrolment service on one loop, until somebody says stop.
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <filesystem>

#include "api/http.h"
#include "api/routes.h"
#include "api/token.h"
#include "cli/places.h"
#include "main/actions.h"
#include "main/agent_service.h"
#include "runtime/agent/agent.h"
#include "runtime/agent/loop_pump.h"
#include "runtime/net/enrolment.h"
#include "runtime/recording/file_recorder.h"

namespace abacus {
namespace {

namespace asio = boost::asio;

Price price_of_hour(Money money) { return {money.micro / 3600}; }

PricingConfig pricing_of(const AgentSettings& settings) {
  PricingConfig pricing;
  if (settings.energy_per_kwh) pricing.tariff_micro_per_kwh = settings.energy_per_kwh->micro;
  if (settings.cpu_per_hour) pricing.cpu_rate = price_of_hour(*settings.cpu_per_hour);
  if (settings.memory_per_gib_hour) pricing.memory_rate = price_of_hour(*settings.memory_per_gib_hour);
  return pricing;
}

Result<AgentOptions> options_of(const AgentSettings& settings) {
  AgentOptions options;
  options.data_dir = settings.data_dir;
  options.listen = settings.listen;
  options.advertise = settings.advertise;
  options.region = settings.region;
  options.contacts = settings.contacts;
  options.limits = settings.limits;
  options.pricing = pricing_of(settings);
  TRY_STATUS(validate(options.pricing));
  std::error_code ignored;
  std::filesystem::create_directories(options.data_dir, ignored);
  TRY(options.capacity, declared_capacity(settings.capacity, settings.data_dir));
  options.log = spdlog::stderr_color_mt("agent");
  options.log->set_level(spdlog::level::from_str(settings.log_level));
  options.log->flush_on(spdlog::level::info);
  return options;
}

/// Everything of one agent program, in the order of construction.
class AgentProgram {
 public:
  Status run(const AgentSettings& settings);

 private:
  Status start(const AgentSettings& settings);
  Status open_recording(const AgentSettings& settings);
  Status serve_api(const AgentSettings& settings);
  void stop(bool end_work);
  asio::awaitable<void> wind_down();

  asio::io_context io_{1};
  Status outcome_;
  std::unique_ptr<FileRecorder> recorder_;
  std::unique_ptr<Agent> agent_;
  std::optional<OrgAuthority> authority_;
  std::unique_ptr<AgentService> service_;
  std::unique_ptr<HttpServer> api_;
  std::shared_ptr<spdlog::logger> log_;
  bool stopping_ = false;
};

Status AgentProgram::run(const AgentSettings& settings) {
  asio::signal_set signals(io_, SIGINT, SIGTERM);
  signals.async_wait([this](const boost::system::error_code& error, int) {
    if (!error) stop(false);
  });
  TRY_STATUS(start(settings));
  io_.run();
  return outcome_;
}

Status AgentProgram::start(const AgentSettings& settings) {
  TRY(AgentOptions options, options_of(settings));
  log_ = options.log;
  options.on_fatal = [this](const Error& error) {
    outcome_ = fail(error);
    io_.stop();
  };
  TRY_STATUS(open_recording(settings));
  options.recorder = recorder_.get();
  TRY(agent_, Agent::start(io_, std::move(options)));
  if (OrgAuthority::lives_in(settings.data_dir)) {
    TRY(OrgAuthority authority, OrgAuthority::load(settings.data_dir, read_clocks().wall));
    authority_ = std::move(authority);
    serve_enrolment(agent_->transport(), *authority_, {agent_->endpoint()});
  }
  service_ = std::make_unique<AgentService>(*agent_, authority_ ? &*authority_ : nullptr,
                                            [this](bool end_work) { stop(end_work); });
  TRY_STATUS(serve_api(settings));
  log_->info("node {} in region '{}' listens on {} and sells {}", agent_->identity().node_id().short_string(),
             agent_->node().config().region, agent_->endpoint().to_string(),
             to_string(agent_->node().config().capacity));
  log_->info("{}", agent_->isolation());
  return {};
}

/// A recording that was damaged while nobody looked does not keep the agent from its work; a wrong name does.
Status AgentProgram::open_recording(const AgentSettings& settings) {
  if (settings.record.empty()) return {};
  auto opened = FileRecorder::open({settings.record, settings.record_max, ABACUS_VERSION, log_});
  if (opened) {
    recorder_ = std::move(*opened);
    return {};
  }
  const Error& error = opened.error();
  if (error.code != ErrorCode::corrupt && error.code != ErrorCode::unsupported) return fail(error.in("record"));
  log_->error("nothing is recorded: {}; move it away or record to another file", error.message);
  return {};
}

Status AgentProgram::serve_api(const AgentSettings& settings) {
  api_ =
      std::make_unique<HttpServer>(io_.get_executor(), make_api_handler(*service_, [] { return read_clocks().wall; }));
  TRY_STATUS(api_->listen_unix(socket_of(settings.data_dir)));
  if (!settings.api_port) return {};
  TRY(std::string token, load_or_make_api_token(token_file_of(settings.data_dir)));
  TRY(Endpoint endpoint, Endpoint::parse(fmt::format("127.0.0.1:{}", *settings.api_port)));
  TRY(Endpoint bound, api_->listen_tcp(endpoint, std::move(token)));
  log_->info("API on http://{}, token in {}", bound.to_string(), token_file_of(settings.data_dir));
  return {};
}

void AgentProgram::stop(bool end_work) {
  if (std::exchange(stopping_, true)) return;
  if (end_work && agent_) agent_->end_all_work();
  asio::co_spawn(io_, wind_down(), asio::detached);
}

asio::awaitable<void> AgentProgram::wind_down() {
  log_->info("stopping; running work goes on and is taken over by the next agent in this directory");
  if (agent_) co_await agent_->leave();
  if (api_) co_await api_->stop(seconds(1));
  io_.stop();
}

}  // namespace

Status run_agent(const AgentSettings& settings) {
  AgentProgram program;
  return program.run(settings);
}

}  // namespace abacus
