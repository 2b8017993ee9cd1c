// One contact a line, as text, replaced as a whole.
#include "runtime/agent/contacts_file.h"

#include <fstream>

#include "protocol/contact_text.h"

namespace abacus {
namespace {

std::filesystem::path file_in(const std::filesystem::path& data_dir) { return data_dir / "contacts"; }

}  // namespace

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
