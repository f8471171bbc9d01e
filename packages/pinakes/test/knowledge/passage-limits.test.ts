/** No chunk is longer than its model reads, however documents are chunked: nothing of a document is missing from the vectors. */
import { chunkingTypes } from "@pinakes/client";
import { describe, expect, it } from "vitest";
import { openLocalTokenizer } from "../../src/drivers/models/local/tokenizer.ts";
import { newPlace, openTestPinakes, settled, uploaded, walk, type Place } from "./support/test-pinakes.ts";
import { forAllTests } from "../support/for-tests.ts";

const tokenizer = await openLocalTokenizer();
const count = (text: string) => tokenizer.words(text).tokens.reduce((sum, tokens) => sum + tokens, 0);
const tokensMax = 256;

describe("chunks and the model's limit", () => {
  const test = forAllTests(() => openTestPinakes("memory"));
  const place = forAllTests(() => newPlace(test));

  async function passages(
    at: Place,
    documentId: string,
  ): Promise<readonly { readonly text: string; readonly section?: string }[]> {
    return walk((cursor) =>
      test.knowledge.documents.passages(at.caller, at.repository, at.collection, documentId, { limit: 100, cursor }),
    );
  }

  const sentences = Array.from(
    { length: 40 },
    (_, i) => `Keeper ${i} of lighthouse ${i * 7} wrote in ${1800 + i}: storm no. ${i * 31}, oil ${i}/40.`,
  ).join(" ");
  const markdown = `# The lighthouses of the northern coast and of the islands before it\n\n${sentences}\n\n## Their keepers, their families, and how they lived\n\n${sentences}`;

  it("R-KB-27 a catalog chunks at the model's limit, 256 tokens, with a tenth overlap, and says so", async () => {
    const caller = test.as("reader");
    const { collection_id, warnings } = await test.knowledge.collections.create(caller, "me", { name: "Defaults" });
    expect(warnings).toBeUndefined();
    const catalog = { ...place, caller, repository: "me", collection: collection_id };
    const document = await uploaded(catalog, "long.txt", sentences);
    expect(document.chunking_strategy).toMatchObject({
      type: "TOKEN",
      unit: "token",
      chunk_size: tokensMax,
      chunk_overlap: 25,
    });
    const sizes = (await passages(catalog, document.document_id)).map(({ text }) => count(text));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(tokensMax);
    expect(Math.max(...sizes)).toBeGreaterThan(tokensMax * 0.9);
  });

  for (const type of chunkingTypes) {
    it(`${type}: chunks of texts and of Markdown with headings stay within the model's limit, and the last words are found by their meaning`, async () => {
      const strategy =
        type === "NONE"
          ? { type }
          : {
              type,
              unit: type === "SENTENCE" || type === "TOKEN" ? "token" : "char",
              chunk_size: 2_000,
              chunk_overlap: 0,
            };
      const ending = "A whale was stranded on the beach and the children poured water over it.";
      for (const [name, text] of [
        [`${type}.txt`, `${sentences} ${ending}`],
        [`${type}.md`, `${markdown} ${ending}`],
      ] as const) {
        const { document_id, status } = await uploaded(place, name, text, { chunking_strategy: strategy });
        expect(status).toBe("indexed");
        const chunks = await passages(place, document_id);
        // A chunk is embedded with the headings above it.
        for (const { text: own } of chunks) expect(count(own)).toBeLessThanOrEqual(tokensMax);
        expect(chunks.map((chunk) => chunk.text).join(" ")).toContain("poured water over it");
      }
    });
  }

  it("sizes beyond the model's limit are accepted with a warning; those within it without one", async () => {
    let names = 0;
    const create = (chunking_strategy: unknown) =>
      test.knowledge.collections.create(test.admin, place.repository, {
        name: `Sized ${(names += 1)}`,
        chunking_strategy,
      });
    expect((await create({ type: "TOKEN", chunk_size: tokensMax })).warnings).toBeUndefined();
    const made = await create({ type: "TOKEN", chunk_size: tokensMax + 1 });
    expect(made.warnings).toEqual([expect.stringContaining("at most 256 tokens")]);
    const patch = await test.knowledge.collections.update(test.admin, place.repository, made.collection_id, {
      chunking_strategy: { type: "FIXED", chunk_size: 10_000 },
    });
    expect(patch.warnings).toEqual([expect.stringContaining("10000 characters")]);
    const repository = await test.knowledge.repositories.create(test.admin, {
      chunking_strategy: { type: "SENTENCE", unit: "token", chunk_size: 8_192 },
    });
    expect(repository.warnings).toEqual([expect.stringContaining("8192 tokens")]);
    const changed = await test.knowledge.repositories.update(test.admin, repository.repository_id, {
      chunking_strategy: null,
    });
    expect(changed.warnings).toBeUndefined();
  });

  it("texts that differ only past the limit have different vectors, as chunks, queries and in the embeddings API", async () => {
    const start = "word ".repeat(tokensMax);
    const { vectors } = await test.knowledge.search.embed(test.admin, [`${start}apple`, `${start}treaty`]);
    expect(vectors[0]).not.toEqual(vectors[1]);
  });

  it("a re-index records the limit that it used", async () => {
    const own = await newPlace(test, "Again");
    const { document_id } = await uploaded(own, "a.txt", sentences, {});
    await test.knowledge.collections.update(own.caller, own.repository, own.collection, {
      chunking_strategy: { type: "TOKEN", chunk_size: 400 },
    });
    await test.knowledge.documents.reindex(own.caller, own.repository, own.collection, document_id);
    const again = await settled(own, document_id);
    expect(again.chunking_strategy).toMatchObject({ chunk_size: tokensMax });
    for (const { text } of await passages(own, document_id)) expect(count(text)).toBeLessThanOrEqual(tokensMax);
  });
});
