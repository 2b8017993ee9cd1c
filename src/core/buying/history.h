// What happened in a job's negotiations, for `explain`: a bounded ring of facts, made into sentences only when asked.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/model/views.h"

namespace abacus {

struct Lease;

class History {
 public:
  /// Keeps the latest `lines_max` lines.
  void add(NegotiationLine line, std::size_t lines_max) {
    lines_.push_back(std::move(line));
    keep(lines_max);
  }

  /// Drops all but the latest lines.
  void keep(std::size_t lines_max) {
    while (lines_.size() > lines_max) lines_.pop_front();
  }

  /// With their sentences.
  std::vector<NegotiationLine> lines() const;
  bool empty() const { return lines_.empty(); }

 private:
  std::deque<NegotiationLine> lines_;
};

/// A line about a lease as a whole.
NegotiationLine line_of(const Lease& lease, NegotiationStep step);

/// "has no room: 2 CPU needed, 0.5 CPU there": what a decline says, without its subject.
std::string sentence_of(const DeclineDetail& detail);

/// What one line says, in one sentence.
std::string sentence_of(const NegotiationLine& line);

}  // namespace abacus
