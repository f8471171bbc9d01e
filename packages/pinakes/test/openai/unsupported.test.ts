/** Every method of the official client that has no route here: the client's own exception, never a result. */
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openAiWorld, type OpenAiWorld } from "./support/openai-world.ts";

/** What is served; the other tests of this folder call each of them. */
const served = [
  "chat.completions.create",
  "conversations.create",
  "conversations.delete",
  "conversations.items.create",
  "conversations.items.delete",
  "conversations.items.list",
  "conversations.items.retrieve",
  "conversations.retrieve",
  "conversations.update",
  "embeddings.create",
  "files.content",
  "files.create",
  "files.delete",
  "files.list",
  "files.retrieve",
  "models.list",
  "models.retrieve",
  "responses.cancel",
  "responses.create",
  "responses.delete",
  "responses.inputItems.list",
  "responses.retrieve",
  "uploads.cancel",
  "uploads.complete",
  "uploads.create",
  "uploads.parts.create",
  "vectorStores.create",
  "vectorStores.delete",
  "vectorStores.fileBatches.cancel",
  "vectorStores.fileBatches.create",
  "vectorStores.fileBatches.listFiles",
  "vectorStores.fileBatches.retrieve",
  "vectorStores.files.content",
  "vectorStores.files.create",
  "vectorStores.files.delete",
  "vectorStores.files.list",
  "vectorStores.files.retrieve",
  "vectorStores.files.update",
  "vectorStores.list",
  "vectorStores.retrieve",
  "vectorStores.search",
  "vectorStores.update",
];
/** Made of other methods, or without a request; `beta` has newer forms of methods that are called by their own names. */
const composed = [
  /^beta\.responses\./,
  /^webhooks\.(unwrap|verifySignature)$/,
  // The client itself refuses a body that is not a whole form.
  /^realtime\.calls\.create$/,
  /\.(parse|stream|runTools|poll|upload|waitForProcessing|forResult|prepare)$/,
  /(AndPoll|AndStream|Stream|RunPoll)$/,
];

type Method = (...args: readonly unknown[]) => unknown;

/** Every method of the client by its name. */
function methodsOf(client: OpenAI): ReadonlyMap<string, Method> {
  const found = new Map<string, Method>();
  const walk = (resource: object, name: string): void => {
    const methods = Object.getPrototypeOf(resource) as Record<string, Method>;
    for (const one of Object.getOwnPropertyNames(methods))
      if (one !== "constructor" && !one.startsWith("_"))
        found.set(`${name}.${one}`, (...args) => methods[one]?.apply(resource, args as unknown[]));
    for (const [part, value] of Object.entries(resource))
      if (typeof value === "object" && value !== null && "_client" in value) walk(value as object, `${name}.${part}`);
  };
  for (const [part, value] of Object.entries(client))
    if (typeof value === "object" && value !== null && "_client" in value) walk(value as object, part);
  return found;
}

/** Has every parameter of a path, and an empty body. */
const anything = new Proxy(
  {},
  {
    get: (_, name) =>
      typeof name === "string" && !["headers", "query", "timeout", "signal", "stream", "toJSON", "betas"].includes(name)
        ? "x"
        : undefined,
  },
);

describe("methods without a route", () => {
  let world: OpenAiWorld;
  let methods: ReadonlyMap<string, Method>;
  const requests: string[] = [];
  beforeAll(async () => {
    world = await openAiWorld({ items: "memory:", objects: "memory:" });
    const { apiKey } = await world.client("w1", "ann", { role: "admin" });
    methods = methodsOf(
      new OpenAI({
        baseURL: `${world.url}/openai/v1`,
        apiKey,
        adminAPIKey: apiKey as string,
        maxRetries: 0,
        fetch: async (url, init) => {
          // The client probes what its runtime can do with an address of its own.
          if (String(url).startsWith(world.url)) requests.push(String(url));
          return fetch(url, init);
        },
      }),
    );
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  it("the client has every method that is served", () => {
    expect(served.filter((name) => !methods.has(name))).toEqual([]);
    expect(methods.size).toBeGreaterThan(served.length);
  });

  it("each is an exception of the client that says so, and none is repeated", async () => {
    const unsupported = [...methods].filter(
      ([name]) => !served.includes(name) && !composed.some((pattern) => pattern.test(name)),
    );
    expect(unsupported.length).toBeGreaterThan(200);
    const wrong: string[] = [];
    for (const [name, method] of unsupported) {
      const before = requests.length;
      const error: unknown = await Promise.resolve()
        .then(() => method("x", anything, anything))
        .then(
          (result) => new Error(`a result: ${JSON.stringify(result)}`),
          (reason: unknown) => reason,
        );
      const known =
        error instanceof OpenAI.NotFoundError ||
        (error instanceof OpenAI.APIError && (error.status === 405 || error.status === 501));
      if (!known || requests.length !== before + 1 || !/is not supported here/.test(error.message))
        wrong.push(`${name} → ${requests.length - before} request(s): ${String(error)}`);
    }
    expect(wrong).toEqual([]);
  });
});
