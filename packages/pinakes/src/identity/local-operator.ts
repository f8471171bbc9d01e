/**
 * The operator on the machine of a server: a command that finds a running server for its data folder acts through it, with the rights it
 * would have on the stores directly.
 *
 * The secret is random, new at each start of the server, and is stored in a file that only the owner of the data folder can read
 * (cli/server-file.ts). It is never transmitted: a command signs a token that is valid for a minute, and the server uses the same secret to
 * prove that it wrote the file. A token is accepted from loopback only and cannot create a session.
 */
import { makeCaller, type CallerInput } from "../domain/caller.ts";
import { macOf, sameBytes } from "../runtime/tokens.ts";
import type { Clock } from "../ports/clock.ts";
import { grant, refused, type Authenticated } from "./authenticated.ts";
import { identityLimits } from "./limits.ts";
import type { RootToken } from "./root-token.ts";

const prefix = "pl_";

/** The identity a command acts as; `root` for operations reserved to the root token. */
export type LocalActor = { readonly root: true } | { readonly root?: false; readonly caller: CallerInput };

interface Claims {
  readonly actor: LocalActor;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

export function signLocalToken(secret: string, actor: LocalActor, now: number): string {
  const claims: Claims = { actor, expiresAt: now + identityLimits.localTokenMs };
  const text = Buffer.from(JSON.stringify(claims)).toString("base64url");
  return `${prefix}${text}.${mac(secret, `token\n${text}`)}`;
}

/** The response to the challenge, which only a server with the secret can compute. */
export function proveServer(secret: string, challenge: string): string {
  return mac(secret, `server\n${challenge}`);
}

export class LocalOperator {
  readonly #clock: Clock;
  readonly #root: RootToken;
  #secret: string | undefined;

  constructor(clock: Clock, root: RootToken) {
    this.#clock = clock;
    this.#root = root;
  }

  static looksLike(bearer: string): boolean {
    return bearer.startsWith(prefix);
  }

  accept(secret: string): void {
    this.#secret = secret;
  }

  authenticate(bearer: string, fromLoopback: boolean): Authenticated {
    const [text = "", signature = "", ...more] = bearer.slice(prefix.length).split(".");
    if (
      !fromLoopback ||
      this.#secret === undefined ||
      more.length > 0 ||
      !isEqual(mac(this.#secret, `token\n${text}`), signature)
    )
      throw refused();
    // The payload is signed, so signLocalToken wrote it.
    const { actor, expiresAt } = JSON.parse(Buffer.from(text, "base64url").toString("utf8")) as Claims;
    if (expiresAt <= this.#clock.now()) throw refused();
    return actor.root === true ? this.#root.auth : grant({ caller: makeCaller(actor.caller), via: "local", expiresAt });
  }

  prove(challenge: string): string | undefined {
    return this.#secret === undefined ? undefined : proveServer(this.#secret, challenge);
  }
}

function mac(secret: string, text: string): string {
  return macOf(secret, text).toString("base64url");
}

function isEqual(expected: string, given: string): boolean {
  return sameBytes(Buffer.from(expected), Buffer.from(given));
}
