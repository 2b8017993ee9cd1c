// The control protocol between an agent and a shim.
#include <cstdlib>
#include <string>

#include "runtime/exec/wire.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  abacus::wire::FrameReader reader;
  reader.push({reinterpret_cast<const char*>(data), size});
  while (auto frame = reader.next()) {
    auto message = abacus::wire::decode(*frame);
    if (!message || std::holds_alternative<abacus::wire::UnknownMessage>(*message)) continue;
    std::string again;
    abacus::wire::encode(*message, again);
  }
  return 0;
}
