/** A sign-in provider on a local port: publishes its keys over HTTP and signs tokens; its keys and answers can be changed. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from "jose";
import type { Clock } from "../ports/clock.ts";

export interface IssuerKey {
  readonly alg: string;
  readonly kid: string | undefined;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

export async function issuerKey(kid: string | undefined, alg = "RS256"): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return {
    alg,
    kid,
    privateKey,
    publicJwk: { ...(await exportJWK(publicKey)), alg, ...(kid === undefined ? {} : { kid }) },
  };
}

export interface TestIssuer extends AsyncDisposable {
  readonly url: string;
  readonly requests: string[];
  /** What it publishes. */
  keys: readonly IssuerKey[];
  /** Answers instead of the usual ones, by path. */
  readonly answers: Map<string, (response: ServerResponse) => void>;
  /** A good token, but for what is given. */
  token(more?: JWTPayload, options?: { key?: IssuerKey; remove?: readonly string[] }): Promise<string>;
  close(): Promise<void>;
  /** Again on the same port. */
  reopen(): Promise<void>;
}

export async function testIssuer(clock: Clock, keys?: readonly IssuerKey[]): Promise<TestIssuer> {
  const requests: string[] = [];
  const answers = new Map<string, (response: ServerResponse) => void>();
  const state = { keys: keys ?? [await issuerKey("k1")] };
  let url = "";
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    requests.push(path);
    const answer = answers.get(path);
    const json = (value: unknown) => response.setHeader("content-type", "application/json").end(JSON.stringify(value));
    if (answer !== undefined) answer(response);
    else if (path === "/.well-known/openid-configuration") json({ issuer: url, jwks_uri: `${url}/keys` });
    else if (path === "/keys") json({ keys: state.keys.map(({ publicJwk }) => publicJwk) });
    else response.writeHead(404).end();
  });
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => void server.once("error", reject).listen(port, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  url = `http://127.0.0.1:${port}`;
  return {
    url,
    requests,
    answers,
    get keys() {
      return state.keys;
    },
    set keys(next) {
      state.keys = next;
    },
    async token(more = {}, { key = state.keys[0], remove = [] } = {}) {
      if (key === undefined) throw new Error("the issuer has no key");
      const now = Math.floor(clock.now() / 1000);
      const claims = Object.entries({
        iss: url,
        aud: "pinakes",
        sub: "u1",
        groups: ["g"],
        workspace: "w1",
        iat: now,
        exp: now + 300,
        ...more,
      });
      const payload = Object.fromEntries(claims.filter(([name]) => !remove.includes(name)));
      return new SignJWT(payload)
        .setProtectedHeader({ alg: key.alg, ...(key.kid === undefined ? {} : { kid: key.kid }) })
        .sign(key.privateKey);
    },
    close,
    reopen: () => listen(port),
    [Symbol.asyncDispose]: async () => (server.listening ? close() : undefined),
  };
}
