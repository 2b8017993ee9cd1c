// Eight bytes at a time over tables that the compiler makes.
#include "core/recording/crc32c.h"

#include <array>

namespace abacus {
namespace {

constexpr std::size_t kStride = 8;
using Tables = std::array<std::array<std::uint32_t, 256>, kStride>;

/// tables[k][b]: what byte b does to the checksum when k more bytes follow it.
constexpr Tables make_tables() {
  constexpr std::uint32_t kPolynomial = 0x82f63b78;
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = value;
  }
  for (std::size_t k = 1; k < kStride; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

std::uint32_t crc32c(BytesView bytes) {
  std::uint32_t crc = 0xffffffff;
  while (bytes.size() >= kStride) {
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < kStride; ++i) {
      std::uint8_t byte = i < 4 ? static_cast<std::uint8_t>(bytes[i] ^ (crc >> (8 * i))) : bytes[i];
      next ^= kTables[kStride - 1 - i][byte];
    }
    crc = next;
    bytes = bytes.subspan(kStride);
  }
  for (std::uint8_t byte : bytes) crc = (crc >> 8) ^ kTables[0][(crc ^ byte) & 0xff];
  return ~crc;
}

}  // namespace abacus
