/** Every limit of the identity layer, with its unit last. Tests stand at each and one past it. */
export const identityLimits = Object.freeze({
  /** A token with 200 long groups fits; what is longer is no credential of ours. */
  bearerCharsMax: 65_536,
  keyNameCharsMax: 100,
  /** Users that one key may act for. */
  actAsUsersMax: 100,
  keysPerWorkspaceMax: 10_000,
  /** A signature that names no key is tried with so many; beyond that the address must name it. */
  accountKeysTriedMax: 1_000,
  /** How long an account key that another process made may be unknown. */
  accountKeysListedEveryMs: 1_000,
  /** A key that shall live longer has no end at all. */
  keyLifetimeMsMax: 50 * 365 * 86_400_000,
  /** An expired key stays in the list for so long, for whoever wonders why it stopped, and goes then. */
  expiredKeyKeptMs: 30 * 86_400_000,
  /** A revoked key or an ended session may be served by other processes for so long, never by the one that was told. */
  cacheMsMax: 5_000,
  cacheEntriesMax: 10_000,
  lastUsedEveryMs: 60_000,
  /** Notes (last use, a workspace seen) that wait to be written; more are left out, since the next call makes them again. */
  notesWaitingMax: 1_000,
  sessionMs: 12 * 3_600_000,
  oneTimeTokenMs: 15 * 60_000,
  /** A command signs a new token for each request. */
  localTokenMs: 60_000,
  rootTokenCharsMax: 1_024,
  /** A shorter root token works, and is warned of. */
  rootTokenCharsAdvised: 32,
  issuersMax: 20,
  audiencesMax: 20,
  claimNameCharsMax: 256,
  roleGroupsMax: 1_000,
  tokenToleranceSeconds: 60,
  /** The issuer's keys are fetched again after this time … */
  issuerKeysFreshMs: 600_000,
  /** … and while the issuer does not answer, the known ones serve up to this age. */
  issuerKeysAgeMsMax: 3_600_000,
  /** An unknown key id makes us look again, at most so often. */
  issuerKeysCooldownMs: 30_000,
  /** After a fetch that failed, the next is tried after this time. */
  issuerRetryMs: 1_000,
  issuerAnswerMsMax: 5_000,
  issuerAnswerBytesMax: 1_048_576,
  /** Keys that fit a token without a key id and are tried on it. */
  issuerKeysTriedMax: 20,
});
