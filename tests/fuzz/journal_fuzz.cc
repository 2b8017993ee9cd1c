// A journal's rows, whatever they are, are refused with an error that names the record, or make a node that works and
// whose own journal can be read again. The seeds are journals of a small simulated market.
#include <string>

#include "host.h"

namespace {

using namespace abacus;
using fuzz::Host;

NodeConfig some_node() {
  NodeConfig config;
  config.self = {{{1}}, {{1}, 7}};
  config.region = "here";
  config.capacity = {4'000, 8ull << 30, 8ull << 30, {{"gpu", "a", 2, 1 << 30, true}}};
  return config;
}

/// Rows one after the other: kind, length of the value (two bytes, low one first), value. A kind with its highest bit
/// set stands under a key that is the value's first bytes; others under the key of their record.
class RowReader {
 public:
  explicit RowReader(BytesView rest) : rest_(rest) {}

  bool next() {
    if (rest_.size() < 3) return false;
    const bool own_key = (rest_[0] & 0x80) == 0;
    kind = rest_[0] & 0x7f;
    const std::size_t length = std::min<std::size_t>(rest_[1] | rest_[2] << 8, rest_.size() - 3);
    value = rest_.subspan(3, length);
    rest_ = rest_.subspan(3 + length);
    key.assign(value.begin(), value.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(length, 8)));
    auto record = decode_record(kind, value);
    if (record && own_key) key = std::visit([](const auto& r) { return encode(key_of(r)); }, *record);
    return true;
  }

  std::uint16_t kind = 0;
  Bytes key;
  BytesView value;

 private:
  BytesView rest_;
};

void expect_reason(const Status& status) {
  CHECK(status || status.error().message.find("journal") != std::string::npos);
}

/// Readable row by row, and all there.
Status check_rows(Host& host) {
  TRY(std::vector<Record> records, host.load());
  return check_whole(records);
}

/// Through the start, the adoption, a while, and what is due much later.
void work(Host& host) {
  Now now{MonoTime{1'000'000'000}, WallTime{1'800'000'000'000'000'000}};
  host.start(now);
  for (Duration step : {seconds(1), seconds(60), hours(1), hours(24 * 30)}) {
    host.run(now);
    if (host.commit_is_out()) host.end_commit({}, now);
    now = {now.mono + step, now.wall + step};
  }
  CHECK(check_rows(host).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Heard heard;
  Host host(some_node(), heard);
  RecordReader in_order;
  RowReader row({data, size});
  for (Status status; status && row.next();) {
    status = in_order.add(row.kind, row.key, row.value);
    expect_reason(status);
    host.rows[{row.kind, row.key}] = Bytes(row.value.begin(), row.value.end());
  }
  if (Status readable = check_rows(host)) {
    work(host);
  } else {
    expect_reason(readable);
  }
  return 0;
}
