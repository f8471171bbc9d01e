/** A call that its client cancels: the work ends, its slot is free, and the connection goes on. */
import { describe, expect, it } from "vitest";
import { startChatServer } from "../graph-retrieval/support/chat-server.ts";
import { stalls } from "../answers/support/model-server.ts";
import { engines, revisions, useWorld } from "./support/mcp-world.ts";
import { forAllTests } from "../support/for-tests.ts";

const model = forAllTests(() => startChatServer());
describe.each(engines)("a cancelled call on %s", (engine) => {
  const world = useWorld(engine, undefined, () => ({
    chatModels: [{ id: "writer", provider: "ollama", model: "m", baseUrl: model.url }],
  }));

  it.each(revisions)("at %s: the call of the model is closed, and the next call is answered", async (revision) => {
    const ann = await world().key("w1", `ann-${revision}`);
    const collection = `me/c-${revision}`;
    await world().ok(ann, "POST", "/v1/repositories/me/collections", { collection_id: `c-${revision}` });
    await world().indexed(ann, collection, "pump.txt", "The Harwell pump starts at a pressure of 4.2 bar.");
    const { behaviour, closed } = stalls("The pump starts at 4.2 bar [1].\n");
    const asked = Promise.withResolvers<void>();
    model.behave = () => (response, request) => {
      behaviour(response, request);
      asked.resolve();
    };
    const client = await world().client(revision, ann);
    const stop = new AbortController();
    const question = { question: "How does the pump start?", in: [collection] };
    const call = client.callTool({ name: "answer", arguments: question }, { signal: stop.signal });
    const outcome = call.then(
      () => "answered",
      () => "cancelled",
    );
    await asked.promise;
    stop.abort("not needed any more");
    expect(await outcome).toBe("cancelled");
    await closed;
    await expect.poll(() => world().pinakes.places.answers.usage.places).toBe(0);
    const { structuredContent } = await client.callTool({ name: "list_catalogs", arguments: {} });
    expect(structuredContent).toMatchObject({ status: "success" });
  });
});
