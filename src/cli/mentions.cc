// Walks the fields; what holds no id ends the walk.
#include "cli/mentions.h"

namespace abacus {
namespace {

template <class T>
void note(Mentions&, const T&) {}
void note(Mentions& mentions, const JobId& job) {
  if (!job.empty()) mentions.jobs.insert(job);
}
void note(Mentions& mentions, const TaskId& task) {
  mentions.tasks.insert(task);
  mentions.jobs.insert(task.job);
}
void note(Mentions& mentions, const AttemptId& attempt) { note(mentions, attempt.task); }
void note(Mentions& mentions, const LeaseId& lease) {
  if (!lease.empty()) mentions.leases.insert(lease);
}
void note(Mentions& mentions, const TraceContext& trace) {
  if (!trace.trace.empty()) mentions.traces.insert(trace.trace);
}
template <class T>
void note(Mentions& mentions, const std::vector<T>& list);
template <class T>
void note(Mentions& mentions, const std::optional<T>& value);
template <class... T>
void note(Mentions& mentions, const std::variant<T...>& value);
template <codec::Described T>
void note(Mentions& mentions, const T& value);

template <class T>
void note(Mentions& mentions, const std::vector<T>& list) {
  for (const T& item : list) note(mentions, item);
}
template <class T>
void note(Mentions& mentions, const std::optional<T>& value) {
  if (value) note(mentions, *value);
}
template <class... T>
void note(Mentions& mentions, const std::variant<T...>& value) {
  std::visit([&](const auto& held) { note(mentions, held); }, value);
}
template <codec::Described T>
void note(Mentions& mentions, const T& value) {
  boost::mp11::mp_for_each<codec::MembersOf<T>>([&](auto member) { note(mentions, value.*member.pointer); });
}

/// The key of an erased record of this kind; nothing for kinds that this version does not know.
void note_key(Mentions& mentions, const JournalChange& change) {
  constexpr std::size_t kKinds = std::variant_size_v<Record>;
  if (change.kind >= kKinds) return;
  boost::mp11::mp_with_index<kKinds>(change.kind, [&](auto index) {
    using R = std::variant_alternative_t<index.value, Record>;
    using Key = std::remove_cvref_t<decltype(key_of(std::declval<const R&>()))>;
    if (auto key = decode<Key>(change.key)) note(mentions, *key);
  });
}

}  // namespace

Mentions mentions_of(const Event& event) {
  Mentions mentions;
  note(mentions, event);
  return mentions;
}

Mentions mentions_of(const Effect& effect) {
  Mentions mentions;
  note(mentions, effect);
  return mentions;
}

Mentions mentions_of(const JournalChange& change) {
  Mentions mentions;
  if (!change.value) {
    note_key(mentions, change);
  } else if (auto record = decode_record(change.kind, *change.value)) {
    note(mentions, *record);
  }
  return mentions;
}

}  // namespace abacus
