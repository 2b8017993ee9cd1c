// Wiring: the commands of the command line to the parts that carry them out.
#include "cli/cli.h"
#include "main/actions.h"

int main(int argc, char** argv) {
  abacus::CliActions actions;
  actions.version = ABACUS_VERSION;
  actions.run_agent = abacus::run_agent;
  actions.org_init = abacus::init_organisation;
  actions.join = abacus::join_organisation;
  actions.make_local_member = abacus::make_local_member;
  actions.simulate = abacus::simulate;
  actions.probe_machine = abacus::probe_machine;
  return abacus::run_cli(argc, argv, actions);
}
