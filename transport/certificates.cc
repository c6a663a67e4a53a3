#include "transport/certificates.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "support/clock.h"
#include "support/digest.h"
#include "support/status.h"

namespace hone {
namespace {

template <auto kFree>
struct Freed {
  template <typename T>
  void operator()(T* what) const {
    kFree(what);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Bio = std::unique_ptr<BIO, Freed<BIO_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>>;
using Trust = std::unique_ptr<X509_STORE, Freed<X509_STORE_free>>;
using Verification = std::unique_ptr<X509_STORE_CTX, Freed<X509_STORE_CTX_free>>;

constexpr int64_t kDayS = kDayNs / kSecondNs;
constexpr int64_t kClockSkewS = kHourNs / kSecondNs;
constexpr long kVersion3 = 2;
constexpr int kSerialBytes = 16;
// Chains of ours have two; nobody needs more than this.
constexpr size_t kMostCertificates = 10;

absl::Status Failed(const char* what) {
  std::array<char, 256> reason = {};
  ERR_error_string_n(ERR_get_error(), reason.data(), reason.size());
  return absl::InternalError(fmt::format("cannot {}: {}", what, reason.data()));
}

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

Bio Reading(std::string_view text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

absl::StatusOr<std::vector<Certificate>> ReadChain(std::string_view pem) {
  const Bio bio = Reading(pem);
  std::vector<Certificate> chain;
  while (chain.size() < kMostCertificates) {
    Certificate next(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    if (next == nullptr) break;
    chain.push_back(std::move(next));
  }
  ERR_clear_error();  // the end of the text is an error to OpenSSL
  if (chain.empty()) return absl::InvalidArgumentError("expected a certificate in PEM, found none");
  return chain;
}

absl::StatusOr<Key> ReadKey(std::string_view pem) {
  const Bio bio = Reading(pem);
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (key == nullptr)
    return absl::InvalidArgumentError("expected a private key in PEM, found none");
  return key;
}

std::string FingerprintOf(X509* certificate) {
  unsigned char* bytes = nullptr;
  const int size = i2d_X509(certificate, &bytes);
  if (size < 0) return "";
  std::string digest = Sha256Hex({reinterpret_cast<const char*>(bytes), static_cast<size_t>(size)});
  OPENSSL_free(bytes);
  return digest;
}

bool SetSerial(X509* certificate) {
  std::array<unsigned char, kSerialBytes> bytes = {};
  if (RAND_bytes(bytes.data(), kSerialBytes) != 1) return false;
  bytes[0] &= 0x7f;
  BIGNUM* number = BN_bin2bn(bytes.data(), kSerialBytes, nullptr);
  const bool is_set = BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(number);
  return is_set;
}

bool SetName(X509_NAME* name, const std::string& common_name) {
  return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(common_name.data()),
                                    static_cast<int>(common_name.size()), -1, 0) == 1;
}

bool SetTimes(X509* certificate, int64_t now_s, int days) {
  return ASN1_TIME_set(X509_getm_notBefore(certificate), now_s - kClockSkewS) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), now_s + days * kDayS) != nullptr;
}

bool AddExtension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

// Whether OpenSSL reads the name as one: in a list of names a comma begins the next.
bool IsHostName(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '-' || c == '_' || c == ':' || c == '*';
  });
}

// "DNS:host,IP:10.0.0.1", as OpenSSL reads it.
std::string AlternativeNames(const std::vector<std::string>& names) {
  return absl::StrJoin(names, ",", [](std::string* out, const std::string& name) {
    ASN1_OCTET_STRING* const ip = a2i_IPADDRESS(name.c_str());
    out->append(ip != nullptr ? "IP:" : "DNS:").append(name);
    ASN1_OCTET_STRING_free(ip);
  });
}

// A certificate of `key` without extensions, yet to be signed.
Certificate Draft(EVP_PKEY* key, const std::string& name, int64_t now_s, int days) {
  Certificate draft(X509_new());
  const bool is_drawn =
      draft != nullptr && X509_set_version(draft.get(), kVersion3) == 1 && SetSerial(draft.get()) &&
      SetName(X509_get_subject_name(draft.get()), name) && SetTimes(draft.get(), now_s, days) &&
      X509_set_pubkey(draft.get(), key) == 1;
  return is_drawn ? std::move(draft) : nullptr;
}

absl::StatusOr<Identity> Sign(X509* draft, EVP_PKEY* own, EVP_PKEY* signer) {
  if (X509_sign(draft, signer, EVP_sha256()) == 0) return Failed("sign a certificate");
  const Bio key(BIO_new(BIO_s_mem()));
  const Bio certificate(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_PrivateKey(key.get(), own, nullptr, nullptr, 0, nullptr, nullptr) != 1 ||
      PEM_write_bio_X509(certificate.get(), draft) != 1) {
    return Failed("write a certificate");
  }
  return Identity{TextOf(key.get()), TextOf(certificate.get())};
}

}  // namespace

absl::StatusOr<Identity> MakeAuthority(const std::string& name, int64_t now_s, int days) {
  const Key key(EVP_EC_gen("P-256"));
  if (key == nullptr) return Failed("make a key");
  const Certificate draft = Draft(key.get(), name, now_s, days);
  if (draft == nullptr ||
      X509_set_issuer_name(draft.get(), X509_get_subject_name(draft.get())) != 1 ||
      !AddExtension(draft.get(), draft.get(), NID_basic_constraints,
                    "critical,CA:TRUE,pathlen:0") ||
      !AddExtension(draft.get(), draft.get(), NID_key_usage, "critical,keyCertSign,cRLSign") ||
      !AddExtension(draft.get(), draft.get(), NID_subject_key_identifier, "hash")) {
    return Failed("make an authority's certificate");
  }
  return Sign(draft.get(), key.get(), key.get());
}

absl::StatusOr<Identity> MakeIdentity(const Identity& authority,
                                      const std::vector<std::string>& names, CertificateUse use,
                                      int64_t now_s, int days, const std::string& own) {
  if (names.empty()) return absl::InvalidArgumentError("expected a name for a certificate");
  HONE_ASSIGN_OR_RETURN(const Key signer, ReadKey(authority.key));
  HONE_ASSIGN_OR_RETURN(const std::vector<Certificate> issuer, ReadChain(authority.certificate));
  Key key(own.empty() ? EVP_EC_gen("P-256") : nullptr);
  if (!own.empty()) {
    HONE_ASSIGN_OR_RETURN(key, ReadKey(own));
  }
  if (key == nullptr) return Failed("make a key");
  const bool is_server = use == CertificateUse::kServer;
  const Certificate draft = Draft(key.get(), names[0], now_s, days);
  if (draft == nullptr ||
      X509_set_issuer_name(draft.get(), X509_get_subject_name(issuer[0].get())) != 1 ||
      !AddExtension(draft.get(), issuer[0].get(), NID_basic_constraints, "critical,CA:FALSE") ||
      !AddExtension(draft.get(), issuer[0].get(), NID_key_usage, "critical,digitalSignature") ||
      !AddExtension(draft.get(), issuer[0].get(), NID_ext_key_usage,
                    is_server ? "serverAuth" : "clientAuth") ||
      !AddExtension(draft.get(), issuer[0].get(), NID_subject_key_identifier, "hash") ||
      !AddExtension(draft.get(), issuer[0].get(), NID_authority_key_identifier, "keyid")) {
    return Failed("make a certificate");
  }
  if (is_server && (!std::all_of(names.begin(), names.end(), IsHostName) ||
                    !AddExtension(draft.get(), issuer[0].get(), NID_subject_alt_name,
                                  AlternativeNames(names)))) {
    return absl::InvalidArgumentError(fmt::format(
        "expected host names or IP addresses, found \"{}\"", absl::StrJoin(names, ", ")));
  }
  return Sign(draft.get(), key.get(), signer.get());
}

absl::StatusOr<std::string> FingerprintOf(std::string_view pem) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Certificate> chain, ReadChain(pem));
  return FingerprintOf(chain[0].get());
}

absl::StatusOr<std::string> LastFingerprintOf(std::string_view pem) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Certificate> chain, ReadChain(pem));
  return FingerprintOf(chain.back().get());
}

absl::StatusOr<int64_t> EndOf(std::string_view pem) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Certificate> chain, ReadChain(pem));
  std::tm end = {};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(chain[0].get()), &end) != 1) {
    return absl::InvalidArgumentError("expected a certificate that says when it ends");
  }
  return timegm(&end);
}

absl::StatusOr<std::string> CommonNameOf(std::string_view pem) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Certificate> chain, ReadChain(pem));
  const X509_NAME* const subject = X509_get_subject_name(chain[0].get());
  const int index = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (index < 0) return absl::InvalidArgumentError("expected a certificate with a common name");
  unsigned char* text = nullptr;
  const int size =
      ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, index)));
  if (size < 0) return absl::InvalidArgumentError("expected a common name that is a text");
  std::string name(reinterpret_cast<const char*>(text), static_cast<size_t>(size));
  OPENSSL_free(text);
  return name;
}

bool BelongTogether(const Identity& identity) {
  const auto key = ReadKey(identity.key);
  const auto chain = ReadChain(identity.certificate);
  const bool belong =
      key.ok() && chain.ok() && X509_check_private_key((*chain)[0].get(), key->get()) == 1;
  ERR_clear_error();
  return belong;
}

absl::Status VerifyServerChain(std::string_view chain, std::string_view fingerprint,
                               int64_t now_s) {
  auto certificates = ReadChain(chain);
  if (!certificates.ok()) return absl::UnauthenticatedError(certificates.status().message());
  X509* pinned = nullptr;
  for (const Certificate& each : *certificates) {
    if (FingerprintOf(each.get()) == fingerprint) pinned = each.get();
  }
  if (pinned == nullptr) {
    return absl::UnauthenticatedError(
        "the server's certificate is not the one of the join string: either another server "
        "answers there, or the daemon has been given a new authority; ask its administrator for a "
        "new join string");
  }
  const Trust trust(X509_STORE_new());
  const Verification verification(X509_STORE_CTX_new());
  STACK_OF(X509)* const between = sk_X509_new_null();
  for (const Certificate& each : *certificates) sk_X509_push(between, each.get());
  X509_STORE_add_cert(trust.get(), pinned);
  X509_STORE_CTX_init(verification.get(), trust.get(), (*certificates)[0].get(), between);
  X509_VERIFY_PARAM* const rules = X509_STORE_CTX_get0_param(verification.get());
  X509_VERIFY_PARAM_set_time(rules, now_s);
  X509_VERIFY_PARAM_set_purpose(rules, X509_PURPOSE_SSL_SERVER);
  // What is pinned is trusted, whoever has signed it.
  X509_VERIFY_PARAM_set_flags(rules, X509_V_FLAG_PARTIAL_CHAIN);
  const bool holds = X509_verify_cert(verification.get()) == 1;
  const int error = X509_STORE_CTX_get_error(verification.get());
  sk_X509_free(between);
  ERR_clear_error();
  if (holds) return absl::OkStatus();
  return absl::UnauthenticatedError(fmt::format("the server's certificate does not hold: {}",
                                                X509_verify_cert_error_string(error)));
}

}  // namespace hone
