/** An application with the routes of a test, and its credentials. */
import { Hono } from "hono";
import { z } from "zod";
import { makeCaller } from "../../domain/caller.ts";
import { PinakesError } from "../../domain/errors.ts";
import { mount, type Authenticated, type Credentials, type KitEnv, type MountOptions, type Route } from "./index.ts";

export const caller = makeCaller({ tenant: "w1", userId: "u1" });

async function authenticate({ bearer, sessionCookie, csrf, safeMethod }: Credentials): Promise<Authenticated> {
  if (bearer === "good") return { caller, via: "key", keyId: "k1" };
  if (bearer === "reader") return { caller, via: "key", keyId: "k2", readOnly: true };
  if (sessionCookie === "s1" && (safeMethod || csrf === "c1")) return { caller, via: "session" };
  throw new PinakesError("UNAUTHENTICATED", "Sign in first.");
}

export function appOf(routes: readonly Route[], options: Partial<MountOptions> = {}): Hono<KitEnv> {
  const app = new Hono<KitEnv>();
  mount(app, routes, { authenticate, checkAnswers: true, ...options });
  return app;
}

export const id = z.string().regex(/^[A-Za-z0-9._:/ä-]{1,20}$/);
export const anything = { 200: { description: "What came in." } };
export const common = { tag: "things", summary: "A route", auth: "caller", answers: anything } as const;
export const good = { authorization: "Bearer good" };

export async function json(response: Response): Promise<Record<string, unknown>> {
  return (await response.json()) as Record<string, unknown>;
}
