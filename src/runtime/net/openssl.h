// OpenSSL's objects with owners, and its error queue as a sentence. Internal to runtime/net.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

#include "runtime/net/keys.h"

namespace abacus {

template <auto Free>
struct OpensslFree {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};

using BioPtr = std::unique_ptr<BIO, OpensslFree<BIO_free_all>>;
using EvpKeyPtr = std::unique_ptr<EVP_PKEY, OpensslFree<EVP_PKEY_free>>;
using X509Ptr = std::unique_ptr<X509, OpensslFree<X509_free>>;
using X509StorePtr = std::unique_ptr<X509_STORE, OpensslFree<X509_STORE_free>>;
using X509ExtensionPtr = std::unique_ptr<X509_EXTENSION, OpensslFree<X509_EXTENSION_free>>;
using Asn1ObjectPtr = std::unique_ptr<ASN1_OBJECT, OpensslFree<ASN1_OBJECT_free>>;
using Asn1StringPtr = std::unique_ptr<ASN1_OCTET_STRING, OpensslFree<ASN1_OCTET_STRING_free>>;
using SslCtxPtr = std::unique_ptr<SSL_CTX, OpensslFree<SSL_CTX_free>>;
using SslPtr = std::unique_ptr<SSL, OpensslFree<SSL_free>>;

/// Empties this thread's OpenSSL error queue into text; "no reason given" when it was empty.
std::string openssl_reason();

/// The key for OpenSSL's use.
EvpKeyPtr to_openssl(const KeyPair& key);
EvpKeyPtr to_openssl_public(const Ed25519Key& key);

/// Everything written to a memory BIO.
std::string bio_text(BIO* bio);

/// A read-only BIO over text that outlives it.
BioPtr bio_over(std::string_view text);

}  // namespace abacus
