// Recordings: a whole file, and the content of one entry on its own, which no checksum protects from the fuzzer.
#include <cstdlib>

#include "core/recording/recording_reader.h"

namespace {

void read_file(abacus::BytesView file) {
  auto reader = abacus::RecordingReader::open(file);
  if (!reader) return;
  std::uint64_t number = 0;
  while (true) {
    auto entry = reader->next();
    if (!entry || !*entry) break;
    if ((*entry)->number != ++number || (*entry)->offset >= file.size()) std::abort();
  }
  if (reader->torn() && reader->torn()->offset + reader->torn()->bytes != file.size()) std::abort();
}

void read_entry(abacus::BytesView content) {
  auto entry = abacus::decode_entry(content);
  if (entry && !abacus::decode_entry(abacus::encode_entry(*entry))) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_file({data, size});
  read_entry({data, size});
  return 0;
}
