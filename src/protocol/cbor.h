// Writing and reading single CBOR items (RFC 8949), over libcbor's streaming calls. Only the deterministic form
// (section 4.2: shortest heads, definite lengths) is written or accepted.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "protocol/limits.h"

namespace abacus {

/// How large one item may be. The defaults are those of the messages between agents.
struct CborLimits {
  std::size_t string_bytes = limits::kTextBytes;  ///< One text or byte string.
  std::size_t array_items = limits::kListItems;
};

/// Appends items to a byte string.
class CborWriter {
 public:
  explicit CborWriter(Bytes& out) : out_(out) {}

  void unsigned_integer(std::uint64_t value);
  void integer(std::int64_t value);
  void boolean(bool value);
  void null();
  void bytes(BytesView value);
  void text(std::string_view value);
  /// The head of an array; `count` items must follow.
  void array(std::size_t count);

 private:
  Bytes& out_;
};

/// Takes items off a byte string, front to back. After the first error every further call fails with it.
/// Errors: `corrupt` for truncated, indefinite, non-shortest or wrongly typed items, `exhausted` past a limit.
class CborReader {
 public:
  explicit CborReader(BytesView input, CborLimits item_limits = {})
      : rest_(input), size_(input.size()), limits_(item_limits) {}

  Result<std::uint64_t> unsigned_integer();
  Result<std::int64_t> integer();
  Result<bool> boolean();
  /// Takes a null if one is next; tells whether it did.
  Result<bool> take_null();
  /// Views into the input.
  Result<BytesView> bytes();
  Result<std::string_view> text();
  /// The head of an array: the number of items that follow.
  Result<std::size_t> array();
  /// Passes over one item of any kind, `nesting` levels deep at most.
  Status skip(int nesting);

  bool at_end() const { return rest_.empty(); }
  std::size_t position() const { return size_ - rest_.size(); }
  BytesView rest() const { return rest_; }

 private:
  enum class Kind : std::uint8_t { unsigned_integer, negative_integer, boolean, null, bytes, text, array };
  struct Item {
    Kind kind = Kind::null;
    std::uint64_t value = 0;
    BytesView content;
  };
  friend struct CborCallbacks;

  Result<Item> next();
  Result<Item> next_of(Kind kind, const char* what);
  tl::unexpected<Error> wrong(const char* what) const;

  BytesView rest_;
  std::size_t size_;
  CborLimits limits_;
};

}  // namespace abacus
