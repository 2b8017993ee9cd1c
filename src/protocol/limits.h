// Bounds on what a peer may send. A value past its bound is refused while decoding and never reaches core.
#pragma once

#include <cstddef>
#include <cstdint>

namespace abacus::limits {

inline constexpr std::size_t kMessageBytes = 1 << 20;    ///< One encoded message.
inline constexpr std::size_t kTextBytes = 128 << 10;     ///< One text or byte string.
inline constexpr std::size_t kListItems = 65'536;        ///< One list.
inline constexpr int kNesting = 12;                      ///< Arrays within arrays.
inline constexpr std::size_t kNameBytes = 64;            ///< Regions, device kinds and models, job names.
inline constexpr std::uint32_t kSlots = 100'000;         ///< Slots asked for or offered at once.
inline constexpr std::uint32_t kArrayTasks = 1'000'000;  ///< Tasks of one job.
inline constexpr std::size_t kDeviceKinds = 16;          ///< Device entries of one bundle or node.
inline constexpr std::uint32_t kDeviceIndices = kSlots * kDeviceKinds;  ///< A node's devices are numbered below it.
inline constexpr std::size_t kLots = 32;                                ///< Lots of one quote.
inline constexpr std::size_t kAttemptsPerMessage = 4'096;
inline constexpr std::size_t kOffersPerShuffle = 32;
inline constexpr std::size_t kRumours = 32;
inline constexpr std::int64_t kMaxDurationNs = 100LL * 365 * 24 * 3600 * 1'000'000'000;
inline constexpr std::int64_t kMaxInstantNs = 150LL * 365 * 24 * 3600 * 1'000'000'000;  ///< Of a time since 1970.
inline constexpr std::int64_t kMaxMoneyMicro = 1'000'000'000'000'000'000;
inline constexpr std::uint64_t kMaxBytesOfMemory = 1ull << 50;
inline constexpr std::uint32_t kMaxCpuMilli = 100'000'000;

}  // namespace abacus::limits
