import { expect, it } from "vitest";
import { failure } from "../testing/item-store/fixture.ts";
import { readOidcSettings } from "./index.ts";
import { identityLimits } from "./limits.ts";

const good = { issuer: "https://login.example.com/tenant", audience: "pinakes" };
const read = async (json: unknown) => readOidcSettings(json);

it("one object or a list of them, frozen", () => {
  expect(readOidcSettings(good)).toEqual([good]);
  const full = {
    ...good,
    audience: ["a", "b"],
    jwksUri: "https://login.example.com/keys",
    userClaim: "email",
    groupsClaim: "cognito:groups",
    workspace: "w1",
    adminGroups: ["ops"],
    repositoryAdminGroups: ["rag"],
  };
  const settings = readOidcSettings([
    full,
    { ...good, issuer: "http://localhost:8080/realms/x", workspaceClaim: "org" },
  ]);
  expect(settings[0]).toEqual(full);
  expect(Object.isFrozen(settings) && Object.isFrozen(settings[0])).toBe(true);
  expect(readOidcSettings([])).toEqual([]);
  expect(readOidcSettings(settings)).toEqual(settings);
});

it.each([
  ["no object", "https://login.example.com", "OIDC settings"],
  ["null", null, "OIDC settings"],
  ["no issuer", { audience: "a" }, "issuer"],
  ["an issuer that is no address", { ...good, issuer: "login.example.com" }, "issuer"],
  ["an issuer without encryption", { ...good, issuer: "http://login.example.com" }, "https://"],
  ["a name that only begins like this machine's", { ...good, issuer: "http://localhost.example.com" }, "https://"],
  ["a password in the address", { ...good, issuer: "https://a:b@login.example.com" }, "issuer"],
  ["no audience", { issuer: good.issuer }, "audience"],
  ["an empty audience", { ...good, audience: "" }, "audience"],
  ["no audiences", { ...good, audience: [] }, "audience"],
  [
    "audiences one too many",
    { ...good, audience: Array.from({ length: identityLimits.audiencesMax + 1 }, (_, i) => `a${i}`) },
    "audience",
  ],
  ["keys without encryption", { ...good, jwksUri: "http://login.example.com/keys" }, "jwksUri"],
  ["a claim without a name", { ...good, userClaim: "" }, "userClaim"],
  [
    "a claim one character too long",
    { ...good, groupsClaim: "c".repeat(identityLimits.claimNameCharsMax + 1) },
    "groupsClaim",
  ],
  [
    "groups one too many",
    { ...good, adminGroups: Array.from({ length: identityLimits.roleGroupsMax + 1 }, (_, i) => `g${i}`) },
    "adminGroups",
  ],
  ["groups that are no list", { ...good, adminGroups: "ops" }, "adminGroups"],
  ["a workspace that is no name", { ...good, workspace: "a b" }, "workspace"],
  ["a workspace of the system", { ...good, workspace: "pinakes.system" }, "pinakes."],
  ["a workspace and a claim for it", { ...good, workspace: "w1", workspaceClaim: "org" }, "not both"],
  ["a misspelt field", { ...good, adminGroup: ["ops"] }, "adminGroup"],
  ["an issuer twice", [good, good], "twice"],
  ["a bad second entry", [good, { audience: "a" }], "entry 1"],
  [
    "issuers one too many",
    Array.from({ length: identityLimits.issuersMax + 1 }, (_, i) => ({ ...good, issuer: `https://i${i}.example.com` })),
    "at most 20",
  ],
])("not with %s", async (_, json, named) => {
  expect((await failure(read(json), "INVALID")).detail).toContain(named);
});

it("as much as is allowed", () => {
  const adminGroups = Array.from({ length: identityLimits.roleGroupsMax }, (_, i) => `g${i}`);
  expect(
    readOidcSettings({ ...good, adminGroups, userClaim: "c".repeat(identityLimits.claimNameCharsMax) }),
  ).toMatchObject([{ adminGroups }]);
  const audience = Array.from({ length: identityLimits.audiencesMax }, (_, i) => `a${i}`);
  const settings = Array.from({ length: identityLimits.issuersMax }, (_, i) => ({
    audience,
    issuer: `https://i${i}.example.com`,
  }));
  expect(readOidcSettings(settings)).toHaveLength(identityLimits.issuersMax);
});
