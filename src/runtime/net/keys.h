// Ed25519 keys and signatures (RFC 8032, by libsodium). Every signature names its purpose.
#pragma once

#include <array>
#include <string_view>

#include "base/bytes.h"
#include "base/ids.h"

namespace abacus {

using Ed25519Key = std::array<std::uint8_t, 32>;
using Ed25519Signature = std::array<std::uint8_t, 64>;

/// A secret key and its public half. Wipes the secret when destroyed. Immutable; safe to use from several threads.
class KeyPair {
 public:
  /// A fresh key from the operating system's entropy.
  static KeyPair generate();

  /// The key that this 32-byte seed (RFC 8032's private key) determines.
  static KeyPair from_seed(const Ed25519Key& seed);

  KeyPair(const KeyPair&) = default;
  KeyPair& operator=(const KeyPair&) = default;
  ~KeyPair();

  const Ed25519Key& public_key() const { return public_; }
  const Ed25519Key& seed() const { return seed_; }
  NodeId node_id() const { return {public_}; }
  OrgId org_id() const { return {public_}; }

  /// Signs `bytes` for the purpose `context` (at most 255 bytes, such as "offer"): what is signed is the text
  /// "abacus signature 1", a length byte, the context, the bytes. A signature for one purpose is none for another.
  Ed25519Signature sign(std::string_view context, BytesView bytes) const;

 private:
  KeyPair() = default;
  Ed25519Key seed_{};
  Ed25519Key public_{};
};

/// True when `signature` is what the owner of `signer` made with KeyPair::sign for the same context and bytes.
/// 60 to 120 us; safe to call from any thread.
bool verify(const Ed25519Key& signer, std::string_view context, BytesView bytes, BytesView signature);
inline bool verify(const NodeId& signer, std::string_view context, BytesView bytes, BytesView signature) {
  return verify(signer.bytes, context, bytes, signature);
}

/// BLAKE2b-256 (RFC 7693) of the bytes.
std::array<std::uint8_t, 32> blake2b(BytesView bytes);

/// Fills from the operating system's entropy.
void fill_random(std::span<std::uint8_t> bytes);

/// Compares in a time that depends on the sizes only.
bool equal_secrets(BytesView a, BytesView b);

}  // namespace abacus
