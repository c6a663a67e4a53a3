#include "transport/certificates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/clock.h"

namespace hone {
namespace {

using testing::HasSubstr;

constexpr int64_t kNowS = 1'800'000'000;
constexpr int64_t kDayS = kDayNs / kSecondNs;

class CertificatesTest : public testing::Test {
 protected:
  Identity Server(int days = 365) const {
    return MakeIdentity(authority_, {"farm.example.org", "10.0.0.1", "::1"},
                        CertificateUse::kServer, kNowS, days)
        .value();
  }
  std::string Chain(const Identity& server) const {
    return server.certificate + authority_.certificate;
  }

  const Identity authority_ = MakeAuthority("hone on a test", kNowS, 3650).value();
  const std::string pin_ = FingerprintOf(authority_.certificate).value();
};

TEST_F(CertificatesTest, AChainThatLeadsToThePinHolds) {
  EXPECT_TRUE(VerifyServerChain(Chain(Server()), pin_, kNowS).ok());
  EXPECT_EQ(EndOf(Server().certificate).value(), kNowS + 365 * kDayS);
  EXPECT_EQ(CommonNameOf(Server().certificate).value(), "farm.example.org");
}

TEST_F(CertificatesTest, ARenewedCertificateOfTheSameAuthorityHolds) {
  EXPECT_TRUE(VerifyServerChain(Chain(Server()), pin_, kNowS).ok());
  EXPECT_TRUE(VerifyServerChain(Chain(Server()), pin_, kNowS).ok());
  EXPECT_NE(FingerprintOf(Server().certificate).value(),
            FingerprintOf(Server().certificate).value());
}

TEST_F(CertificatesTest, ThePinMayBeTheServersOwn) {
  const Identity server = Server();
  EXPECT_TRUE(
      VerifyServerChain(server.certificate, FingerprintOf(server.certificate).value(), kNowS).ok());
}

TEST_F(CertificatesTest, AChainWithoutThePinIsRefused) {
  const Identity other = MakeAuthority("hone on a test", kNowS, 3650).value();
  const Identity server =
      MakeIdentity(other, {"farm.example.org"}, CertificateUse::kServer, kNowS, 365).value();
  const absl::Status refused =
      VerifyServerChain(server.certificate + other.certificate, pin_, kNowS);
  EXPECT_TRUE(absl::IsUnauthenticated(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("join string"));
}

TEST_F(CertificatesTest, AStrangersCertificateBesideThePinIsRefused) {
  const Identity other = MakeAuthority("hone on a test", kNowS, 3650).value();
  const Identity server =
      MakeIdentity(other, {"farm.example.org"}, CertificateUse::kServer, kNowS, 365).value();
  EXPECT_TRUE(absl::IsUnauthenticated(
      VerifyServerChain(server.certificate + authority_.certificate, pin_, kNowS)));
  EXPECT_TRUE(absl::IsUnauthenticated(VerifyServerChain(
      server.certificate + other.certificate + authority_.certificate, pin_, kNowS)));
}

TEST_F(CertificatesTest, WhatHasEndedOrNotBegunIsRefused) {
  const std::string chain = Chain(Server(30));
  EXPECT_TRUE(VerifyServerChain(chain, pin_, kNowS + 29 * kDayS).ok());
  EXPECT_TRUE(absl::IsUnauthenticated(VerifyServerChain(chain, pin_, kNowS + 31 * kDayS)));
  EXPECT_TRUE(absl::IsUnauthenticated(VerifyServerChain(chain, pin_, kNowS - kDayS)));
}

TEST_F(CertificatesTest, AClientsCertificateIsNoServers) {
  const Identity client =
      MakeIdentity(authority_, {"board-7"}, CertificateUse::kClient, kNowS, 365).value();
  EXPECT_TRUE(absl::IsUnauthenticated(VerifyServerChain(Chain(client), pin_, kNowS)));
}

TEST_F(CertificatesTest, AServerIsNoAuthority) {
  const Identity below =
      MakeIdentity(Server(), {"below"}, CertificateUse::kServer, kNowS, 365).value();
  EXPECT_TRUE(
      absl::IsUnauthenticated(VerifyServerChain(below.certificate + Chain(Server()), pin_, kNowS)));
}

TEST_F(CertificatesTest, WhatIsNoCertificateIsRefused) {
  for (const char* text :
       {"", "x", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}) {
    EXPECT_TRUE(absl::IsUnauthenticated(VerifyServerChain(text, pin_, kNowS)));
    EXPECT_TRUE(absl::IsInvalidArgument(FingerprintOf(text).status()));
  }
}

TEST_F(CertificatesTest, NamesThatAreNoneAreRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(
      MakeIdentity(authority_, {}, CertificateUse::kServer, kNowS, 1).status()));
  EXPECT_FALSE(
      MakeIdentity(authority_, {"a,DNS:b\n"}, CertificateUse::kServer, kNowS, 1).status().ok());
}

TEST_F(CertificatesTest, AKeyBelongsToItsOwnCertificateOnly) {
  const Identity one = Server();
  EXPECT_TRUE(BelongTogether(one));
  EXPECT_FALSE(BelongTogether({Server().key, one.certificate}));
  EXPECT_FALSE(BelongTogether({"", one.certificate}));
}

}  // namespace
}  // namespace hone
