// Loads the parts of an identity and checks that they fit each other; errors say what to do.
#include "runtime/net/identity.h"

#include "runtime/net/files.h"

namespace abacus {
namespace {

constexpr const char* kNodeKeyFile = "node.key";
constexpr const char* kNodeCertificateFile = "node.crt";
constexpr const char* kOrgCertificateFile = "org.crt";

Error with_remedy(Error error, const std::filesystem::path& data_dir) {
  if (error.code != ErrorCode::not_found) return error;
  error.message += fmt::format(": {} holds no node identity yet; enrol with `abacus join HOST:PORT --token TOKEN`",
                               data_dir.string());
  return error;
}

Result<Certificate> load_certificate(const std::filesystem::path& path) {
  TRY(std::string pem, read_small_file(path));
  auto certificate = Certificate::from_pem(pem);
  if (!certificate) return fail(certificate.error().in(path.string()));
  return certificate;
}

Result<KeyPair> load_key(const std::filesystem::path& path) {
  TRY(std::string pem, read_secret_file(path));
  auto key = key_from_pem(pem);
  if (!key) return fail(key.error().in(path.string()));
  return key;
}

Status check_fit(const KeyPair& key, const Certificate& node, const Certificate& organisation) {
  if (node.key() != key.public_key()) {
    return fail(ErrorCode::corrupt,
                "node.crt is for node {}, but node.key is the key of {}: they are of different nodes",
                node.node_id().short_string(), key.node_id().short_string());
  }
  if (!organisation.is_authority() || !organisation.signed_by(organisation.key())) {
    return fail(ErrorCode::corrupt, "org.crt is no organisation's certificate");
  }
  if (!node.signed_by(organisation.key())) {
    return fail(ErrorCode::corrupt, "node.crt was not signed by organisation {} ({}) of org.crt",
                organisation.organisation_name(), organisation.org_id().short_string());
  }
  return {};
}

Result<NodeIdentity> load_parts(const std::filesystem::path& data_dir) {
  TRY(KeyPair key, load_key(data_dir / kNodeKeyFile));
  TRY(Certificate node, load_certificate(data_dir / kNodeCertificateFile));
  TRY(Certificate organisation, load_certificate(data_dir / kOrgCertificateFile));
  if (auto fit = check_fit(key, node, organisation); !fit) return fail(fit.error().in(data_dir.string()));
  return NodeIdentity{std::move(key), std::move(node), std::move(organisation)};
}

}  // namespace

Result<NodeIdentity> load_identity(const std::filesystem::path& data_dir, WallTime now) {
  auto identity = load_parts(data_dir);
  if (!identity) return fail(with_remedy(identity.error(), data_dir));
  TRY_STATUS(identity->organisation.check_dates(
      now, fmt::format("the certificate of organisation {}", identity->organisation.organisation_name())));
  TRY_STATUS(identity->certificate.check_dates(
      now, fmt::format("the certificate of node {} in {}", identity->node_id().short_string(), data_dir.string())));
  return identity;
}

Result<KeyPair> load_or_make_node_key(const std::filesystem::path& data_dir) {
  auto key = load_key(data_dir / kNodeKeyFile);
  if (key || key.error().code != ErrorCode::not_found) return key;
  TRY_STATUS(make_private_folder(data_dir));
  KeyPair fresh = KeyPair::generate();
  TRY_STATUS(write_small_file(data_dir / kNodeKeyFile, key_to_pem(fresh), 0600));
  return fresh;
}

Status save_certificates(const std::filesystem::path& data_dir, const Certificate& node,
                         const Certificate& organisation) {
  TRY(KeyPair key, load_key(data_dir / kNodeKeyFile));
  TRY_STATUS(check_fit(key, node, organisation));
  TRY_STATUS(write_small_file(data_dir / kOrgCertificateFile, organisation.to_pem(), 0644));
  return write_small_file(data_dir / kNodeCertificateFile, node.to_pem(), 0644);
}

}  // namespace abacus
