// Making an organisation, joining one.
#include <fmt/format.h>

#include "main/actions.h"
#include "runtime/agent/contacts_file.h"
#include "runtime/agent/loop_pump.h"
#include "runtime/devices/capacity_text.h"
#include "runtime/devices/probe.h"
#include "runtime/net/authority.h"
#include "runtime/net/enrolment.h"

namespace abacus {
namespace {

NodeAttributes in_region(const std::string& region) {
  NodeAttributes attributes;
  attributes.region = {region, true};
  return attributes;
}

Capacity to_capacity(const HostInventory& inventory) {
  Capacity capacity{inventory.cpu_milli, inventory.memory_bytes, inventory.disk_bytes, {}};
  for (const DeviceEntry& device : inventory.devices) {
    capacity.devices.push_back({device.kind, device.model, device.count, device.memory_bytes, device.simulated});
  }
  return capacity;
}

HostInventory probe(const std::string& disk_directory) {
  ProbeOptions options;
  options.disk_directory = disk_directory;
  return probe_host(options);
}

}  // namespace

Result<std::string> init_organisation(const OrgSettings& settings) {
  WallTime now = read_clocks().wall;
  TRY(OrgAuthority authority, OrgAuthority::create(settings.data_dir, settings.name, now));
  std::string text = fmt::format("organisation {} ({}) lives in {}\n", settings.name, authority.id().short_string(),
                                 settings.data_dir);
  if (settings.member) {
    TRY(NodeIdentity identity, enrol_directly(authority, settings.data_dir, in_region(settings.region), now));
    text += fmt::format("this machine is its first node, {}\n", identity.node_id().short_string());
  }
  return text + "next: abacus agent, and abacus org token for each machine that is to join\n";
}

Result<std::string> join_organisation(const JoinSettings& settings) {
  TRY(EnrolmentToken token, EnrolmentToken::parse(settings.token));
  TRY(KeyPair key, load_or_make_node_key(settings.data_dir));
  NodeAttributes requested = in_region(settings.region);
  TRY(Enrolment enrolment, enrol_and_wait(settings.host, settings.port, token, key, requested));
  TRY_STATUS(save_certificates(settings.data_dir, enrolment.node, enrolment.organisation));
  TRY_STATUS(save_contacts(settings.data_dir, {{enrolment.contact_node, enrolment.contact}}));
  return fmt::format("node {} is a member of {} now\nnext: abacus agent\n", key.node_id().short_string(),
                     enrolment.organisation.organisation_name());
}

Status make_local_member(const LocalMemberSettings& settings) {
  WallTime now = read_clocks().wall;
  TRY(OrgAuthority authority, OrgAuthority::load(settings.authority_dir, now));
  TRY(NodeIdentity identity, enrol_directly(authority, settings.data_dir, in_region(settings.region), now));
  return {};
}

Result<Capacity> probe_machine() { return to_capacity(probe("/")); }

Result<Capacity> declared_capacity(const std::string& text, const std::string& disk_directory) {
  HostInventory found = probe(disk_directory);
  if (text.empty()) return to_capacity(found);
  TRY(HostInventory declared, apply_capacity(text, found));
  return to_capacity(declared);
}

}  // namespace abacus
