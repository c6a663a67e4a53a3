// Who may call the daemon.
#include "tests/tuning_db/conformance.h"

namespace hone::tuning_db {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Grant GrantOf(const std::string& name, const std::string& role = "submit") {
  Grant grant;
  grant.name = name;
  grant.role = role;
  grant.token_digest = std::string(64, 'a');
  return grant;
}

}  // namespace

TEST_P(Conformance, AGrantKeepsEveryField) {
  Grant wanted = GrantOf("ann@site", "work");
  wanted.ends_at_ns = INT64_MAX;
  const Grant added = store_->AddGrant(wanted, GrantStore::kRefuse).value();
  EXPECT_EQ(added.id, 1);
  EXPECT_GT(added.made_at_ns, 0);
  EXPECT_EQ(added.role, "work");
  EXPECT_EQ(added.ends_at_ns, INT64_MAX);
  Grant certificate = GrantOf("board-7");
  certificate.token_digest = "";
  const Grant second = store_->AddGrant(certificate, GrantStore::kRefuse).value();
  Reopen();
  EXPECT_THAT(store_->ListGrants().value(), ElementsAre(added, second));
}

TEST_P(Conformance, ANameHasOneGrantAtATime) {
  const Grant first = store_->AddGrant(GrantOf("ann"), GrantStore::kRefuse).value();
  EXPECT_TRUE(
      absl::IsAlreadyExists(store_->AddGrant(GrantOf("ann"), GrantStore::kRefuse).status()));
  EXPECT_TRUE(store_->AddGrant(GrantOf("bob"), GrantStore::kRefuse).ok());
  EXPECT_THAT(store_->RevokeGrants("ann").value(), SizeIs(1));
  EXPECT_TRUE(store_->AddGrant(GrantOf("ann"), GrantStore::kRefuse).ok());
  EXPECT_THAT(store_->ListGrants().value(), SizeIs(3));
}

TEST_P(Conformance, AReplacedGrantEndsWithinTheOverlap) {
  const Grant first = store_->AddGrant(GrantOf("ann"), GrantStore::kRefuse).value();
  const Grant second = store_->AddGrant(GrantOf("ann", "admin"), 1'000'000'000).value();
  Grant ending = first;
  ending.ends_at_ns = second.made_at_ns + 1'000'000'000;
  EXPECT_THAT(store_->ListGrants().value(), ElementsAre(ending, second));
  // What ends sooner by itself is left.
  const Grant third = store_->AddGrant(GrantOf("ann"), 3'000'000'000).value();
  EXPECT_EQ(store_->ListGrants().value().at(0), ending);
  // At once.
  EXPECT_TRUE(store_->AddGrant(GrantOf("ann"), 0).ok());
  EXPECT_FALSE(store_->ListGrants().value().at(2).Holds(third.made_at_ns + 60'000'000'000));
}

TEST_P(Conformance, WhatIsRevokedIsKept) {
  EXPECT_TRUE(absl::IsNotFound(store_->RevokeGrants("ann").status()));
  const Grant first = store_->AddGrant(GrantOf("ann"), GrantStore::kRefuse).value();
  const std::vector<Grant> revoked = store_->RevokeGrants("ann").value();
  ASSERT_THAT(revoked, SizeIs(1));
  EXPECT_GE(revoked[0].revoked_at_ns, first.made_at_ns);
  EXPECT_FALSE(revoked[0].Holds(first.made_at_ns));
  Reopen();
  EXPECT_EQ(store_->ListGrants().value(), revoked);
  EXPECT_TRUE(absl::IsNotFound(store_->RevokeGrants("ann").status()));
}

TEST_P(Conformance, AGrantThatIsNoneIsRefused) {
  Grant grant = GrantOf("");
  EXPECT_TRUE(absl::IsInvalidArgument(store_->AddGrant(grant, 0).status()));
  grant = GrantOf("ann", "");
  EXPECT_TRUE(absl::IsInvalidArgument(store_->AddGrant(grant, 0).status()));
  grant = GrantOf("ann");
  for (const std::string& text : {std::string("a\0b", 3), std::string("\xff")}) {
    EXPECT_TRUE(absl::IsInvalidArgument(store_->AddGrant(GrantOf(text), 0).status()));
    EXPECT_TRUE(absl::IsInvalidArgument(store_->AddGrant(GrantOf("ann", text), 0).status()));
  }
  grant.token_digest = "secret";
  EXPECT_TRUE(absl::IsInvalidArgument(store_->AddGrant(grant, 0).status()));
  EXPECT_THAT(store_->ListGrants().value(), IsEmpty());
}

}  // namespace hone::tuning_db
