// libsodium calls; a signed message begins with its purpose.
#include "runtime/net/keys.h"

#include <sodium.h>

#include "base/check.h"

namespace abacus {
namespace {

using SecretKey = std::array<std::uint8_t, crypto_sign_SECRETKEYBYTES>;

void use_sodium() { CHECK_MSG(sodium_init() >= 0, "libsodium found no entropy source"); }

Bytes signed_message(std::string_view context, BytesView bytes) {
  static constexpr std::string_view kDomain = "abacus signature 1";
  CHECK(context.size() <= 255);
  Bytes message;
  message.reserve(kDomain.size() + 1 + context.size() + bytes.size());
  message.insert(message.end(), kDomain.begin(), kDomain.end());
  message.push_back(static_cast<std::uint8_t>(context.size()));
  message.insert(message.end(), context.begin(), context.end());
  message.insert(message.end(), bytes.begin(), bytes.end());
  return message;
}

}  // namespace

KeyPair KeyPair::generate() {
  Ed25519Key seed;
  fill_random(seed);
  KeyPair pair = from_seed(seed);
  sodium_memzero(seed.data(), seed.size());
  return pair;
}

KeyPair KeyPair::from_seed(const Ed25519Key& seed) {
  use_sodium();
  KeyPair pair;
  SecretKey secret;
  pair.seed_ = seed;
  crypto_sign_seed_keypair(pair.public_.data(), secret.data(), seed.data());
  sodium_memzero(secret.data(), secret.size());
  return pair;
}

KeyPair::~KeyPair() { sodium_memzero(seed_.data(), seed_.size()); }

Ed25519Signature KeyPair::sign(std::string_view context, BytesView bytes) const {
  // libsodium's secret key is the seed followed by the public key.
  SecretKey secret;
  std::copy(seed_.begin(), seed_.end(), secret.begin());
  std::copy(public_.begin(), public_.end(), secret.begin() + crypto_sign_SEEDBYTES);
  Bytes message = signed_message(context, bytes);
  Ed25519Signature signature;
  crypto_sign_detached(signature.data(), nullptr, message.data(), message.size(), secret.data());
  sodium_memzero(secret.data(), secret.size());
  return signature;
}

bool verify(const Ed25519Key& signer, std::string_view context, BytesView bytes, BytesView signature) {
  if (signature.size() != crypto_sign_BYTES) return false;
  use_sodium();
  Bytes message = signed_message(context, bytes);
  return crypto_sign_verify_detached(signature.data(), message.data(), message.size(), signer.data()) == 0;
}

std::array<std::uint8_t, 32> blake2b(BytesView bytes) {
  std::array<std::uint8_t, 32> digest;
  crypto_generichash(digest.data(), digest.size(), bytes.data(), bytes.size(), nullptr, 0);
  return digest;
}

void fill_random(std::span<std::uint8_t> bytes) {
  use_sodium();
  randombytes_buf(bytes.data(), bytes.size());
}

bool equal_secrets(BytesView a, BytesView b) {
  return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace abacus
