// How a node joins an organisation: it shows a token and its key, and receives its certificate.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <variant>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "protocol/offer.h"

namespace abacus {

namespace limits {
inline constexpr std::size_t kEnrolmentBytes = 16 << 10;  ///< One encoded request or response.
}  // namespace limits

/// What a node asks its certificate to say of it. Empty: nothing, or whatever the token fixes.
struct RequestedAttributes {
  std::string region;
  std::string jurisdiction;
  std::string owner;
  std::string device_class;
};
BOOST_DESCRIBE_STRUCT(RequestedAttributes, (), (region, jurisdiction, owner, device_class))

struct EnrolmentClaim {
  Bytes token_secret;
  NodeId node;  ///< The key to be certified.
  RequestedAttributes attributes;
};
BOOST_DESCRIBE_STRUCT(EnrolmentClaim, (), (token_secret, node, attributes))

/// `proof` is the node key's signature, for kEnrolmentSignatureContext, over the TLS connection's exported secret
/// (RFC 8446, 7.5) followed by the encoded claim: whoever overhears or relays it cannot use it elsewhere.
struct EnrolmentRequest {
  EnrolmentClaim claim;
  Signature proof{};
};
BOOST_DESCRIBE_STRUCT(EnrolmentRequest, (), (claim, proof))

inline constexpr char kEnrolmentSignatureContext[] = "abacus enrolment v1";

struct EnrolmentRefused {
  std::uint8_t code = 0;  ///< An ErrorCode's number.
  std::string message;
};
BOOST_DESCRIBE_STRUCT(EnrolmentRefused, (), (code, message))

struct EnrolmentGranted {
  Bytes node_certificate;          ///< X.509, DER.
  Bytes organisation_certificate;  ///< X.509, DER.
  Contact contact;                 ///< A member to begin with.
};
BOOST_DESCRIBE_STRUCT(EnrolmentGranted, (), (node_certificate, organisation_certificate, contact))

/// The order is the format: append only.
using EnrolmentResponse = std::variant<EnrolmentRefused, EnrolmentGranted>;

}  // namespace abacus
