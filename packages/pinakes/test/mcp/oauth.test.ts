/** OAuth at `/mcp` with a real authorization server and the official client's own flow. */
import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthTokens,
} from "@modelcontextprotocol/client";
import { SignJWT, UnsecuredJWT, decodeJwt, generateKeyPair } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApp } from "../../src/http/app.ts";
import { serve, type RunningServer } from "../../src/http/serve.ts";
import { open, type Pinakes } from "../../src/open.ts";
import { openAuthorizationServer, redirectUrl, registeredClient } from "./support/authorization-server.ts";
import { forAllTests } from "../support/for-tests.ts";

const rootToken = "root-token-of-the-oauth-tests-0123456789";
const scopes = ["pinakes:read", "pinakes:write", "pinakes:admin"];
let pinakes: Pinakes;
let server: RunningServer;
let mcp: string;
let aheadMs = 0;

const as = forAllTests(() => openAuthorizationServer({ resource: () => mcp, user: "ann", scopes }));
beforeAll(async () => {
  const port = await freePort();
  mcp = `http://127.0.0.1:${port}/mcp`;
  pinakes = await open({
    items: "memory:",
    objects: "memory:",
    rootToken,
    clock: { now: () => Date.now() + aheadMs },
    oidc: [{ issuer: as.issuer, audience: mcp, writeScopes: ["pinakes:write"], adminScopes: ["pinakes:admin"] }],
  });
  server = await serve(await createApp(pinakes), { host: "127.0.0.1", port });
});
afterAll(async () => {
  await server.close();
  await pinakes.close();
});

async function freePort(): Promise<number> {
  const probe = await serve({ fetch: () => new Response() }, { host: "127.0.0.1", port: 0 });
  await probe.close();
  return Number(new URL(probe.url).port);
}

/** Keeps everything in memory, and lets the person consent at once. */
class Person implements OAuthClientProvider {
  readonly redirectUrl = redirectUrl;
  readonly clientMetadata;
  authorizations: URL[] = [];
  #information: OAuthClientInformationMixed | undefined;
  #tokens: OAuthTokens | undefined;
  #verifier = "";

  constructor(clientId?: string) {
    this.#information = clientId === undefined ? undefined : { client_id: clientId };
    this.clientMetadata = {
      client_name: "test",
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    };
  }

  clientInformation = () => this.#information;
  saveClientInformation = (information: OAuthClientInformationMixed): void => {
    this.#information = information;
  };
  tokens = () => this.#tokens;
  saveTokens = (tokens: OAuthTokens): void => {
    this.#tokens = tokens;
  };
  saveCodeVerifier = (verifier: string): void => {
    this.#verifier = verifier;
  };
  codeVerifier = (): string => this.#verifier;
  redirectToAuthorization = (url: URL): void => {
    this.authorizations.push(url);
  };
}

/** Connects as the official client documents it: refused, authorized, connected. */
async function connect(person: Person, granted?: string): Promise<Client> {
  const first = new StreamableHTTPClientTransport(new URL(mcp), { authProvider: person });
  await expect(new Client({ name: "test", version: "1" }).connect(first)).rejects.toThrow(UnauthorizedError);
  const asked = person.authorizations.at(-1) as URL;
  if (granted !== undefined) asked.searchParams.set("scope", granted);
  const answer = await as.consent(asked);
  await first.finishAuth(answer);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(mcp), { authProvider: person }));
  return client;
}

const post = (authorization?: string) =>
  fetch(mcp, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(authorization === undefined ? {} : { authorization }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: {} }),
  });

describe("OAuth at /mcp", () => {
  it("discovers the authorization server from the challenge, and acts as the token's user", async () => {
    const person = new Person();
    const client = await connect(person);
    const made = await client.callTool({ name: "create_catalog", arguments: { catalog_name: "Mine" } });
    expect(made.isError ?? false).toBe(false);
    const ann = pinakes.as({ tenant: "default", userId: "ann" });
    expect((await pinakes.knowledge.collections.list(ann)).items.map(({ name }) => name)).toContain("Mine");
    await client.close();
  });

  it("serves the metadata of the protected resource at both addresses, and names it in the challenge", async () => {
    const origin = new URL(mcp).origin;
    for (const path of ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"])
      expect(await (await fetch(`${origin}${path}`)).json()).toEqual({
        resource: mcp,
        authorization_servers: [as.issuer],
        bearer_methods_supported: ["header"],
        resource_name: "Pinakes",
        scopes_supported: ["pinakes:write"],
      });
    const refused = await post();
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toBe(
      `Bearer realm="pinakes", resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`,
    );
    expect(await refused.json()).toMatchObject({
      jsonrpc: "2.0",
      error: { message: expect.stringContaining("Sign in") as string },
    });
  });

  it("without the write scope reads work, and a write is challenged with the scope that it needs", async () => {
    const person = new Person(registeredClient);
    const client = await connect(person, "pinakes:read");
    expect((await client.callTool({ name: "list_catalogs", arguments: {} })).isError ?? false).toBe(false);
    const before = person.authorizations.length;
    await expect(client.callTool({ name: "create_catalog", arguments: { catalog_name: "Refused" } })).rejects.toThrow();
    // The client steps up: it asks the authorization server for the scope of the challenge.
    expect(person.authorizations.length).toBe(before + 1);
    expect(person.authorizations.at(-1)?.searchParams.get("scope")).toContain("pinakes:write");
    await client.close();
  });

  it("the admin scope gives the admin role", async () => {
    const client = await connect(new Person(registeredClient), "pinakes:admin");
    const answer = await client.callTool({
      name: "state_query",
      arguments: { container: "workflow-states", query: "SELECT * FROM c" },
    });
    expect(answer.isError ?? false).toBe(false);
    await client.close();
  });

  it("refuses tokens that are tampered with, unsigned, of another issuer, for another audience or expired", async () => {
    const { privateKey } = await generateKeyPair("RS256");
    const claims = { sub: "ann", workspace: "default" };
    const forged = new SignJWT(claims)
      .setProtectedHeader({ alg: "RS256" })
      .setIssuer(as.issuer)
      .setAudience(mcp)
      .setExpirationTime("1h")
      .sign(privateKey);
    const good = await as.tokenFor(mcp, "pinakes:write");
    // As good as the first, but for another server.
    const elsewhere = "https://elsewhere.example/mcp";
    const other = await as.tokenFor(elsewhere, "pinakes:write");
    expect([decodeJwt(other).aud, decodeJwt(other).iss]).toEqual([elsewhere, decodeJwt(good).iss]);
    await using stranger = await openAuthorizationServer({ resource: () => mcp, user: "ann", scopes });
    const tokens: Readonly<Record<string, string>> = {
      tampered: `${good.slice(0, -6)}AAAAAA`,
      unsigned: new UnsecuredJWT(claims).setIssuer(as.issuer).setAudience(mcp).setExpirationTime("1h").encode(),
      "another key": await forged,
      "another issuer": await stranger.tokenFor(mcp, "pinakes:write"),
      "another audience": other,
    };
    for (const [what, token] of Object.entries(tokens)) {
      const refused = await post(`Bearer ${token}`);
      expect(refused.status, what).toBe(401);
      expect(refused.headers.get("www-authenticate"), what).toContain('error="invalid_token"');
    }
    expect((await post(`Bearer ${good}`)).status).not.toBe(401);
    aheadMs = 3_600_000 + 60_000;
    const expired = await post(`Bearer ${good}`);
    aheadMs = 0;
    expect([expired.status, expired.headers.get("www-authenticate")]).toEqual([
      401,
      expect.stringContaining('error="invalid_token"') as string,
    ]);
    expect(await expired.json()).toMatchObject({
      jsonrpc: "2.0",
      error: { message: expect.stringContaining("expired") as string },
    });
    expect((await post(`Bearer ${good}`)).status).not.toBe(401);
  });

  it("API keys work beside tokens; without issuers there is no metadata", async () => {
    const client = new Client({ name: "test", version: "1" });
    const headers = { authorization: `Bearer ${rootToken}` };
    await client.connect(new StreamableHTTPClientTransport(new URL(mcp), { requestInit: { headers } }));
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
    await client.close();
    await using plain = await open({ items: "memory:", objects: "memory:", rootToken });
    const app = await createApp(plain);
    expect((await app.request("/.well-known/oauth-protected-resource")).status).toBe(404);
    const refused = await app.request("/mcp", { method: "POST" });
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, 'Bearer realm="pinakes"']);
  });
});
