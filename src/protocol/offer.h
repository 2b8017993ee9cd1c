// Who exists and what they have: the signed, sequenced, expiring statement of a node about itself that others relay.
#pragma once

#include <array>
#include <boost/describe.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/endpoint.h"
#include "base/ids.h"
#include "base/time.h"
#include "protocol/resources.h"

namespace abacus {

/// How to reach a node: all that a message needs to be sent.
struct Contact {
  NodeId node;
  Endpoint endpoint;

  auto operator<=>(const Contact&) const = default;
};
BOOST_DESCRIBE_STRUCT(Contact, (), (node, endpoint))

/// A node's statement about itself. About 200 bytes encoded.
struct Offer {
  Contact contact;
  OrgId organisation;
  std::uint64_t sequence = 0;  ///< Counts up for ever; of two offers of a node the higher counts.
  WallTime issued_at;
  Duration valid_for = minutes(5);
  std::string region;
  Capacity capacity;  ///< All of it, free or not.

  auto operator<=>(const Offer&) const = default;
};
BOOST_DESCRIBE_STRUCT(Offer, (), (contact, organisation, sequence, issued_at, valid_for, region, capacity))

using Signature = std::array<std::uint8_t, 64>;

/// An offer, the very bytes that were signed, and the signature. Immutable, shared by all who hold it.
struct SignedOffer {
  Offer offer;  ///< Decoded from `payload`.
  Bytes payload;
  Signature signature{};

  auto operator<=>(const SignedOffer&) const = default;
};

using OfferRef = std::shared_ptr<const SignedOffer>;

/// What a signature over an offer is bound to, so that no other signed thing can pass for one.
inline constexpr char kOfferSignatureContext[] = "abacus offer v1";

Status validate(const Offer& offer);

/// Decodes `payload` and puts the parts together; the signature is not checked here. Errors: `corrupt`, `invalid`.
Result<OfferRef> make_signed_offer(Bytes payload, const Signature& signature);

}  // namespace abacus
