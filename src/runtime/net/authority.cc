// What a request may ask of the authority, and the log of what it issued.
#include "runtime/net/authority.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/net/files.h"

namespace abacus {
namespace {

constexpr const char* kOrgKeyFile = "org.key";
constexpr const char* kOrgCertificateFile = "org.crt";
constexpr Duration kClockTolerance = hours(1);

Status append_line(const std::filesystem::path& path, const std::string& line) {
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  bool written = fd >= 0 && write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size()) && fsync(fd) == 0;
  int error = errno;
  if (fd >= 0) close(fd);
  if (written) return {};
  return fail(ErrorCode::internal, "cannot write {}: {}", path.string(), std::strerror(error));
}

/// What the certificate will say: the token's word where it has one, else the node's own, unvouched.
Result<NodeAttributes> settle_attributes(const NodeAttributes& fixed, const NodeAttributes& requested) {
  NodeAttributes settled = requested;
  auto from_token = named_attributes(fixed);
  auto result = named_attributes(settled);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const Attribute& word = *from_token[i].second;
    Attribute& attribute = *result[i].second;
    attribute.vouched = false;
    if (word.value.empty()) continue;
    if (!attribute.value.empty() && attribute.value != word.value) {
      return fail(ErrorCode::invalid,
                  "the token is for {} '{}', but the node asks for '{}': leave it out, or ask for "
                  "another token",
                  result[i].first, word.value, attribute.value);
    }
    attribute = {word.value, true};
  }
  return settled;
}

}  // namespace

OrgAuthority::OrgAuthority(std::filesystem::path dir, KeyPair key, Certificate certificate)
    : dir_(std::move(dir)), key_(std::move(key)), certificate_(std::move(certificate)), tokens_(dir_ / "tokens.json") {}

bool OrgAuthority::lives_in(const std::filesystem::path& dir) {
  std::error_code ignored;
  return std::filesystem::exists(dir / kOrgKeyFile, ignored);
}

Result<OrgAuthority> OrgAuthority::create(const std::filesystem::path& dir, const std::string& name, WallTime now) {
  if (lives_in(dir)) {
    return fail(ErrorCode::already_exists, "{} holds an organisation already: use that one, or choose another folder",
                dir.string());
  }
  KeyPair key = KeyPair::generate();
  TRY(Certificate certificate,
      sign_certificate(key, nullptr, {key.public_key(), name, true, {}, now - kClockTolerance, now + kOrgValidity}));
  TRY_STATUS(make_private_folder(dir));
  TRY_STATUS(write_small_file(dir / kOrgCertificateFile, certificate.to_pem(), 0644));
  TRY_STATUS(write_small_file(dir / kOrgKeyFile, key_to_pem(key), 0600));
  return OrgAuthority(dir, std::move(key), std::move(certificate));
}

Result<OrgAuthority> OrgAuthority::load(const std::filesystem::path& dir, WallTime now) {
  auto key_text = read_secret_file(dir / kOrgKeyFile);
  if (!key_text && key_text.error().code == ErrorCode::not_found) {
    return fail(ErrorCode::not_found, "no organisation's authority lives in {}: make one with `abacus org init`",
                dir.string());
  }
  if (!key_text) return fail(key_text.error());
  auto key = key_from_pem(*key_text);
  if (!key) return fail(key.error().in((dir / kOrgKeyFile).string()));
  TRY(std::string pem, read_small_file(dir / kOrgCertificateFile));
  auto certificate = Certificate::from_pem(pem);
  if (!certificate) return fail(certificate.error().in((dir / kOrgCertificateFile).string()));
  if (certificate->key() != key->public_key() || !certificate->is_authority()) {
    return fail(ErrorCode::corrupt, "org.crt in {} is not the certificate of org.key", dir.string());
  }
  TRY_STATUS(certificate->check_dates(
      now, fmt::format("the certificate of organisation {}", certificate->organisation_name())));
  return OrgAuthority(dir, std::move(*key), std::move(*certificate));
}

Result<Certificate> OrgAuthority::issue(const NodeId& node, const NodeAttributes& attributes, WallTime now,
                                        Duration validity) const {
  WallTime until = std::min(now + validity, certificate_.not_after());
  TRY(Certificate certificate, sign_certificate(key_, &certificate_,
                                                {node.bytes, certificate_.organisation_name(), false, attributes,
                                                 now - kClockTolerance, until}));
  TRY_STATUS(
      append_line(dir_ / "issued.log", fmt::format("{} serial {} node {} until {}\n", to_date_string(now),
                                                   certificate.serial(), node.to_string(), to_date_string(until))));
  return certificate;
}

Result<EnrolmentToken> OrgAuthority::make_token(const TokenGrant& grant, WallTime now) {
  return tokens_.make(id(), grant, now);
}

Result<Certificate> OrgAuthority::enrol(BytesView token_secret, const NodeId& node, const NodeAttributes& requested,
                                        WallTime now) {
  TRY_STATUS(check_attributes(requested));
  TRY(NodeAttributes fixed, tokens_.redeem(token_secret, node, now));
  TRY(NodeAttributes settled, settle_attributes(fixed, requested));
  return issue(node, settled, now);
}

Result<NodeIdentity> enrol_directly(const OrgAuthority& authority, const std::filesystem::path& data_dir,
                                    NodeAttributes attributes, WallTime now) {
  for (auto [name, attribute] : named_attributes(attributes)) attribute->vouched = !attribute->value.empty();
  TRY(KeyPair key, load_or_make_node_key(data_dir));
  TRY(Certificate certificate, authority.issue(key.node_id(), attributes, now));
  TRY_STATUS(save_certificates(data_dir, certificate, authority.certificate()));
  return NodeIdentity{std::move(key), std::move(certificate), authority.certificate()};
}

}  // namespace abacus
