/**
 * Browser sessions, for pages that cannot send a header with every request (EventSource). The cookie is 256 random bits, stored as its
 * hash; a session ends after 12 hours, or with the key, the token or the root token that it was created from.
 *
 * The CSRF token is derived from the cookie: it need not be stored, and a reloaded page can get it again, while a page of another origin
 * can neither read the cookie nor compute the token.
 *
 * A session never has the rights of the root token itself: a session created from it is that of an admin of the workspace `default`.
 */
import { hasCode, PinakesError, invalid } from "../domain/errors.ts";
import type { Scope } from "../domain/scope.ts";
import type { Clock } from "../ports/clock.ts";
import { noteWho } from "../runtime/call-notes.ts";
import { grant, isAuthenticated, refused, type Authenticated } from "./authenticated.ts";
import type { KeyRing } from "./keys.ts";
import { identityLimits } from "./limits.ts";
import { OneTimeToken } from "./one-time-token.ts";
import { RecordCache } from "./record-cache.ts";
import { callerOf, type SessionRecord, type SessionRepository } from "./records.ts";
import type { RootToken } from "./root-token.ts";
import { hasHash, newSecret, sha256 } from "./secrets.ts";

export interface CreatedSession {
  /** For an HttpOnly, SameSite=Strict cookie. */
  readonly cookie: string;
  /** For the header of every unsafe request. */
  readonly csrf: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

export interface Sessions {
  /** Creates a one-time token, valid for one session within 15 minutes, in this process only; the previous one is invalidated. */
  oneTimeToken(): string;
  /**
   * Creates a session from a one-time token or another credential that a person enters (an API key), or for an already authenticated
   * caller.
   */
  create(from: { readonly token: string } | Authenticated): Promise<CreatedSession>;
  /** Ends the session; a missing one is not an error. */
  end(cookie: string): Promise<void>;
}

const cookiePattern = /^ps_[A-Za-z0-9_-]{43}$/;

interface Dependencies {
  readonly records: SessionRepository;
  readonly scope: Scope;
  readonly clock: Clock;
  readonly keys: KeyRing;
  readonly root: RootToken;
  /** The credential that the session was created from. */
  readonly byBearer: (bearer: string) => Promise<Authenticated>;
}

export class SessionBook implements Sessions {
  readonly #deps: Dependencies;
  readonly #oneTime: OneTimeToken;
  readonly #cache: RecordCache<SessionRecord>;

  constructor(deps: Dependencies) {
    this.#deps = deps;
    this.#oneTime = new OneTimeToken(deps.clock);
    this.#cache = new RecordCache(deps.clock);
  }

  oneTimeToken(): string {
    return this.#oneTime.make();
  }

  async create(from: { readonly token: string } | Authenticated): Promise<CreatedSession> {
    if (isAuthenticated(from)) return this.#createFor(from);
    if (typeof from !== "object" || from === null || !("token" in from) || typeof from.token !== "string")
      throw invalid(
        'A session needs { "token": "…" }: the one-time token that the server printed at startup, or an API key.',
      );
    if (!OneTimeToken.looksLike(from.token)) return this.#createFor(await this.#deps.byBearer(from.token));
    const used = this.#oneTime.use(from.token);
    if (used === undefined) throw refused();
    try {
      return await this.#createFor(this.#deps.root.auth);
    } catch (error) {
      // The session was not created, so the token remains usable.
      used.giveBack();
      throw error;
    }
  }

  async end(cookie: string): Promise<void> {
    if (typeof cookie !== "string" || !cookiePattern.test(cookie)) return;
    const id = sha256(cookie);
    try {
      await this.#deps.records.delete(this.#deps.scope, { id });
    } catch (error) {
      if (!hasCode(error, "NOT_FOUND")) throw error;
    } finally {
      this.#cache.forget(id);
    }
  }

  /** Called after the record was deleted. */
  forget(id: string): void {
    this.#cache.forget(id);
  }

  /** Authenticates a session. `csrf` is checked unless the method is safe. */
  async authenticate(
    cookie: string,
    { csrf, safeMethod }: { csrf: string | undefined; safeMethod: boolean },
  ): Promise<Authenticated> {
    const { records, scope, clock, keys, root } = this.#deps;
    if (typeof cookie !== "string" || !cookiePattern.test(cookie)) throw refused();
    const id = sha256(cookie);
    const record = await this.#cache.get(id, () => records.read(scope, { id }));
    if (record === undefined) throw refused();
    const expiresAt = Date.parse(record.expires_at);
    if (expiresAt <= clock.now() || (record.root_sha256 !== null && !root.hasHash(record.root_sha256))) throw refused();
    const csrfToken = csrfOf(cookie);
    const auth =
      record.key_id === null
        ? grant({
            caller: callerOf(record),
            via: "session",
            expiresAt,
            csrfToken,
            ...(record.read_only ? { readOnly: true } : {}),
          })
        : await keys.authenticateSession(record.key_id, { expiresAt, csrfToken });
    if (!safeMethod && (typeof csrf !== "string" || !hasHash(csrf, sha256(csrfToken))))
      throw new PinakesError(
        "FORBIDDEN",
        "A session can write only with its CSRF token: send it as X-CSRF-Token. Signing in returned it; GET /v1/me returns it again.",
      );
    return auth;
  }

  async #createFor(auth: Authenticated): Promise<CreatedSession> {
    if (auth.via === "session")
      throw new PinakesError(
        "FORBIDDEN",
        "A session cannot create another session. Sign in with a one-time token, an API key or an OIDC token.",
      );
    const { records, scope, clock, root } = this.#deps;
    const now = clock.now();
    const expiresAt = Math.min(now + identityLimits.sessionMs, auth.expiresAt ?? Infinity);
    if (expiresAt <= now) throw refused();
    const cookie = `ps_${newSecret()}`;
    const { caller } = auth;
    const record: SessionRecord = {
      id: sha256(cookie),
      workspace_id: caller.scope.tenant,
      user_id: caller.userId,
      groups: [...caller.groups],
      role: caller.role,
      permissions: [...caller.permissions],
      read_only: auth.readOnly ?? false,
      key_id: auth.keyId ?? null,
      root_sha256: auth.via === "root" ? root.sha256 : null,
      created_at: new Date(now).toISOString(),
      expires_at: new Date(expiresAt).toISOString(),
      ttl: Math.ceil((expiresAt - now) / 1000),
    };
    await records.create(scope, record);
    noteWho({ tenant: caller.scope.tenant, userId: caller.userId, role: caller.role, keyId: auth.keyId });
    return { cookie, csrf: csrfOf(cookie), expiresAt };
  }
}

function csrfOf(cookie: string): string {
  return sha256(`csrf of ${cookie}`);
}
