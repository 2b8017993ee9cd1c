// The node's id, an '@', the endpoint.
#include "protocol/contact_text.h"

namespace abacus {

std::string to_string(const Contact& contact) { return contact.node.to_string() + "@" + contact.endpoint.to_string(); }

Result<Contact> parse_contact(std::string_view text) {
  std::size_t at = text.find('@');
  auto node = NodeId::parse(text.substr(0, at));
  auto endpoint = Endpoint::parse(at == std::string_view::npos ? "" : text.substr(at + 1));
  if (!node || !endpoint) {
    return fail(ErrorCode::invalid, "'{}' is no contact: want NODE@ADDRESS:PORT with the node's 64 digits", text);
  }
  return Contact{*node, *endpoint};
}

}  // namespace abacus
