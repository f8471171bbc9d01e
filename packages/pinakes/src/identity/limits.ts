/** All limits of the identity layer, with the unit last. Tests cover each limit and one past it. */
export const identityLimits = Object.freeze({
  /** A token with 200 long groups fits; anything longer is not one of our credentials. */
  bearerCharsMax: 65_536,
  keyNameCharsMax: 100,
  /** Users that one key may act for. */
  actAsUsersMax: 100,
  keysPerWorkspaceMax: 10_000,
  /** Keys tried for a signature that names none; in a larger store, the address must name the key. */
  accountKeysTriedMax: 1_000,
  /** How long an account key created by another process may be unknown here. */
  accountKeysListedEveryMs: 1_000,
  /** Maximum lifetime of a key; for a longer one, create a key that does not expire. */
  keyLifetimeMsMax: 50 * 365 * 86_400_000,
  /** How long an expired key stays listed, so that its owner can see why it stopped working. */
  expiredKeyKeptMs: 30 * 86_400_000,
  /** How long other processes may still accept a revoked key or an ended session; the process that revokes it stops at once. */
  cacheMsMax: 5_000,
  cacheEntriesMax: 10_000,
  lastUsedEveryMs: 60_000,
  /** Pending notes (last use, a workspace seen); more are dropped, since the next call records them again. */
  notesWaitingMax: 1_000,
  sessionMs: 12 * 3_600_000,
  oneTimeTokenMs: 15 * 60_000,
  /** A command signs a new token for each request. */
  localTokenMs: 60_000,
  rootTokenCharsMax: 1_024,
  /** A shorter root token works, but causes a warning. */
  rootTokenCharsAdvised: 32,
  issuersMax: 20,
  audiencesMax: 20,
  claimNameCharsMax: 256,
  roleGroupsMax: 1_000,
  tokenToleranceSeconds: 60,
  /** Age after which the issuer's keys are fetched again. */
  issuerKeysFreshMs: 600_000,
  /** Maximum age of cached keys while the issuer does not respond. */
  issuerKeysAgeMsMax: 3_600_000,
  /** Minimum interval between refetches for an unknown key id. */
  issuerKeysCooldownMs: 30_000,
  /** Delay before a retry of a failed fetch. */
  issuerRetryMs: 1_000,
  issuerAnswerMsMax: 5_000,
  issuerAnswerBytesMax: 1_048_576,
  /** Maximum number of matching keys tried for a token without a key id. */
  issuerKeysTriedMax: 20,
});
