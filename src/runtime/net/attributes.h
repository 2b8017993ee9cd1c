// What an organisation says about one of its nodes, and the certificate extension that carries it.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"

namespace abacus {

/// One statement about a node. Empty means unknown. `vouched` means that the organisation's authority set it itself;
/// otherwise the certificate only passes on what the node said when it enrolled, and must be shown as self-declared.
struct Attribute {
  std::string value;
  bool vouched = false;

  bool operator==(const Attribute&) const = default;
};

struct NodeAttributes {
  Attribute region;        ///< A place with a price of its own, such as "eu-north".
  Attribute jurisdiction;  ///< Whose law applies, such as "SE".
  Attribute owner;         ///< The person or department that pays for the machine.
  Attribute device_class;  ///< "server", "workstation", "edge", "battery" and so on.

  bool operator==(const NodeAttributes&) const = default;
};

constexpr std::size_t kMaxAttributeBytes = 64;

/// The object identifier of the extension: an arc under 2.25, where a UUID is its own registration (ITU-T X.667).
constexpr const char* kAttributesOid = "2.25.233121484979751471916485863836195953477";

/// Each attribute with its name on the wire ("region", "jurisdiction", "owner", "device-class"), in wire order.
template <class Attributes>  // NodeAttributes, const or not
auto named_attributes(Attributes& attributes) {
  return std::array{std::pair{std::string_view("region"), &attributes.region},
                    std::pair{std::string_view("jurisdiction"), &attributes.jurisdiction},
                    std::pair{std::string_view("owner"), &attributes.owner},
                    std::pair{std::string_view("device-class"), &attributes.device_class}};
}

/// Errors: `invalid` for a value above kMaxAttributeBytes, or with a control character.
Status check_attributes(const NodeAttributes& attributes);

/// DER: SEQUENCE OF SEQUENCE { name UTF8String, value UTF8String, vouched BOOLEAN }; empty attributes are left out.
Bytes encode_attributes(const NodeAttributes& attributes);

/// Inverse of encode_attributes. Names that this version does not know, and elements after the third, are ignored.
/// Errors: `corrupt` for anything that is not this structure or fails check_attributes.
Result<NodeAttributes> decode_attributes(BytesView der);

}  // namespace abacus
