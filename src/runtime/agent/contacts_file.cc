// One contact a line, as text, replaced as a whole.
#include "runtime/agent/contacts_file.h"

#include <fstream>

namespace abacus {
namespace {

std::filesystem::path file_in(const std::filesystem::path& data_dir) { return data_dir / "contacts"; }

}  // namespace

Result<Contact> parse_contact(std::string_view text) {
  std::size_t at = text.find('@');
  if (at == std::string_view::npos) {
    return fail(ErrorCode::invalid, "'{}' is not a contact: want NODE@ADDRESS:PORT", text);
  }
  TRY(NodeId node, NodeId::parse(text.substr(0, at)));
  TRY(Endpoint endpoint, Endpoint::parse(text.substr(at + 1)));
  return Contact{node, endpoint};
}

std::string to_string(const Contact& contact) { return contact.node.to_string() + "@" + contact.endpoint.to_string(); }

Result<std::vector<Contact>> load_contacts(const std::filesystem::path& data_dir) {
  std::vector<Contact> contacts;
  std::ifstream file(file_in(data_dir));
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty()) continue;
    auto contact = parse_contact(line);
    if (!contact) return fail(contact.error().in(fmt::format("{} line {}", file_in(data_dir).string(), number)));
    contacts.push_back(*contact);
  }
  return contacts;
}

Status save_contacts(const std::filesystem::path& data_dir, const std::vector<Contact>& contacts) {
  std::filesystem::path fresh = file_in(data_dir);
  fresh += ".new";
  std::ofstream file(fresh, std::ios::trunc);
  for (const Contact& contact : contacts) file << to_string(contact) << '\n';
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(fresh, file_in(data_dir), error);
  if (!file || error) return fail(ErrorCode::internal, "cannot write {}", fresh.string());
  return {};
}

}  // namespace abacus
