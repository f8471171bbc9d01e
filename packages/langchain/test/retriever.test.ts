/** Documents from a loader into a collection, and out of it again with their citations, through LangChain's own classes. */
import { BaseDocumentLoader } from "@langchain/core/document_loaders/base";
import { Document } from "@langchain/core/documents";
import { ChatPromptTemplate } from "@langchain/core/prompts";
import { RunnablePassthrough, RunnableSequence } from "@langchain/core/runnables";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { ConflictError, NotFoundError, type PinakesClient } from "@pinakes/client";
import { beforeAll, describe, expect, it } from "vitest";
import { openWorld } from "../../client/test/support/worlds.ts";
import { PinakesRetriever, uploadDocuments } from "../src/index.ts";
import { ways } from "./support/ways.ts";
import { forAllTests } from "../../pinakes/test/support/for-tests.ts";

/** As a loader of PDF files: several documents of one source. */
class PagesLoader extends BaseDocumentLoader {
  readonly #pages: readonly string[];
  readonly #source: string;

  constructor(source: string, pages: readonly string[]) {
    super();
    this.#source = source;
    this.#pages = pages;
  }

  override async load(): Promise<Document[]> {
    return this.#pages.map((pageContent, i) => {
      const metadata = { source: this.#source, loc: { pageNumber: i + 1 }, read: new Date(0), nothing: undefined };
      return new Document({ pageContent, metadata });
    });
  }
}

const pages = [
  "Ada prefers trains to planes.",
  "Bob collects stamps of the Baltic states.",
  "Cid cooks without mushrooms.",
];

describe.each(ways)("documents on %s, %s", (engine, via) => {
  let knowledge: PinakesClient;
  let collections = 0;
  const world = forAllTests(() => openWorld(engine, via));
  beforeAll(async () => {
    knowledge = await world.client();
  });
  const newCollection = async (): Promise<string> => {
    const collection_id = `docs-${(collections += 1)}`;
    await knowledge.collections.create({ repository: "me", collection_id, name: collection_id });
    return `me/${collection_id}`;
  };
  const namesIn = async (at: string) => (await knowledge.documents.list(at).all()).map(({ name }) => name).toSorted();

  it("what a loader loads is found with citations, which can be verified", async () => {
    const at = await newCollection();
    const uploaded = await uploadDocuments(knowledge, new PagesLoader("docs/people.pdf", pages), {
      in: at,
      wait: true,
    });
    expect(uploaded.map(({ name, status }) => [name, status])).toEqual([
      ["people.pdf-1.txt", "indexed"],
      ["people.pdf-2.txt", "indexed"],
      ["people.pdf-3.txt", "indexed"],
    ]);
    const retriever = new PinakesRetriever({ knowledge, in: at, limit: 2, tags: ["people"] });
    const found = await retriever.invoke("how does Ada travel?");
    expect(found[0]).toMatchObject({
      pageContent: pages[0],
      id: expect.any(String),
      metadata: {
        source: "docs/people.pdf",
        loc: { pageNumber: 1 },
        read: "1970-01-01T00:00:00.000Z",
        filename: "people.pdf-1.txt",
        document_id: uploaded[0]?.document_id,
        collection_id: at.slice(3),
        version: 1,
        start: 0,
        end: pages[0]?.length,
        quote: pages[0],
        chunk_id: found[0]?.id,
        score: expect.any(Number),
      },
    });
    expect(found[0]?.metadata).not.toHaveProperty("nothing");
    expect(await knowledge.verifyCitations(found.map(({ metadata }) => metadata))).toMatchObject(
      found.map(() => ({ result: "exact" })),
    );

    const filtered = new PinakesRetriever({
      knowledge,
      in: at,
      min_score: 0,
      filter: { "loc.pageNumber": { $gte: 2 } },
    });
    const numbers = (await filtered.invoke("Ada travels")).map(({ metadata }) => metadata["loc"]);
    expect(numbers.length).toBeGreaterThan(0);
    expect(numbers).not.toContainEqual({ pageNumber: 1 });
    expect(() => new PinakesRetriever({ knowledge, filter: { person: undefined } })).toThrow(
      "filter.person: is undefined",
    );
  });

  it("a section and a page come with the citation", async () => {
    const at = await newCollection();
    const guide = new Document({
      pageContent: "# Travel by train\n\nAda prefers trains.",
      metadata: { source: "guide.md" },
    });
    await uploadDocuments(knowledge, [guide], { in: at, wait: true });
    expect(await namesIn(at)).toEqual(["guide.md"]);
    const [found] = await new PinakesRetriever({ knowledge, in: at }).invoke("which trains does Ada prefer?");
    expect(found?.metadata.section).toBe("Travel by train");
  });

  it("the same source again replaces its documents; other sources of the same name stay beside it", async () => {
    const at = await newCollection();
    const load = (source: string, texts: readonly string[]) =>
      uploadDocuments(knowledge, new PagesLoader(source, texts), { in: at, wait: true });
    const [first] = await load("a/x.md", ["One."]);
    await load("b/x.md", ["Two."]);
    await load("A/x.md", ["Three."]);
    expect(await namesIn(at)).toEqual(["x.md", "x.md", "x.md"]);
    const [again] = await load("a/x.md", ["One, changed."]);
    expect([again?.document_id, again?.version]).toEqual([first?.document_id, 2]);
    expect((await load("a/x.md", ["One, changed."]))[0]?.version).toBe(2);
    await load("https://example.org/report/", ["A", "B"]);
    await load("report-1", ["C"]);
    expect(await namesIn(at)).toEqual(["report-1.txt", "report-1.txt", "report-2.txt", "x.md", "x.md", "x.md"]);
    await uploadDocuments(knowledge, [{ pageContent: "By its id.", metadata: {}, id: "note-7" }], { in: at });
    await uploadDocuments(knowledge, [{ pageContent: "By its text.", metadata: {} }], { in: at });
    expect((await namesIn(at)).filter((name) => !/^(x|report)/.test(name))).toEqual([
      expect.stringMatching(/^[0-9a-f]{32}\.txt$/),
      "note-7.txt",
    ]);
  });

  it("names and metadata can be chosen; what Pinakes cannot take is refused with what to do", async () => {
    const at = await newCollection();
    const documents = await new PagesLoader("x.pdf", pages).load();
    const options = {
      in: at,
      name: (_: unknown, i: number) => `page ${i}.md`,
      metadata: ({ metadata }: { metadata: Record<string, unknown> }) => ({ origin: metadata["source"] }),
    };
    await uploadDocuments(knowledge, documents, options);
    expect(await namesIn(at)).toEqual(["page 0.md", "page 1.md", "page 2.md"]);
    const twice = uploadDocuments(knowledge, documents, { ...options, name: () => "Same.md" });
    await expect(twice).rejects.toThrow("documents[1]: is a duplicate");
    const taken = uploadDocuments(knowledge, documents, { in: at, metadata: () => ({ page: 1 }) });
    await expect(taken).rejects.toThrow("metadata.page: is reserved");
    const absent = uploadDocuments(knowledge, documents, { in: "me/none" });
    await expect(absent).rejects.toSatisfy(NotFoundError.isInstance);
    await expect(new PinakesRetriever({ knowledge, in: "me/none" }).invoke("Ada")).rejects.toSatisfy(
      NotFoundError.isInstance,
    );
    await knowledge.collections.archive(at);
    const archived = uploadDocuments(knowledge, documents, { in: at });
    await expect(archived).rejects.toSatisfy(ConflictError.isInstance);
  });

  it("a chain of LangChain answers from what the retriever gives", async () => {
    const at = await newCollection();
    await uploadDocuments(knowledge, new PagesLoader("people.pdf", pages), { in: at, wait: true });
    const prompts: string[] = [];
    const model = new FakeListChatModel({ responses: ["By train [people.pdf-1.txt]."] });
    const context = new PinakesRetriever({ knowledge, in: at, limit: 1 }).pipe((found) =>
      found.map(({ pageContent, metadata }) => `${pageContent} [${metadata.filename}]`).join("\n"),
    );
    const chain = RunnableSequence.from([
      { context, question: new RunnablePassthrough<string>() },
      ChatPromptTemplate.fromTemplate("{context}\n\n{question}"),
      (prompt) => {
        prompts.push(String(prompt));
        return prompt;
      },
      model,
    ]);
    expect((await chain.invoke("How does Ada travel?")).content).toBe("By train [people.pdf-1.txt].");
    expect(prompts[0]).toContain(`${pages[0]} [people.pdf-1.txt]`);
  });
});
