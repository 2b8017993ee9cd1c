// Fetches outputs into the folder of their task, then moves them to where the user asked for them.
#include "runtime/agent/results.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "runtime/agent/runs.h"
#include "runtime/data/bulk_client.h"
#include "runtime/data/run_on.h"
#include "runtime/data/unpack.h"

namespace abacus {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

/// Moves everything but the logs from one directory to another, replacing what is there.
Status move_outputs(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_directories(to, error);
  for (const fs::directory_entry& entry : fs::directory_iterator(from, error)) {
    if (error) break;
    if (entry.path().filename() == kLogFolder) continue;
    fs::copy(entry.path(), to / entry.path().filename(),
             fs::copy_options::recursive | fs::copy_options::overwrite_existing | fs::copy_options::copy_symlinks,
             error);
    if (error) break;
    fs::remove_all(entry.path(), error);
  }
  if (error) return fail(ErrorCode::internal, "cannot put outputs into {}: {}", to.string(), error.message());
  return {};
}

}  // namespace

fs::path Results::task_dir(const TaskId& task) const {
  return jobs_dir_ / task.job.to_string() / std::to_string(task.index);
}

fs::path Results::log_file(const TaskId& task, LogStream stream) const { return task_dir(task) / log_name(stream); }

void Results::act(const FetchOutputs& fetch_outputs) {
  asio::co_spawn(ports_.loop, fetch(fetch_outputs), asio::detached);
}

asio::awaitable<void> Results::fetch(FetchOutputs fetch) {
  std::string owner = "result-" + fetch.attempt.to_string();
  Status status;
  if (fetch.from.node != ports_.self) {
    status = co_await fetch_tree(store_, owner, fetch.output, ports_.bulk_to(fetch.from), ports_.pool);
  }
  if (status) status = co_await run_on(ports_.pool, [&] { return put_in_place(fetch); });
  Status unpinned = co_await run_on(ports_.pool, [&] { return store_.unpin(owner); });
  if (!unpinned) ports_.log->warn("{}", unpinned.error().message);
  ports_.post(OutputsFetched{fetch.attempt, status ? "" : status.error().message});
}

Status Results::put_in_place(const FetchOutputs& fetch) const {
  fs::path place = task_dir(fetch.attempt.task);
  std::error_code error;
  fs::create_directories(place.parent_path(), error);
  fs::remove_all(place, error);  // Of an earlier attempt, or of a placing that was cut short.
  TRY_STATUS(unpack(store_, fetch.output, place));
  if (fetch.output_dir.empty()) return {};
  return move_outputs(place, fetch.output_dir);
}

}  // namespace abacus
