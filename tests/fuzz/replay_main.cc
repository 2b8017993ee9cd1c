// Feeds every file of a corpus, and each of its prefixes and single-byte changes, to a fuzz target.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void replay(std::vector<std::uint8_t> bytes) {
  constexpr std::size_t kVariedBytes = 512;
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  for (std::size_t i = 0; i < bytes.size() && i < kVariedBytes; ++i) {
    LLVMFuzzerTestOneInput(bytes.data(), i);
    std::uint8_t original = bytes[i];
    for (int bit = 0; bit < 8; ++bit) {
      bytes[i] = static_cast<std::uint8_t>(original ^ (1 << bit));
      LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    }
    bytes[i] = original;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s CORPUS_DIRECTORY\n", argv[0]), 2;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    std::ifstream file(entry.path(), std::ios::binary);
    replay({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
    ++files;
  }
  std::printf("%d inputs replayed\n", files);
  return files > 0 ? 0 : 1;
}
