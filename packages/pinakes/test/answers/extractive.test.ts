/** Answers without a chat model: quotes, and the refusals. On the engines that people run. */
import { describe, expect, it } from "vitest";
import type { Answer } from "@pinakes/client";
import { newPlace, uploaded } from "../knowledge/support/test-pinakes.ts";
import { openAnswerWorld, pumpText } from "./support/answer-world.ts";
import { forAllTests } from "../support/for-tests.ts";

describe.each(["sqlite", "postgres"] as const)("extractive answers on %s", (engine) => {
  const world = forAllTests(() => openAnswerWorld(engine, false));
  const ask = (question: string, more: object = {}): Promise<Answer> =>
    world.test.knowledge.answers.ask(world.test.admin, world.input(question, more));

  it("are quotes of kept bytes in order of relevance, each with a citation that stands, the same every time", async () => {
    const answer = await ask("At which pressure does the pump start?");
    expect(answer).toMatchObject({ mode: "extractive", model: null, outcome: "ok", finish: "complete" });
    expect(answer.sentences[0]?.text).toBe("The Harwell pump starts at a pressure of 4.2 bar.");
    expect(answer.text).toBe(answer.sentences.map(({ text }) => text).join(" "));
    for (const { text, supported, citations } of answer.sentences) {
      expect(supported).toBe(true);
      expect(citations).toHaveLength(1);
      const [{ start, end, quote, document_id } = { start: 0, end: 0, quote: "", document_id: "" }] = citations;
      expect(text).toBe(quote);
      const { text: whole } = await world.test.knowledge.documents.text(
        world.test.admin,
        world.place.repository,
        world.place.collection,
        document_id,
      );
      expect(whole.slice(start, end)).toBe(quote);
      expect(pumpText).toContain(quote);
      const { checks } = await world.test.knowledge.search.verifyCitations(world.test.admin, citations);
      expect(checks).toMatchObject([{ valid: true, result: "exact", current: true }]);
    }
    const { timings: _, ...again } = await ask("At which pressure does the pump start?");
    const { timings: __, ...before } = answer;
    expect(again).toEqual(before);
  });

  it("say nothing twice, and at most as many sentences as were asked for", async () => {
    await uploaded(world.place, "copy.md", `${pumpText}\n\nThe Harwell pump starts at a pressure of 4.2 bar!`);
    const { sentences } = await ask("At which pressure does the pump start?", { sentences_max: 20, limit: 20 });
    const starts = sentences.filter(({ text }) => text.includes("4.2 bar"));
    expect(starts).toHaveLength(1);
    expect((await ask("At which pressure does the pump start?", { sentences_max: 1 })).sentences).toHaveLength(1);
  });

  it("by keywords alone need no embedding model, and show the hits where they are asked for", async () => {
    const answer = await ask("maintenance pump hours", { search_mode: "keyword", include_hits: true });
    expect(answer.sentences[0]?.text).toBe("Maintenance of the pump is due every 2,000 hours.");
    expect(answer.hits?.length).toBeGreaterThan(0);
    expect(await ask("maintenance pump hours")).not.toHaveProperty("hits");
  });

  it("R-KB-45 nothing to search, still indexing and nothing relevant are three refusals without a text", async () => {
    const { knowledge, admin } = world.test;
    const empty = await newPlace(world.test);
    const at = { collections: [{ repository: empty.repository, collection: empty.collection }] };
    const refused = async (question: string, more: object = at) => {
      const answer = await knowledge.answers.ask(admin, { question, ...more });
      expect(answer).toMatchObject({ text: "", sentences: [] });
      expect(answer.outcome).toBe(answer.refusal?.reason);
      return answer.refusal;
    };
    expect(await refused("How do I start the pump?")).toEqual({
      reason: "empty",
      message: expect.stringContaining("nothing to answer from"),
    });
    expect(await refused("Zebra crossings in Ulaanbaatar?", world.input("x"))).toMatchObject({ reason: "no_match" });
    // An upload that has begun and not ended keeps the collection indexing for as long as the test needs.
    const open = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const body = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from("Slow ");
      begun.resolve();
      await open.promise;
      yield Buffer.from("words about nothing.");
    };
    const uploading = knowledge.documents.upload(admin, empty.repository, empty.collection, {
      name: "slow.txt",
      body: body(),
    });
    await begun.promise;
    expect(await refused("How do I start the pump?")).toEqual({
      reason: "indexing",
      message: expect.stringContaining("Try again later"),
    });
    open.resolve();
    await uploading;
  });

  it("stream: started, each sentence, and the same answer last", async () => {
    const events = await Array.fromAsync(
      world.test.knowledge.answers.stream(world.test.admin, world.input("At which pressure does the pump start?")),
    );
    expect(events[0]).toEqual({ type: "started", mode: "extractive", model: null, outcome: "ok" });
    const sentences = events.flatMap((event) => (event.type === "sentence" ? [event.sentence] : []));
    const last = events.at(-1);
    expect(last?.type === "answer" && last.answer.sentences).toEqual(sentences);
    expect(events).toHaveLength(sentences.length + 2);
  });

  it("a filter, a collection and access hold as in a search, and a search is counted", async () => {
    const { knowledge, admin } = world.test;
    const filtered = await ask("At which pressure does the pump start?", { filter: { filename: "nothing.md" } });
    expect(filtered.refusal?.reason).toBe("no_match");
    const foreign = world.test.as("eve", { tenant: "other", role: "admin" });
    await expect(knowledge.answers.ask(foreign, world.input("pump"))).rejects.toMatchObject({ code: "NOT_FOUND" });
    const searches = async () => (await knowledge.activity.read(admin)).reduce((sum, point) => sum + point.searches, 0);
    await knowledge.activity.flush();
    const before = await searches();
    await ask("pump");
    await knowledge.activity.flush();
    expect(await searches()).toBe(before + 1);
  });

  it.each([
    [{ question: "" }, "question:"],
    [{ question: "x".repeat(4_001) }, "question: must be a string of 1–4000"],
    [{ question: "q", limit: 21 }, "limit:"],
    [{ question: "q", limit: 0 }, "limit:"],
    [{ question: "q", sentences_max: 21 }, "sentences_max:"],
    [{ question: "q", mode: "poetic" }, "mode: must be extractive or generated"],
    [{ question: "q", mode: "generated" }, "no chat model is configured"],
    [{ question: "q", model: "writer" }, "no chat model is configured"],
    [{ question: "q", mode: "extractive", model: "writer" }, "model:"],
  ])("%j is refused with what to do", async (input, detail) => {
    await expect(world.test.knowledge.answers.ask(world.test.admin, input as never)).rejects.toMatchObject({
      code: "INVALID",
      detail: expect.stringContaining(detail),
    });
  });
});
