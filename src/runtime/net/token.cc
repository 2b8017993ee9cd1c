// A token's text form with its checksum, and the book as a JSON file that is replaced as a whole.
#include "runtime/net/token.h"

#include <sodium.h>

#include <algorithm>
#include <boost/json.hpp>

#include "runtime/net/certificate.h"
#include "runtime/net/files.h"
#include "runtime/net/keys.h"

namespace abacus {

namespace json = boost::json;

namespace {

constexpr std::string_view kTokenPrefix = "abacus1_";
constexpr std::size_t kChecksumBytes = 4;
constexpr std::size_t kTokenBytes = OrgId::kSize + kTokenSecretBytes + kChecksumBytes;
constexpr std::size_t kMaxTokens = 10'000;
constexpr Duration kRemembered = hours(24 * 7);  // an expired token still gets a clear answer for so long
constexpr int kBase64 = sodium_base64_VARIANT_URLSAFE_NO_PADDING;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

Bytes token_body(const EnrolmentToken& token) {
  Bytes body(token.org.bytes.begin(), token.org.bytes.end());
  body.insert(body.end(), token.secret.begin(), token.secret.end());
  return body;
}

}  // namespace

std::string EnrolmentToken::to_string() const {
  Bytes body = token_body(*this);
  auto checksum = blake2b(body);
  body.insert(body.end(), checksum.begin(), checksum.begin() + kChecksumBytes);
  std::string text(sodium_base64_ENCODED_LEN(kTokenBytes, kBase64), '\0');
  sodium_bin2base64(text.data(), text.size(), body.data(), body.size(), kBase64);
  text.pop_back();  // the terminating zero
  return std::string(kTokenPrefix) + text;
}

Result<EnrolmentToken> EnrolmentToken::parse(std::string_view text) {
  std::string_view word = trimmed(text);
  if (!word.starts_with(kTokenPrefix)) {
    return fail(ErrorCode::invalid,
                "this is no enrolment token: want a word that begins with {}, as printed by `abacus "
                "org token`",
                kTokenPrefix);
  }
  word.remove_prefix(kTokenPrefix.size());
  Bytes raw(kTokenBytes);
  std::size_t size = 0;
  const char* end = nullptr;
  bool decoded =
      sodium_base642bin(raw.data(), raw.size(), word.data(), word.size(), nullptr, &size, &end, kBase64) == 0;
  EnrolmentToken token;
  if (decoded && size == kTokenBytes && end == word.data() + word.size()) {
    std::copy_n(raw.begin(), OrgId::kSize, token.org.bytes.begin());
    std::copy_n(raw.begin() + OrgId::kSize, kTokenSecretBytes, token.secret.begin());
    auto checksum = blake2b(token_body(token));
    if (std::equal(checksum.begin(), checksum.begin() + kChecksumBytes, raw.end() - kChecksumBytes)) return token;
  }
  return fail(ErrorCode::invalid,
              "the enrolment token is damaged: a character was lost or changed; copy it again, whole");
}

struct TokenBook::Entry {
  std::string secret_hash;  // hex of BLAKE2b-256
  WallTime expires_at;
  std::uint32_t uses = 0;
  NodeAttributes attributes;
  std::vector<std::string> used_by;  // hex of NodeIds
};

namespace {

json::object attributes_to_json(const NodeAttributes& attributes) {
  json::object object;
  for (auto [name, attribute] : named_attributes(attributes)) {
    if (!attribute->value.empty()) object[name] = attribute->value;
  }
  return object;
}

NodeAttributes attributes_from_json(const json::object& object) {
  NodeAttributes attributes;
  for (auto [name, attribute] : named_attributes(attributes)) {
    if (const json::value* value = object.if_contains(name)) *attribute = {std::string(value->as_string()), true};
  }
  return attributes;
}

}  // namespace

Result<std::vector<TokenBook::Entry>> TokenBook::load() const {
  auto text = read_secret_file(file_);
  if (!text && text.error().code == ErrorCode::not_found) return std::vector<Entry>{};
  if (!text) return fail(text.error());
  std::vector<Entry> entries;
  try {
    json::value parsed = json::parse(*text);
    for (const json::value& item : parsed.at("tokens").as_array()) {
      Entry entry;
      entry.secret_hash = item.at("secret_blake2b").as_string();
      entry.expires_at.ns = item.at("expires_at_ns").as_int64();
      entry.uses = item.at("uses").to_number<std::uint32_t>();
      entry.attributes = attributes_from_json(item.at("attributes").as_object());
      for (const json::value& node : item.at("used_by").as_array()) entry.used_by.emplace_back(node.as_string());
      entries.push_back(std::move(entry));
    }
  } catch (const std::exception& error) {
    return fail(ErrorCode::corrupt, "{} is no book of tokens: {}; move it away to begin a new one", file_.string(),
                error.what());
  }
  return entries;
}

Status TokenBook::save(const std::vector<Entry>& entries) const {
  json::array tokens;
  for (const Entry& entry : entries) {
    tokens.push_back(json::object{{"secret_blake2b", entry.secret_hash},
                                  {"expires_at_ns", entry.expires_at.ns},
                                  {"uses", entry.uses},
                                  {"attributes", attributes_to_json(entry.attributes)},
                                  {"used_by", json::array(entry.used_by.begin(), entry.used_by.end())}});
  }
  return write_small_file(file_, json::serialize(json::object{{"tokens", std::move(tokens)}}), 0600);
}

Result<EnrolmentToken> TokenBook::make(const OrgId& org, const TokenGrant& grant, WallTime now) {
  TRY_STATUS(check_attributes(grant.attributes));
  if (grant.uses == 0 || grant.valid_for.ns <= 0) {
    return fail(ErrorCode::invalid, "a token needs at least one use and a time for which it is valid");
  }
  TRY(FileLock lock, FileLock::take(file_.string() + ".lock"));
  TRY(std::vector<Entry> entries, load());
  std::erase_if(entries, [&](const Entry& entry) { return entry.expires_at + kRemembered < now; });
  if (entries.size() >= kMaxTokens) return fail(ErrorCode::exhausted, "{} tokens are out already", entries.size());
  EnrolmentToken token{org, {}};
  fill_random(token.secret);
  entries.push_back({to_hex(blake2b(token.secret)), now + grant.valid_for, grant.uses, grant.attributes, {}});
  TRY_STATUS(save(entries));
  return token;
}

Result<NodeAttributes> TokenBook::redeem(BytesView secret, const NodeId& node, WallTime now) {
  TRY(FileLock lock, FileLock::take(file_.string() + ".lock"));
  TRY(std::vector<Entry> entries, load());
  std::string hash = to_hex(blake2b(secret));
  Entry* entry = nullptr;
  // Over all entries, each in constant time: how long it takes says nothing about the secrets.
  for (Entry& candidate : entries) {
    if (equal_secrets(as_bytes(candidate.secret_hash), as_bytes(hash))) entry = &candidate;
  }
  if (entry == nullptr) return fail(ErrorCode::denied, "this organisation's authority does not know the token");
  if (now >= entry->expires_at) {
    return fail(ErrorCode::denied, "the token expired on {}: ask for a new one", to_date_string(entry->expires_at));
  }
  std::string name = node.to_string();
  if (std::find(entry->used_by.begin(), entry->used_by.end(), name) != entry->used_by.end()) return entry->attributes;
  if (entry->used_by.size() >= entry->uses) {
    return fail(ErrorCode::denied, "the token is used up ({} of {} uses): ask for a new one", entry->used_by.size(),
                entry->uses);
  }
  entry->used_by.push_back(name);
  TRY_STATUS(save(entries));
  return entry->attributes;
}

}  // namespace abacus
