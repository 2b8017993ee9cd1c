// The extension is a DER sequence that is read back strictly.
#include "runtime/net/attributes.h"

#include "runtime/net/openssl.h"

namespace abacus {
namespace {

constexpr int kMaxEntries = 32;

struct FreeSequence {
  void operator()(ASN1_SEQUENCE_ANY* sequence) const { sk_ASN1_TYPE_pop_free(sequence, ASN1_TYPE_free); }
};
using SequencePtr = std::unique_ptr<ASN1_SEQUENCE_ANY, FreeSequence>;

void push_text(ASN1_SEQUENCE_ANY* sequence, std::string_view text) {
  ASN1_STRING* string = ASN1_STRING_type_new(V_ASN1_UTF8STRING);
  ASN1_STRING_set(string, text.data(), static_cast<int>(text.size()));
  ASN1_TYPE* item = ASN1_TYPE_new();
  ASN1_TYPE_set(item, V_ASN1_UTF8STRING, string);
  sk_ASN1_TYPE_push(sequence, item);
}

void push_flag(ASN1_SEQUENCE_ANY* sequence, bool flag) {
  ASN1_TYPE* item = ASN1_TYPE_new();
  // For booleans OpenSSL wants any non-null pointer as "true".
  ASN1_TYPE_set(item, V_ASN1_BOOLEAN, flag ? item : nullptr);
  sk_ASN1_TYPE_push(sequence, item);
}

Bytes to_der(const ASN1_SEQUENCE_ANY* sequence) {
  unsigned char* data = nullptr;
  int size = i2d_ASN1_SEQUENCE_ANY(sequence, &data);
  if (size <= 0) return {};
  Bytes der(data, data + size);
  OPENSSL_free(data);
  return der;
}

void push_sequence(ASN1_SEQUENCE_ANY* sequence, const Bytes& der) {
  ASN1_STRING* string = ASN1_STRING_type_new(V_ASN1_SEQUENCE);
  ASN1_STRING_set(string, der.data(), static_cast<int>(der.size()));
  ASN1_TYPE* item = ASN1_TYPE_new();
  ASN1_TYPE_set(item, V_ASN1_SEQUENCE, string);
  sk_ASN1_TYPE_push(sequence, item);
}

Result<SequencePtr> parse_sequence(BytesView der) {
  const unsigned char* at = der.data();
  SequencePtr sequence(d2i_ASN1_SEQUENCE_ANY(nullptr, &at, static_cast<long>(der.size())));
  if (!sequence || at != der.data() + der.size()) {
    return fail(ErrorCode::corrupt, "the node attributes in the certificate are no DER sequence");
  }
  if (sk_ASN1_TYPE_num(sequence.get()) > kMaxEntries) {
    return fail(ErrorCode::corrupt, "more than {} node attributes in a certificate", kMaxEntries);
  }
  return sequence;
}

BytesView content(const ASN1_TYPE* item) {
  const ASN1_STRING* string = item->value.asn1_string;
  return {ASN1_STRING_get0_data(string), static_cast<std::size_t>(ASN1_STRING_length(string))};
}

Status read_entry(const ASN1_TYPE* item, NodeAttributes& attributes) {
  if (ASN1_TYPE_get(item) != V_ASN1_SEQUENCE) return fail(ErrorCode::corrupt, "a node attribute is no DER sequence");
  TRY(SequencePtr entry, parse_sequence(content(item)));
  auto part = [&](int i) { return sk_ASN1_TYPE_value(entry.get(), i); };
  if (sk_ASN1_TYPE_num(entry.get()) < 3 || ASN1_TYPE_get(part(0)) != V_ASN1_UTF8STRING ||
      ASN1_TYPE_get(part(1)) != V_ASN1_UTF8STRING || ASN1_TYPE_get(part(2)) != V_ASN1_BOOLEAN) {
    return fail(ErrorCode::corrupt, "a node attribute is not name, value, vouched");
  }
  for (auto [name, attribute] : named_attributes(attributes)) {
    if (name != as_text(content(part(0)))) continue;
    attribute->value = as_text(content(part(1)));
    attribute->vouched = part(2)->value.boolean != 0;
  }
  return {};
}

}  // namespace

Status check_attributes(const NodeAttributes& attributes) {
  for (auto [name, attribute] : named_attributes(attributes)) {
    if (attribute->value.size() > kMaxAttributeBytes) {
      return fail(ErrorCode::invalid, "the {} has {} bytes, at most {} are allowed", name, attribute->value.size(),
                  kMaxAttributeBytes);
    }
    for (char c : attribute->value) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
        return fail(ErrorCode::invalid, "the {} contains a control character", name);
      }
    }
  }
  return {};
}

Bytes encode_attributes(const NodeAttributes& attributes) {
  SequencePtr all(sk_ASN1_TYPE_new_null());
  for (auto [name, attribute] : named_attributes(attributes)) {
    if (attribute->value.empty()) continue;
    SequencePtr entry(sk_ASN1_TYPE_new_null());
    push_text(entry.get(), name);
    push_text(entry.get(), attribute->value);
    push_flag(entry.get(), attribute->vouched);
    push_sequence(all.get(), to_der(entry.get()));
  }
  return to_der(all.get());
}

Result<NodeAttributes> decode_attributes(BytesView der) {
  TRY(SequencePtr all, parse_sequence(der));
  NodeAttributes attributes;
  for (int i = 0; i < sk_ASN1_TYPE_num(all.get()); ++i) {
    TRY_STATUS(read_entry(sk_ASN1_TYPE_value(all.get(), i), attributes));
  }
  if (auto sound = check_attributes(attributes); !sound) return fail(ErrorCode::corrupt, "{}", sound.error().message);
  return attributes;
}

}  // namespace abacus
