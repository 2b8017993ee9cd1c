// Fetches outputs into the folder of their task, or to where the user asked for them.
#include "runtime/agent/results.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "runtime/agent/pin_owners.h"
#include "runtime/agent/runs.h"
#include "runtime/data/bulk_client.h"
#include "runtime/data/run_on.h"
#include "runtime/data/unpack.h"

namespace abacus {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

bool is_log(const TreeEntry& entry) {
  return entry.path == kLogFolder || entry.path.starts_with(std::string(kLogFolder) + "/");
}

/// What an attempt left: what it printed, and the outputs that its user asked for.
struct Left {
  Manifest logs, outputs;
};

Left split(Manifest tree) {
  Left left;
  for (TreeEntry& entry : tree.entries) (is_log(entry) ? left.logs : left.outputs).entries.push_back(std::move(entry));
  return left;
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
  std::string owner = result_owner(fetch.attempt);
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
  TRY(Manifest tree, load_manifest(store_, fetch.output));
  if (fetch.output_dir.empty()) return unpack(store_, tree, place, room_at(jobs_dir_));
  auto [logs, outputs] = split(std::move(tree));
  TRY_STATUS(unpack(store_, logs, place, room_at(jobs_dir_)));
  return unpack_over(store_, outputs, fetch.output_dir, UINT64_MAX);
}

}  // namespace abacus
