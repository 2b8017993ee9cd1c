// Each message's fields, listed once and visited for writing and for reading.
#include "runtime/exec/wire.h"

#include <cstring>
#include <type_traits>

namespace abacus::wire {
namespace {

/// The type byte of each message; never reuse one.
template <class M>
constexpr std::uint8_t kType = 0;
template <>
constexpr std::uint8_t kType<Hello> = 1;
template <>
constexpr std::uint8_t kType<Launch> = 2;
template <>
constexpr std::uint8_t kType<Interrupt> = 3;
template <>
constexpr std::uint8_t kType<Forget> = 4;
template <>
constexpr std::uint8_t kType<Close> = 5;
template <>
constexpr std::uint8_t kType<Started> = 6;
template <>
constexpr std::uint8_t kType<Ended> = 7;
template <>
constexpr std::uint8_t kType<Listed> = 8;
template <>
constexpr std::uint8_t kType<Refused> = 9;
template <>
constexpr std::uint8_t kType<Extend> = 10;

/// Visits the fields of a struct in wire order by appending them.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  template <class T>
  requires std::is_integral_v<T>
  void operator()(const T& value) {
    auto bits = static_cast<std::make_unsigned_t<std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>>>(value);
    for (std::size_t i = 0; i < sizeof bits; ++i) out_.push_back(static_cast<char>(bits >> (8 * i) & 0xff));
  }
  void operator()(const std::string& text) {
    (*this)(static_cast<std::uint32_t>(text.size()));
    out_.append(text);
  }
  template <class T>
  void operator()(const std::vector<T>& list) {
    (*this)(static_cast<std::uint32_t>(list.size()));
    for (const T& item : list) (*this)(item);
  }
  template <class Tag, std::size_t N>
  void operator()(const Id<Tag, N>& id) {
    out_.append(reinterpret_cast<const char*>(id.bytes.data()), N);
  }

 private:
  std::string& out_;
};

/// Visits the same fields by reading them; once a field does not fit, nothing more is read.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }

  template <class T>
  requires std::is_integral_v<T>
  void operator()(T& value) {
    std::string_view raw = take(sizeof value);
    if (!ok_) return;
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < raw.size(); ++i) bits |= std::uint64_t{static_cast<unsigned char>(raw[i])} << (8 * i);
    if constexpr (std::is_same_v<T, bool>) ok_ = bits <= 1;
    value = static_cast<T>(bits);
  }
  void operator()(std::string& text) {
    std::uint32_t size = 0;
    (*this)(size);
    text = std::string(take(size));
  }
  template <class T>
  void operator()(std::vector<T>& list) {
    std::uint32_t count = 0;
    (*this)(count);
    // Each item takes four bytes at least, so a lying count cannot make us allocate more than the frame holds.
    if (count > rest_.size() / 4) ok_ = false;
    for (std::uint32_t i = 0; ok_ && i < count; ++i) (*this)(list.emplace_back());
  }
  template <class Tag, std::size_t N>
  void operator()(Id<Tag, N>& id) {
    std::string_view raw = take(N);
    if (ok_) std::memcpy(id.bytes.data(), raw.data(), N);
  }

 private:
  std::string_view take(std::size_t count) {
    ok_ = ok_ && count <= rest_.size();
    if (!ok_) return {};
    std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string_view rest_;
  bool ok_ = true;
};

template <class V, class A>
void visit_attempt(V& visit, A& attempt) {
  visit(attempt.task.job);
  visit(attempt.task.index);
  visit(attempt.number);
}

template <class V, class R>
void visit_record(V& visit, R& r) {
  visit(r.exit_code), visit(r.signal), visit(r.started.ns), visit(r.ended.ns);
  visit(r.cpu_user.ns), visit(r.cpu_system.ns), visit(r.peak_memory_bytes);
  visit(r.stdout_bytes), visit(r.stderr_bytes), visit(r.stdout_truncated), visit(r.stderr_truncated);
  visit(r.oom_killed), visit(r.timed_out), visit(r.interrupted), visit(r.launch_error);
}

template <class V, class M>
void visit_launch(V& visit, M& m) {
  visit_attempt(visit, m.attempt);
  visit(m.folder), visit(m.work_dir), visit(m.argv), visit(m.env);
  visit(m.limits), visit(m.cpu_milli), visit(m.memory_bytes), visit(m.pids_max), visit(m.output_cap_bytes);
  visit(m.time_limit.ns), visit(m.grace.ns), visit(m.cpus);
}

/// The one description of every body, used both ways.
template <class V, class M>
void visit_fields(V& visit, M& m) {
  using T = std::remove_const_t<M>;
  if constexpr (std::is_same_v<T, Hello>) visit(m.version), visit(m.lease), visit(m.pid);
  if constexpr (std::is_same_v<T, Launch>) visit_launch(visit, m);
  if constexpr (std::is_same_v<T, Interrupt>) visit_attempt(visit, m.attempt), visit(m.grace.ns);
  if constexpr (std::is_same_v<T, Forget>) visit_attempt(visit, m.attempt), visit(m.folder);
  if constexpr (std::is_same_v<T, Close>) visit(m.kill);
  if constexpr (std::is_same_v<T, Started>) visit_attempt(visit, m.attempt), visit(m.pid), visit(m.wall.ns);
  if constexpr (std::is_same_v<T, Ended>) visit_attempt(visit, m.attempt), visit_record(visit, m.record);
  if constexpr (std::is_same_v<T, Refused>) visit(m.reason);
  if constexpr (std::is_same_v<T, Extend>) visit(m.deadline.ns);
}

template <class M>
std::optional<Message> decode_as(std::string_view body) {
  M message;
  Reader reader(body);
  visit_fields(reader, message);
  if (!reader.ok()) return std::nullopt;
  return message;
}

}  // namespace

void encode(const Message& message, std::string& out) {
  std::size_t start = out.size();
  out.append(4, '\0');
  Writer writer(out);
  std::visit(
      [&](const auto& m) {
        writer(kType<std::remove_cvref_t<decltype(m)>>);
        visit_fields(writer, m);
      },
      message);
  auto length = static_cast<std::uint32_t>(out.size() - start - 4);
  for (std::size_t i = 0; i < 4; ++i) out[start + i] = static_cast<char>(length >> (8 * i) & 0xff);
}

std::optional<Message> decode(std::string_view frame) {
  if (frame.empty()) return std::nullopt;
  auto type = static_cast<std::uint8_t>(frame[0]);
  std::string_view body = frame.substr(1);
  switch (type) {
    case kType<Hello>: return decode_as<Hello>(body);
    case kType<Launch>: return decode_as<Launch>(body);
    case kType<Interrupt>: return decode_as<Interrupt>(body);
    case kType<Forget>: return decode_as<Forget>(body);
    case kType<Close>: return decode_as<Close>(body);
    case kType<Started>: return decode_as<Started>(body);
    case kType<Ended>: return decode_as<Ended>(body);
    case kType<Listed>: return Listed{};
    case kType<Refused>: return decode_as<Refused>(body);
    case kType<Extend>: return decode_as<Extend>(body);
    default: return UnknownMessage{type};
  }
}

std::optional<std::string_view> FrameReader::next() {
  if (broken_) return std::nullopt;
  std::string_view rest = std::string_view(buffer_).substr(consumed_);
  std::size_t length = 0;
  if (rest.size() >= 4) {
    for (std::size_t i = 0; i < 4; ++i) length |= std::size_t{static_cast<unsigned char>(rest[i])} << (8 * i);
    broken_ = length == 0 || length > kMaxFrameBytes;
    if (broken_) return std::nullopt;
  }
  if (length == 0 || rest.size() - 4 < length) {
    buffer_.erase(0, consumed_);
    consumed_ = 0;
    if (buffer_.empty()) buffer_.shrink_to_fit();
    return std::nullopt;
  }
  consumed_ += 4 + length;
  return rest.substr(4, length);
}

}  // namespace abacus::wire
