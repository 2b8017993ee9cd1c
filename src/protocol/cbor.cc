// Heads are written by libcbor; a reader takes one item at a time and refuses every head that could be shorter.
#include "protocol/cbor.h"

#include <cbor.h>

#include "protocol/limits.h"

namespace abacus {
namespace {

constexpr std::size_t kHeadBytesMax = 9;

template <class Encode>
void append_head(Bytes& out, Encode encode) {
  std::uint8_t head[kHeadBytesMax];
  std::size_t size = encode(head, sizeof head);
  out.insert(out.end(), head, head + size);
}

std::size_t shortest_head(std::uint64_t value) {
  if (value < 24) return 1;
  if (value <= 0xff) return 2;
  if (value <= 0xffff) return 3;
  return value <= 0xffff'ffff ? 5 : 9;
}

}  // namespace

void CborWriter::unsigned_integer(std::uint64_t value) {
  append_head(out_, [&](std::uint8_t* head, std::size_t size) { return cbor_encode_uint(value, head, size); });
}

void CborWriter::integer(std::int64_t value) {
  if (value >= 0) return unsigned_integer(static_cast<std::uint64_t>(value));
  std::uint64_t magnitude = static_cast<std::uint64_t>(-(value + 1));
  append_head(out_, [&](std::uint8_t* head, std::size_t size) { return cbor_encode_negint(magnitude, head, size); });
}

void CborWriter::boolean(bool value) {
  append_head(out_, [&](std::uint8_t* head, std::size_t size) { return cbor_encode_bool(value, head, size); });
}

void CborWriter::null() {
  append_head(out_, [](std::uint8_t* head, std::size_t size) { return cbor_encode_null(head, size); });
}

void CborWriter::bytes(BytesView value) {
  append_head(out_, [&](std::uint8_t* head, std::size_t size) {
    return cbor_encode_bytestring_start(value.size(), head, size);
  });
  out_.insert(out_.end(), value.begin(), value.end());
}

void CborWriter::text(std::string_view value) {
  append_head(out_,
              [&](std::uint8_t* head, std::size_t size) { return cbor_encode_string_start(value.size(), head, size); });
  out_.insert(out_.end(), value.begin(), value.end());
}

void CborWriter::array(std::size_t count) {
  append_head(out_, [&](std::uint8_t* head, std::size_t size) { return cbor_encode_array_start(count, head, size); });
}

/// What libcbor calls for the item it found; anything this protocol does not use leaves `known` false.
struct CborCallbacks {
  CborReader::Item item;
  bool known = false;

  void set(CborReader::Kind kind, std::uint64_t value, BytesView content = {}) {
    item = {kind, value, content};
    known = true;
  }
  static CborCallbacks& of(void* self) { return *static_cast<CborCallbacks*>(self); }

  static const cbor_callbacks& table() {
    using Kind = CborReader::Kind;
    static const cbor_callbacks callbacks = [] {
      cbor_callbacks c = cbor_empty_callbacks;
      c.uint8 = [](void* self, std::uint8_t v) { of(self).set(Kind::unsigned_integer, v); };
      c.uint16 = [](void* self, std::uint16_t v) { of(self).set(Kind::unsigned_integer, v); };
      c.uint32 = [](void* self, std::uint32_t v) { of(self).set(Kind::unsigned_integer, v); };
      c.uint64 = [](void* self, std::uint64_t v) { of(self).set(Kind::unsigned_integer, v); };
      c.negint8 = [](void* self, std::uint8_t v) { of(self).set(Kind::negative_integer, v); };
      c.negint16 = [](void* self, std::uint16_t v) { of(self).set(Kind::negative_integer, v); };
      c.negint32 = [](void* self, std::uint32_t v) { of(self).set(Kind::negative_integer, v); };
      c.negint64 = [](void* self, std::uint64_t v) { of(self).set(Kind::negative_integer, v); };
      c.byte_string = [](void* self, cbor_data d, std::size_t n) { of(self).set(Kind::bytes, n, {d, n}); };
      c.string = [](void* self, cbor_data d, std::size_t n) { of(self).set(Kind::text, n, {d, n}); };
      c.array_start = [](void* self, std::size_t n) { of(self).set(Kind::array, n); };
      c.null = [](void* self) { of(self).set(Kind::null, 0); };
      c.boolean = [](void* self, bool v) { of(self).set(Kind::boolean, v ? 1 : 0); };
      return c;
    }();
    return callbacks;
  }
};

tl::unexpected<Error> CborReader::wrong(const char* what) const {
  return fail(ErrorCode::corrupt, "byte {}: {}", position(), what);
}

Result<CborReader::Item> CborReader::next() {
  CborCallbacks found;
  cbor_decoder_result result = cbor_stream_decode(rest_.data(), rest_.size(), &CborCallbacks::table(), &found);
  if (result.status == CBOR_DECODER_NEDATA) return wrong("the item is cut short");
  if (result.status != CBOR_DECODER_FINISHED || !found.known) return wrong("an item this protocol does not use");
  Item& item = found.item;
  bool has_argument = item.kind != Kind::boolean && item.kind != Kind::null;
  if (has_argument && result.read - item.content.size() != shortest_head(item.value)) {
    return wrong("a number not in its shortest form");
  }
  rest_ = rest_.subspan(result.read);
  return item;
}

Result<CborReader::Item> CborReader::next_of(Kind kind, const char* what) {
  TRY(Item item, next());
  if (item.kind != kind) return wrong(what);
  return item;
}

Result<std::uint64_t> CborReader::unsigned_integer() {
  TRY(Item item, next_of(Kind::unsigned_integer, "want an unsigned integer"));
  return item.value;
}

Result<std::int64_t> CborReader::integer() {
  TRY(Item item, next());
  if (item.kind != Kind::unsigned_integer && item.kind != Kind::negative_integer) return wrong("want an integer");
  if (item.value > static_cast<std::uint64_t>(INT64_MAX)) return wrong("an integer past 64 signed bits");
  std::int64_t value = static_cast<std::int64_t>(item.value);
  return item.kind == Kind::unsigned_integer ? value : -1 - value;
}

Result<bool> CborReader::boolean() {
  TRY(Item item, next_of(Kind::boolean, "want true or false"));
  return item.value != 0;
}

Result<bool> CborReader::take_null() {
  if (rest_.empty()) return wrong("the item is cut short");
  constexpr std::uint8_t kNull = 0xf6;
  if (rest_.front() != kNull) return false;
  rest_ = rest_.subspan(1);
  return true;
}

Result<BytesView> CborReader::bytes() {
  TRY(Item item, next_of(Kind::bytes, "want a byte string"));
  if (item.content.size() > limits_.string_bytes)
    return fail(ErrorCode::exhausted, "byte string of {} bytes", item.value);
  return item.content;
}

Result<std::string_view> CborReader::text() {
  TRY(Item item, next_of(Kind::text, "want a text"));
  if (item.content.size() > limits_.string_bytes) return fail(ErrorCode::exhausted, "text of {} bytes", item.value);
  return as_text(item.content);
}

Result<std::size_t> CborReader::array() {
  TRY(Item item, next_of(Kind::array, "want an array"));
  if (item.value > limits_.array_items) return fail(ErrorCode::exhausted, "array of {} items", item.value);
  return static_cast<std::size_t>(item.value);
}

Status CborReader::skip(int nesting) {
  if (nesting <= 0) return fail(ErrorCode::exhausted, "nested deeper than {} levels", limits::kNesting);
  TRY(Item item, next());
  if (item.kind != Kind::array) return {};
  for (std::uint64_t i = 0; i < item.value; ++i) TRY_STATUS(skip(nesting - 1));
  return {};
}

}  // namespace abacus
