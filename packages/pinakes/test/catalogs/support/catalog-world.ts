/** The ten tools as a protocol calls them: for a user, in a session, over an embedded Pinakes or over a server. */
import { httpKnowledge, type JsonObject } from "@pinakes/client";
import { catalogTools, type CatalogContext, type CatalogEnvelope } from "../../../src/catalogs/index.ts";
import { embeddedKnowledge } from "../../../src/embedded-knowledge.ts";
import { createApp } from "../../../src/http/app.ts";
import { RateLimiter } from "../../../src/http/framework/index.ts";
import { serve } from "../../../src/http/serve.ts";
import type { Pinakes } from "../../../src/open.ts";
import { until } from "../../support/until.ts";

export type Via = "embedded" | "http";

export interface CatalogUser {
  readonly userId: string;
  call(tool: string, args?: object): Promise<CatalogEnvelope>;
  /** The metadata of a call that must succeed. */
  ok(tool: string, args?: object): Promise<JsonObject>;
  /** The error code of a call that must not. */
  refused(tool: string, args?: object): Promise<string>;
  /** A catalog with these files, uploaded. */
  catalog(name: string, files?: Readonly<Record<string, string>>): Promise<string>;
  upload(catalogId: string, filename: string, text: string, more?: object): Promise<JsonObject>;
  /** Until every document is indexed or failed. */
  settled(catalogId: string): Promise<JsonObject>;
}

export interface UserWishes {
  readonly tenant?: string;
  /** Null: the protocol has none. */
  readonly session?: string | null;
}

export interface CatalogWorld extends AsyncDisposable {
  user(userId: string, wishes?: UserWishes): Promise<CatalogUser>;
}

/** On a Pinakes that is open; closing the world leaves it open. */
export async function catalogWorld(pinakes: Pinakes, via: Via): Promise<CatalogWorld> {
  await using undo = new AsyncDisposableStack();
  let url: string | undefined;
  if (via === "http") {
    const wide = { perSecond: 1e6, burst: 1e6 };
    const limiter = new RateLimiter({ caller: wide, authFailures: wide });
    const server = await serve(await createApp(pinakes, { checkAnswers: true, limiter }), {
      host: "127.0.0.1",
      port: 0,
    });
    undo.defer(() => server.close());
    ({ url } = server);
  }
  const opened = undo.move();
  return {
    user: async (userId, { tenant = "acme", session = "s1" } = {}) => {
      const caller = pinakes.as({ tenant, userId });
      const knowledge =
        url === undefined
          ? embeddedKnowledge(pinakes, caller)
          : httpKnowledge({ url, apiKey: await newKey(pinakes, tenant, userId) });
      return catalogUser({
        knowledge,
        userId,
        selection: session === null ? undefined : pinakes.catalogSelections.slot(caller, session),
        baseUrl: url,
      });
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function newKey(pinakes: Pinakes, tenant: string, user_id: string): Promise<string> {
  const admin = pinakes.identity.embedded(pinakes.as({ tenant, userId: "keys", role: "admin" }));
  const { key } = await pinakes.identity.keys.create(admin, { workspace_id: tenant, user_id, role: "user" });
  return key;
}

export function catalogUser(context: CatalogContext): CatalogUser {
  const call = async (name: string, args: object = {}): Promise<CatalogEnvelope> => {
    const tool = catalogTools.find((one) => one.name === name);
    if (tool === undefined) throw new Error(`There is no tool ${name}.`);
    const envelope = await tool.run(context, args as never);
    tool.output.parse(envelope);
    return envelope;
  };
  const user: CatalogUser = {
    userId: context.userId,
    call,
    ok: async (name, args) => {
      const envelope = await call(name, args);
      if (envelope.status !== "success") throw new Error(`${name}: ${JSON.stringify(envelope)}`);
      return envelope.metadata;
    },
    refused: async (name, args) => {
      const envelope = await call(name, args);
      if (envelope.status !== "error") throw new Error(`${name} succeeded: ${JSON.stringify(envelope)}`);
      return envelope.metadata.error_code as string;
    },
    catalog: async (catalog_name, files = {}) => {
      const { catalog_id } = await user.ok("create_catalog", { catalog_name });
      for (const [filename, text] of Object.entries(files)) await user.upload(catalog_id as string, filename, text);
      if (Object.keys(files).length > 0) await user.settled(catalog_id as string);
      return catalog_id as string;
    },
    upload: (catalog_id, filename, text, more = {}) =>
      user.ok("upload_to_catalog", { catalog_id, filename, file_content: base64(text), ...more }),
    settled: (catalog_id) =>
      until(async () => {
        const status = await user.ok("get_indexing_status", { catalog_id });
        const { documents_in_progress } = status["statistics"] as JsonObject;
        return documents_in_progress === 0 ? status : undefined;
      }),
  };
  return user;
}

export function base64(content: string | Uint8Array): string {
  return Buffer.from(content as string).toString("base64");
}
