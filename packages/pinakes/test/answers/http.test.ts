/** POST /v1/answers: JSON, server-sent events, errors with their status, and a call of the model that ends with the request. */
import { beforeAll, describe, expect, it } from "vitest";
import { serve } from "../../src/http/serve.ts";
import { fails, startChatServer } from "../graph-retrieval/support/chat-server.ts";
import { newSite, openTestServer, sendAndSettle } from "../http/support/server.ts";
import { stalls, writes } from "./support/model-server.ts";
import { forAllTests } from "../support/for-tests.ts";

const text = "The Harwell pump starts at a pressure of 4.2 bar. Maintenance is due every 2,000 hours.";
let reader: string;
const model = forAllTests(() => startChatServer());
const server = forAllTests(() =>
  openTestServer("memory", {
    chatModels: [{ id: "writer", provider: "ollama", model: "m", baseUrl: model.url }],
  }),
);
const site = forAllTests(async () => newSite(server, await server.key("w1", "ann", { role: "admin" })));
beforeAll(async () => {
  await sendAndSettle(site, "pump.txt", text);
  reader = await server.key("w1", "bob", { scopes: ["read"] });
});

const body = (more: object = {}) => ({
  question: "How does the pump start?",
  collections: [{ repository: site.repository, collection: site.collection }],
  ...more,
});
const ask = (more: object = {}, headers: Record<string, string> = {}) =>
  server.call("POST", "/v1/answers", { key: reader, body: body(more), headers });

function eventsIn(stream: string) {
  return stream
    .split("\n\n")
    .filter((frame) => frame.includes("data: "))
    .map((frame) => ({
      event: /^event: (.*)$/m.exec(frame)?.[1],
      data: JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? "null") as Record<string, unknown>,
    }));
}

describe("POST /v1/answers", () => {
  it("answers as JSON, also to a key that may only read", async () => {
    model.behave = () => writes("The pump starts at 4.2 bar [1].\nIt is green [1].\n");
    const { status, json } = await ask();
    expect(status).toBe(200);
    expect(json).toMatchObject({
      mode: "generated",
      model: "writer",
      text: "The pump starts at 4.2 bar.",
      finish: "complete",
      sentences: [
        {
          supported: true,
          citations: [{ quote: "The Harwell pump starts at a pressure of 4.2 bar.", start: 0, end: 49 }],
        },
        { supported: false, citations: [] },
      ],
    });
  });

  it.each([
    ["stream: true", { stream: true }, {}],
    ["Accept: text/event-stream", {}, { accept: "text/event-stream" }],
  ] as const)("%s: events, the same answer last", async (_, more, headers) => {
    model.behave = () => writes("The pump starts at 4.2 bar [1].\nIt is green [1].\n");
    const reply = await ask(more, headers);
    expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    const events = eventsIn(reply.text);
    expect(events.map(({ event }) => event)).toEqual(["started", "sentence", "sentence", "answer"]);
    expect(events.every(({ event, data }) => data["type"] === event)).toBe(true);
    expect(events.at(-1)?.data["answer"]).toMatchObject({ text: "The pump starts at 4.2 bar." });
  });

  it("the body decides before the header, and neither type is 406", async () => {
    model.behave = () => writes("NO_ANSWER");
    expect((await ask({ stream: false }, { accept: "text/event-stream" })).json).toMatchObject({
      refusal: { reason: "no_match" },
    });
    expect((await ask({}, { accept: "image/png" })).status).toBe(406);
  });

  it("what is wrong before the first byte has its status, streamed or not", async () => {
    for (const stream of [true, false]) {
      expect((await ask({ stream, question: " " })).status).toBe(400);
      expect((await ask({ stream, model: "other" })).status).toBe(400);
      expect((await ask({ stream, colour: "red" })).status).toBe(400);
      expect((await ask({ stream, collections: [{ repository: "nowhere", collection: "x" }] })).status).toBe(404);
    }
  });

  it("a model that fails is a status, and in a stream a problem after what was sent", async () => {
    model.behave = () => fails(429, "slow down");
    expect(await ask()).toMatchObject({ status: 429, json: { code: "THROTTLED" } });
    const events = eventsIn((await ask({ stream: true })).text);
    expect(events.map(({ event }) => event)).toEqual(["started", "problem"]);
    expect(events[1]?.data).toMatchObject({ code: "THROTTLED", status: 429 });
    model.behave = () => fails(500, "out of order");
    expect(await ask()).toMatchObject({ status: 503, json: { code: "UNAVAILABLE" } });
  });

  it("a client that goes away closes the call of the model, streamed or not", async () => {
    const listening = await serve(server.app, { host: "127.0.0.1", port: 0 });
    try {
      for (const stream of [true, false]) {
        const { behaviour, closed } = stalls("The pump starts at 4.2 bar [1].\n");
        const asked = Promise.withResolvers<void>();
        model.behave = () => (response, request) => {
          behaviour(response, request);
          asked.resolve();
        };
        const stop = new AbortController();
        const response = fetch(`${listening.url}/v1/answers`, {
          method: "POST",
          headers: { authorization: `Bearer ${reader}`, "content-type": "application/json" },
          body: JSON.stringify(body({ stream })),
          signal: stop.signal,
        });
        // A stream asks the model when its events are read.
        const reading = response.then((made) => made.text()).catch(() => "gone");
        await asked.promise;
        stop.abort();
        expect(await reading).toBe("gone");
        await closed;
      }
      await expect.poll(() => server.pinakes.places.answers.usage.places).toBe(0);
    } finally {
      await listening.close();
    }
  });
});
