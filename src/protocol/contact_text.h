// A contact as people write it and files keep it: NODE@ADDRESS:PORT, NODE the node's id in hex.
#pragma once

#include <string>
#include <string_view>

#include "protocol/offer.h"

namespace abacus {

std::string to_string(const Contact& contact);

/// Inverse of to_string. Errors: `invalid`, saying what is wrong and what would be right.
Result<Contact> parse_contact(std::string_view text);

}  // namespace abacus
