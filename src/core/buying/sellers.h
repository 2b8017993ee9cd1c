// What this buyer has found out itself about sellers: prices heard, cool-downs, evidence. Bounded.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "core/buying/cool_down.h"
#include "protocol/trade_messages.h"

namespace abacus {

/// Names a bundle: prices and cool-downs are remembered for each. A collision would only blur them.
using Shape = std::uint64_t;
Shape shape_of(const Bundle& bundle);

/// A price told by the seller itself.
struct HeardPrice {
  std::vector<Lot> lots;    ///< Never empty.
  std::uint32_t taken = 0;  ///< Of them by own awards since.
  NegotiationId negotiation = 0;
  std::uint64_t quote = 0;
  MonoTime at;
  MonoTime firm_until;
  Duration lease_time_max;

  std::uint32_t room() const;
  /// What `slots` more would cost, with one step of the supply curve as a margin.
  const Lot& lot_for(std::uint32_t slots) const;
};

/// Own experience, as counts that fade: both are halved when their sum passes 200.
struct Evidence {
  std::uint32_t good = 0;
  std::uint32_t bad = 0;

  void add(bool success);
  /// Mean of a Beta(9 + good, 1 + bad): a newcomer starts at 900.
  std::int64_t permille() const { return 1000 * (9 + std::int64_t{good}) / (10 + std::int64_t{good} + bad); }
};

struct SellerNotes {
  struct ForShape {
    Shape shape = 0;
    CoolDown cool_down;
    std::optional<HeardPrice> heard;
  };
  static constexpr std::size_t kShapes = 8;

  Evidence delivery;    ///< Attempts that ended by themselves, against lost ones.
  Evidence acceptance;  ///< Awards accepted, against refused ones: says nothing of reliability.
  std::uint32_t awards_in_flight = 0;
  std::optional<Price> last_price;
  MonoTime touched;
  std::vector<ForShape> shapes;  ///< The latest kShapes.

  ForShape& shape(Shape wanted);
  const ForShape* find(Shape wanted) const;
};

class SellerBook {
 public:
  explicit SellerBook(std::size_t sellers_max = 4'096) : sellers_max_(sellers_max) {}

  using Map = std::map<NodeId, SellerNotes>;

  /// Notes to write to; made if there are none. References hold until the next call.
  SellerNotes& at(const NodeId& seller, Now now);
  const Map& all() const { return notes_; }
  std::optional<Price> last_price(const NodeId& seller) const;

  /// Takes a sane quote (see usable() in score.h) into memory.
  void hear(const NodeId& seller, Shape shape, const Quote& quote, Now now);
  /// Room that an award of this buyer's has just taken. The quote is used up with it, its prices are still news.
  void take_room(const NodeId& seller, Shape shape, std::uint32_t slots, Now now);

 private:
  void make_room();

  std::size_t sellers_max_;
  Map notes_;
};

}  // namespace abacus
