/**
 * Authentication: turns API keys, OIDC tokens, browser sessions and the root token into callers.
 *
 * Everything is kept under the system's own tenant `pinakes.identity`, which no caller can use. Authentication reads at most one item for a
 * key and two for a session, none of them through an index. A rejection never reveals whether a key exists.
 */
import type { Caller } from "../domain/caller.ts";
import type { Scope, SystemScope } from "../domain/scope.ts";
import type { Clock } from "../ports/clock.ts";
import type { ItemStore } from "../ports/item-store.ts";
import { describeMe, grant, nothingGiven, refused, type Authenticated, type Me } from "./authenticated.ts";
import { accountSecret } from "./account-keys.ts";
import { KeyRing, type Keys } from "./keys.ts";
import { identityLimits } from "./limits.ts";
import { LocalOperator } from "./local-operator.ts";
import { Notes } from "./notes.ts";
import { issuerOf, readOidcSettings, type Issuer, type OidcSettings } from "./oidc-settings.ts";
import { identityTenant, keyContainer, sessionContainer, workspaceContainer } from "./records.ts";
import { RootToken, defaultWorkspace } from "./root-token.ts";
import { SessionBook, type Sessions } from "./sessions.ts";
import { TokenChecker } from "./tokens.ts";
import { WorkspaceBook, type Workspaces } from "./workspaces.ts";

export interface IdentityDependencies {
  readonly items: ItemStore;
  readonly system: SystemScope;
  readonly clock: Clock;
  /** If absent, there is no root token. */
  readonly rootToken?: string | undefined;
  readonly oidc?: readonly OidcSettings[] | undefined;
  readonly log: (line: string) => void;
}

export interface Credentials {
  /** The token of a `Bearer` Authorization header. It takes precedence over a cookie. */
  readonly bearer?: string | undefined;
  readonly sessionCookie?: string | undefined;
  readonly csrf?: string | undefined;
  /** GET, HEAD and OPTIONS: a session needs no CSRF token for them. */
  readonly safeMethod: boolean;
  /** The request came over loopback without a proxy; only then is a token of the local operator accepted. */
  readonly fromLoopback?: boolean | undefined;
}

export interface Identity {
  authenticate(credentials: Credentials): Promise<Authenticated>;
  /** Authenticates a request signed with an account key: the named key, or any key for which `fits` returns true. */
  authenticateAccount(keyId: string | undefined, fits: (key: Uint8Array) => boolean): Promise<Authenticated>;
  me(auth: Authenticated): Me;
  /** For a program that embeds Pinakes and acts as a caller it created. Never used for requests. */
  embedded(caller: Caller): Authenticated;
  /** For the operator: replaces the root token. */
  replaceRootToken(token: string): void;
  /** For the operator: from now on, tokens signed with this secret belong to commands on this machine. */
  acceptLocalOperator(secret: string): void;
  /** Proves to such a command that this server knows the secret; undefined if there is none. */
  proveServer(challenge: string): string | undefined;
  /** The issuers whose tokens are accepted. */
  readonly issuers: readonly Issuer[];
  readonly keys: Keys;
  readonly sessions: Sessions;
  readonly workspaces: Workspaces;
  /** For keys and sessions that an erasure deleted directly: they end in this process at once. */
  forget(ids: readonly string[]): void;
  /** Waits for pending notes. Close it before the item store. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * @example
 * const identity = await openIdentity({ items, system, clock, rootToken, log });
 * const { caller } = await identity.authenticate({ bearer, safeMethod: true });
 */
export async function openIdentity({
  items,
  system,
  clock,
  rootToken,
  oidc = [],
  log,
}: IdentityDependencies): Promise<Identity> {
  const root = new RootToken(rootToken, log);
  const settings = readOidcSettings(oidc);
  const tokens = new TokenChecker({ settings, clock, log });
  const scope: Scope = system.forTenant(identityTenant);
  const notes = new Notes(log);
  const [keyRecords, sessionRecords, workspaceRecords] = [
    await keyContainer.open(items),
    await sessionContainer.open(items),
    await workspaceContainer.open(items),
  ];
  const workspaces = new WorkspaceBook({ records: workspaceRecords, scope, clock, notes });
  await workspaces.ensure(defaultWorkspace, "root");
  const accountKeySecret = await accountSecret(items, scope);
  const keys = new KeyRing({ records: keyRecords, scope, clock, notes, workspaces, accountSecret: accountKeySecret });

  const local = new LocalOperator(clock, root);

  const byBearer = async (bearer: string, fromLoopback = false): Promise<Authenticated> => {
    if (typeof bearer !== "string" || bearer.length > identityLimits.bearerCharsMax) throw refused();
    if (LocalOperator.looksLike(bearer) && !root.matches(bearer)) return local.authenticate(bearer, fromLoopback);
    if (root.matches(bearer)) return root.auth;
    if (bearer.startsWith("pk_")) return keys.authenticate(bearer);
    const auth = await tokens.authenticate(bearer);
    workspaces.notice(auth.caller.scope.tenant, auth.caller.userId);
    return auth;
  };

  const sessions = new SessionBook({
    records: sessionRecords,
    scope,
    clock,
    keys,
    root,
    byBearer: (bearer) => byBearer(bearer),
  });
  const close = (): Promise<void> => notes.idle();
  return Object.freeze({
    async authenticate({ bearer, sessionCookie, csrf, safeMethod, fromLoopback }: Credentials) {
      if (bearer !== undefined) return byBearer(bearer, fromLoopback);
      // A cleared cookie arrives as an empty string.
      if (sessionCookie === undefined || sessionCookie === "") throw nothingGiven();
      return sessions.authenticate(sessionCookie, { csrf, safeMethod });
    },
    authenticateAccount: (keyId: string | undefined, fits: (key: Uint8Array) => boolean) =>
      keys.authenticateAccount(keyId, fits),
    me: describeMe,
    embedded: (caller: Caller) => grant({ caller, via: "embedded" }),
    replaceRootToken: (token: string) => root.replace(token),
    acceptLocalOperator: (secret: string) => local.accept(secret),
    proveServer: (challenge: string) => local.prove(challenge),
    issuers: settings.map(issuerOf),
    keys,
    sessions,
    workspaces,
    forget: (ids: readonly string[]) => {
      for (const id of ids) {
        keys.forget(id);
        sessions.forget(id);
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  });
}
