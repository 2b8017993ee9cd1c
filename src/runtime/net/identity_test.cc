// Keys, certificates and the files that hold them.
#include "runtime/net/identity.h"

#include <gtest/gtest.h>
// rapidcheck's header wants gtest's before it
#include <rapidcheck/gtest.h>
#include <sys/stat.h>

#include "runtime/net/authority.h"
#include "runtime/net/files.h"
#include "runtime/net/testing.h"
#include "runtime/posix/temporary_directory.h"

namespace abacus {
namespace {

using testing::Org;
using testing::wall_now;

bool mentions(const Error& error, std::string_view words) { return error.message.find(words) != std::string::npos; }

TEST(KeysTest, KnownAnswer) {
  // RFC 8032, 7.1, test 1: the key that this seed gives.
  Ed25519Key seed;
  Bytes raw = from_hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60").value();
  std::copy(raw.begin(), raw.end(), seed.begin());
  EXPECT_EQ(to_hex(KeyPair::from_seed(seed).public_key()),
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
}

RC_GTEST_PROP(KeysTest, ASignatureHoldsForItsKeyContextAndBytesOnly, (const Bytes& bytes, const std::string& tail)) {
  KeyPair key = KeyPair::generate(), other = KeyPair::generate();
  std::string context = "offer" + tail.substr(0, 200);
  auto signature = Signer(key).sign(context, bytes);
  RC_ASSERT(verify(key.node_id(), context, bytes, signature));
  RC_ASSERT(!verify(other.node_id(), context, bytes, signature));
  RC_ASSERT(!verify(key.node_id(), context + "x", bytes, signature));
  Bytes longer = bytes;
  longer.push_back(0);
  RC_ASSERT(!verify(key.node_id(), context, longer, signature));
  signature[10] ^= 1;
  RC_ASSERT(!verify(key.node_id(), context, bytes, signature));
}

TEST(KeysTest, ContextAndBytesCannotBeShifted) {
  KeyPair key = KeyPair::generate();
  auto signature = key.sign("ab", as_bytes("c"));
  EXPECT_FALSE(verify(key.node_id(), "a", as_bytes("bc"), signature));
  EXPECT_FALSE(verify(key.node_id(), "ab", as_bytes("c"), BytesView(signature).first(63)));
}

TEST(CertificateTest, RoundTripsThroughPemAndDer) {
  Org org("Acme & Söhne");
  KeyPair key = KeyPair::generate();
  NodeAttributes attributes{{"eu-north", true}, {"SE", false}, {"ann", true}, {}};
  Certificate made = org.sign(key.public_key(), attributes);
  for (const Certificate& read :
       {Certificate::from_pem(made.to_pem()).value(), Certificate::from_der(made.to_der()).value()}) {
    EXPECT_EQ(read.node_id(), key.node_id());
    EXPECT_EQ(read.attributes(), attributes);
    EXPECT_EQ(read.organisation_name(), "Acme & Söhne");
    EXPECT_FALSE(read.is_authority());
    EXPECT_TRUE(read.signed_by(org.key.public_key()));
    EXPECT_FALSE(read.signed_by(key.public_key()));
    EXPECT_EQ(read.serial(), made.serial());
    EXPECT_EQ(read.not_after(), made.not_after());
  }
  EXPECT_EQ(made.serial().size(), 32u);
  EXPECT_NE(made.serial(), org.sign(key.public_key()).serial());
  EXPECT_TRUE(org.certificate.is_authority());
}

TEST(CertificateTest, NoiseIsAnErrorEverywhere) {
  Org org("Acme");
  Bytes der = org.node().certificate.to_der();
  for (std::size_t size = 0; size < der.size(); size += 7) {
    EXPECT_FALSE(Certificate::from_der(BytesView(der).first(size)));
  }
  EXPECT_FALSE(Certificate::from_pem("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"));
  EXPECT_FALSE(key_from_pem("nothing"));
}

RC_GTEST_PROP(CertificateTest, AttributeDecodingSurvivesAnyBytes, (const Bytes& noise)) {
  (void)decode_attributes(noise);
  Bytes changed = encode_attributes({{"eu", true}, {}, {"me", false}, {}});
  for (std::size_t i = 0; i < noise.size() && i < changed.size(); ++i) changed[i] ^= noise[i];
  (void)decode_attributes(changed);
}

TEST(CertificateTest, RefusesUnsoundAttributesAndNames) {
  Org org("Acme");
  KeyPair key = KeyPair::generate();
  CertificateContent content{key.public_key(), "Acme", false, {}, wall_now(), wall_now() + hours(1)};
  content.attributes.region.value = "two\nlines";
  EXPECT_EQ(sign_certificate(org.key, &org.certificate, content).error().code, ErrorCode::invalid);
  content.attributes.region.value = std::string(65, 'x');
  EXPECT_EQ(sign_certificate(org.key, &org.certificate, content).error().code, ErrorCode::invalid);
  content.attributes.region.value = "eu";
  content.organisation_name = std::string(65, 'x');
  EXPECT_EQ(sign_certificate(org.key, &org.certificate, content).error().code, ErrorCode::invalid);
}

class DataDirectoryTest : public ::testing::Test {
 protected:
  TemporaryDirectory folder;
  std::filesystem::path dir = folder.path() / "node";
  Org org{"Acme"};

  void write_identity(const Certificate& certificate) {
    ASSERT_TRUE(save_certificates(dir, certificate, org.certificate));
  }
};

TEST_F(DataDirectoryTest, SavesAndLoads) {
  KeyPair key = load_or_make_node_key(dir).value();
  EXPECT_EQ(load_or_make_node_key(dir).value().public_key(), key.public_key()) << "an existing key stays";
  struct stat info {};
  ASSERT_EQ(stat((dir / "node.key").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777u, 0600u);
  write_identity(org.sign(key.public_key(), {{"eu", true}, {}, {}, {}}));
  NodeIdentity identity = load_identity(dir, wall_now()).value();
  EXPECT_EQ(identity.node_id(), key.node_id());
  EXPECT_EQ(identity.org_id(), org.key.org_id());
  EXPECT_EQ(identity.attributes().region, (Attribute{"eu", true}));
}

TEST_F(DataDirectoryTest, MissingFilesSayHowToJoin) {
  auto nothing = load_identity(dir, wall_now());
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, ErrorCode::not_found);
  EXPECT_TRUE(mentions(nothing.error(), "node.key") && mentions(nothing.error(), "abacus join"))
      << nothing.error().message;
  (void)load_or_make_node_key(dir);
  auto no_certificate = load_identity(dir, wall_now());
  EXPECT_TRUE(mentions(no_certificate.error(), "node.crt")) << no_certificate.error().message;
}

TEST_F(DataDirectoryTest, AReadableKeyIsRefused) {
  KeyPair key = load_or_make_node_key(dir).value();
  write_identity(org.sign(key.public_key()));
  std::filesystem::permissions(dir / "node.key", std::filesystem::perms(0644));
  auto loaded = load_identity(dir, wall_now());
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::denied);
  EXPECT_TRUE(mentions(loaded.error(), "0644") && mentions(loaded.error(), "chmod 600")) << loaded.error().message;
}

TEST_F(DataDirectoryTest, AnExpiredCertificateSaysWhenAndWhatToDo) {
  KeyPair key = load_or_make_node_key(dir).value();
  write_identity(org.sign(key.public_key(), {}, hours(-2), hours(1)));
  auto loaded = load_identity(dir, wall_now() + hours(2));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::denied);
  EXPECT_TRUE(mentions(loaded.error(), to_date_string(wall_now() + hours(1))) &&
              mentions(loaded.error(), "abacus join"))
      << loaded.error().message;
  EXPECT_FALSE(load_identity(dir, wall_now() - hours(3))) << "not valid yet";
}

TEST_F(DataDirectoryTest, FilesOfDifferentNodesOrOrganisationsAreTold) {
  KeyPair key = load_or_make_node_key(dir).value();
  Certificate of_other_node = org.sign(KeyPair::generate().public_key());
  EXPECT_EQ(save_certificates(dir, of_other_node, org.certificate).error().code, ErrorCode::corrupt);
  ASSERT_TRUE(write_small_file(dir / "node.crt", of_other_node.to_pem(), 0644));
  ASSERT_TRUE(write_small_file(dir / "org.crt", org.certificate.to_pem(), 0644));
  auto mismatch = load_identity(dir, wall_now());
  EXPECT_TRUE(mentions(mismatch.error(), "different nodes")) << mismatch.error().message;
  Org other("Borealis");
  ASSERT_TRUE(write_small_file(dir / "node.crt", other.sign(key.public_key()).to_pem(), 0644));
  auto foreign = load_identity(dir, wall_now());
  EXPECT_TRUE(mentions(foreign.error(), "was not signed by organisation Acme")) << foreign.error().message;
  ASSERT_TRUE(write_small_file(dir / "node.crt", "rubbish", 0644));
  EXPECT_EQ(load_identity(dir, wall_now()).error().code, ErrorCode::corrupt);
}

TEST_F(DataDirectoryTest, TheAuthorityEnrolsItsOwnMachine) {
  OrgAuthority made = OrgAuthority::create(dir, "Acme", wall_now()).value();
  EXPECT_EQ(OrgAuthority::create(dir, "Acme", wall_now()).error().code, ErrorCode::already_exists);
  OrgAuthority loaded = OrgAuthority::load(dir, wall_now()).value();
  EXPECT_EQ(loaded.id(), made.id());
  NodeIdentity identity = enrol_directly(loaded, dir, {{"eu", false}, {}, {}, {}}, wall_now()).value();
  EXPECT_EQ(load_identity(dir, wall_now()).value().node_id(), identity.node_id());
  EXPECT_EQ(identity.attributes().region, (Attribute{"eu", true}));
  EXPECT_GT(identity.certificate.not_after(), wall_now() + hours(24 * 364));
  EXPECT_NE(read_small_file(dir / "issued.log").value().find(identity.certificate.serial()), std::string::npos);
}

TEST_F(DataDirectoryTest, AnAuthorityThatIsNotThereOrIsReadableIsTold) {
  EXPECT_TRUE(mentions(OrgAuthority::load(dir, wall_now()).error(), "abacus org init"));
  (void)OrgAuthority::create(dir, "Acme", wall_now());
  EXPECT_FALSE(OrgAuthority::load(dir, wall_now() + kOrgValidity + hours(2)));
  std::filesystem::permissions(dir / "org.key", std::filesystem::perms(0640));
  EXPECT_EQ(OrgAuthority::load(dir, wall_now()).error().code, ErrorCode::denied);
}

}  // namespace
}  // namespace abacus
