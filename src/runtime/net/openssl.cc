// Keys and texts into OpenSSL's objects, and the last error out of its queue.
#include "runtime/net/openssl.h"

#include <openssl/err.h>

#include "base/check.h"

namespace abacus {

std::string openssl_reason() {
  std::string text;
  while (unsigned long error = ERR_get_error()) {
    const char* reason = ERR_reason_error_string(error);
    if (!text.empty()) text += "; ";
    text += reason != nullptr ? reason : fmt::format("OpenSSL error {:#x}", error);
  }
  return text.empty() ? "no reason given" : text;
}

EvpKeyPtr to_openssl(const KeyPair& key) {
  EvpKeyPtr result(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, key.seed().data(), key.seed().size()));
  CHECK_MSG(result != nullptr, "this OpenSSL has no Ed25519");
  return result;
}

EvpKeyPtr to_openssl_public(const Ed25519Key& key) {
  EvpKeyPtr result(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.data(), key.size()));
  CHECK_MSG(result != nullptr, "this OpenSSL has no Ed25519");
  return result;
}

std::string bio_text(BIO* bio) {
  char* data = nullptr;
  long size = BIO_get_mem_data(bio, &data);
  return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

BioPtr bio_over(std::string_view text) {
  CHECK(text.size() < (1u << 30));
  BioPtr bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  CHECK_MSG(bio != nullptr, "out of memory");
  return bio;
}

}  // namespace abacus
