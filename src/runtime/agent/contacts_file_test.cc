// Contacts survive in their file, and a damaged line is named.
#include "runtime/agent/contacts_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "runtime/posix/temporary_directory.h"

namespace abacus {
namespace {

using ::testing::HasSubstr;

TEST(ContactsFile, KeepsContacts) {
  TemporaryDirectory directory;
  EXPECT_TRUE(load_contacts(directory.path())->empty());
  Contact contact{{}, Endpoint::parse("[::1]:7411").value()};
  contact.node.bytes[3] = 4;
  ASSERT_TRUE(save_contacts(directory.path(), {contact, contact}).has_value());
  EXPECT_EQ(load_contacts(directory.path()).value(), (std::vector<Contact>{contact, contact}));
}

TEST(ContactsFile, NamesTheDamagedLine) {
  TemporaryDirectory directory;
  std::ofstream(directory.path() / "contacts") << "\nnobody\n";
  auto contacts = load_contacts(directory.path());
  ASSERT_FALSE(contacts.has_value());
  EXPECT_THAT(contacts.error().message, HasSubstr("line 2"));
  EXPECT_THAT(contacts.error().message, HasSubstr("NODE@ADDRESS:PORT"));
}

}  // namespace
}  // namespace abacus
