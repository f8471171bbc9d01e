/** A real OAuth 2.1 authorization server, and a person who signs in and consents by following its pages. */
import { hash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider, type Configuration } from "oidc-provider";

export const redirectUrl = "http://127.0.0.1:1/callback";
/** A client that is registered for every scope; others register themselves for the scopes that the metadata names. */
export const registeredClient = "registered";

export interface AuthorizationServer extends AsyncDisposable {
  readonly issuer: string;
  /** Signs in and consents; the query of the redirect back to the client. */
  consent(authorizationUrl: URL): Promise<URLSearchParams>;
  /** An access token of the registered client for a resource, by the code flow. */
  tokenFor(resource: string, scope: string): Promise<string>;
}

export interface AuthorizationServerOptions {
  /** The audience of the tokens: the address of the MCP endpoint. */
  readonly resource: () => string;
  readonly user: string;
  readonly scopes: readonly string[];
}

export async function openAuthorizationServer({
  resource,
  user,
  scopes,
}: AuthorizationServerOptions): Promise<AuthorizationServer> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const configuration: Configuration = {
    scopes: ["openid", "offline_access", ...scopes],
    features: {
      devInteractions: { enabled: true },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource(),
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx, indicator) => ({
          scope: scopes.join(" "),
          audience: indicator,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
    clients: [
      {
        client_id: registeredClient,
        redirect_uris: [redirectUrl],
        token_endpoint_auth_method: "none",
        application_type: "native",
        scope: ["openid", ...scopes].join(" "),
      },
    ],
    pkce: { required: () => true },
    extraTokenClaims: () => ({ workspace: "default" }),
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
  };
  const provider = new Provider(issuer, configuration);
  const handle = provider.callback();
  server.on("request", (request, response) => void handle(request, response));
  return {
    issuer,
    consent: (url) => browse(url, user, issuer),
    tokenFor: (wanted, scope) => tokenOf(issuer, user, wanted, scope),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function tokenOf(issuer: string, user: string, resource: string, scope: string): Promise<string> {
  const code_verifier = randomBytes(32).toString("base64url");
  const client = { client_id: registeredClient, redirect_uri: redirectUrl, resource };
  const asked = new URL(`${issuer}/auth`);
  asked.search = new URLSearchParams({
    ...client,
    response_type: "code",
    scope: `openid ${scope}`,
    code_challenge: hash("sha256", code_verifier, "base64url"),
    code_challenge_method: "S256",
  }).toString();
  const code = (await browse(asked, user, issuer)).get("code") ?? "";
  const body = new URLSearchParams({ ...client, grant_type: "authorization_code", code, code_verifier });
  const answer = (await (await fetch(`${issuer}/token`, { method: "POST", body })).json()) as { access_token?: string };
  if (answer.access_token === undefined) throw new Error(`No token: ${JSON.stringify(answer)}`);
  return answer.access_token;
}

const pagesMax = 20;

/** A browser with cookies and forms, as far as the provider's own pages need one. */
async function browse(start: URL, user: string, issuer: string): Promise<URLSearchParams> {
  const cookies = new Map<string, string>();
  let [url, form]: [URL, URLSearchParams | undefined] = [start, undefined];
  for (let page = 0; page < pagesMax; page += 1) {
    if (!url.href.startsWith(issuer)) return url.searchParams;
    const response = await fetch(url, {
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(form === undefined ? {} : { method: "POST", body: form }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    const html = await response.text();
    if (location !== null) {
      [url, form] = [new URL(location, url), undefined];
      continue;
    }
    const action = /<form[^>]*action="([^"]+)"/.exec(html)?.[1];
    const prompt = /name="prompt" value="([^"]+)"/.exec(html)?.[1];
    if (action === undefined || prompt === undefined)
      throw new Error(`${response.status} ${url.href}: ${html.slice(0, 500)}`);
    url = new URL(action, url);
    form = new URLSearchParams({ prompt, ...(prompt === "login" ? { login: user, password: "any" } : {}) });
  }
  throw new Error("The authorization server never redirected back.");
}
