// A few machines with a notebook on each, real or simulated: what the tests of every port are written against.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "notebook.h"

namespace abacus::conformance {

/// What a task is to do. By itself it ends after `run_time` (zero: at once; below zero: never) with the exit code, or
/// by the signal if that is not 0.
struct Deed {
  Duration run_time;
  int exit_code = 0;
  int signal = 0;
  bool deaf = false;  ///< SIGTERM does not end it.
  bool can_start = true;
};

inline const Deed kForEver{seconds(-1)};

/// A world with machines in it, all up from the beginning. Interface; whatever it left running ends with it.
class Machines {
 public:
  virtual ~Machines() = default;

  /// Who lives there now: another one after each start, and nobody while the machine's agent is stopped.
  virtual Notebook& at(std::size_t machine) = 0;
  /// The same through all its lives, endpoint included.
  virtual Contact contact(std::size_t machine) const = 0;
  virtual OrgId organisation() const = 0;

  /// The agent goes between two instructions, as by kill -9; what it launched stays.
  virtual void stop(std::size_t machine) = 0;
  virtual void start(std::size_t machine) = 0;

  /// From now on nothing can be written any more; or it can again.
  virtual void fill_disks() = 0;
  virtual void empty_disks() = 0;
  /// What watches a lease dies with everything that runs in it.
  virtual void kill_shim(std::size_t machine, const LeaseId& lease) = 0;
  /// The wall clocks of all machines jump.
  virtual void step_wall(Duration by) = 0;

  virtual std::vector<std::string> command(const Deed& deed) = 0;
  /// True once the last deaf deed that was launched cannot hear any more.
  virtual bool is_deaf() = 0;

  /// Lets time pass until `done` holds. False after so long that a world must be broken.
  virtual bool until(const std::function<bool()>& done) = 0;
  /// Lets some time pass, for what is not to happen.
  virtual void a_while() = 0;
};

using MakeMachines = std::unique_ptr<Machines> (*)(std::size_t count);

/// In virtual time, over a network that repeats and reorders.
std::unique_ptr<Machines> simulated_machines(std::size_t count);
/// Whole agents on this machine: TLS over the loopback, journals in temporary folders, processes under shims.
std::unique_ptr<Machines> real_machines(std::size_t count);

/// One world that a suite is run over, named after what carries the port there.
struct Realm {
  const char* name;
  MakeMachines make;
};

inline std::string name_of_realm(const ::testing::TestParamInfo<Realm>& info) { return info.param.name; }
inline void PrintTo(const Realm& realm, std::ostream* out) { *out << realm.name; }

}  // namespace abacus::conformance
