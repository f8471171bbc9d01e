/** The knowledge side of the client, whatever is behind it: an embedded Pinakes or a server. */
import { beforeAll, describe, expect, it } from "vitest";
import {
  ConflictError,
  NotFoundError,
  PinakesClientError,
  PreconditionFailedError,
  type KnowledgeEvent,
  type PinakesClient,
} from "../src/index.ts";
import { fresh } from "./support/context.ts";
import { openWorld, type Engine, type Via, type World } from "./support/worlds.ts";
import { forAllTests } from "../../pinakes/test/support/for-tests.ts";

interface Context {
  readonly world: () => World;
  readonly client: () => PinakesClient;
}

export function knowledgeContractTests(engine: Engine, via: Via): void {
  describe(`knowledge through the client on ${engine}, ${via}`, () => {
    let client: PinakesClient;
    const world = forAllTests(() => openWorld(engine, via));
    beforeAll(async () => {
      client = await world.client();
    });
    const context: Context = { world: () => world, client: () => client };
    catalog(context);
    documents(context);
    graph(context);
    rows(context);
    work(context);
    tenants(context);
  });
}

async function newCollection(client: PinakesClient): Promise<string> {
  const { repository_id } = await client.repositories.create({ repository_id: fresh("kb"), name: "Knowledge" });
  const { collection_id } = await client.collections.create({
    repository: repository_id,
    collection_id: "notes",
    name: "Notes",
  });
  return `${repository_id}/${collection_id}`;
}

function catalog({ client }: Context): void {
  it("repositories and collections are created, changed on an etag, listed and archived", async () => {
    const at = await newCollection(client());
    const [repository = ""] = at.split("/");
    const before = await client().collections.get(at);
    expect(before).toMatchObject({
      repository_id: repository,
      collection_id: "notes",
      name: "Notes",
      status: "ACTIVE",
      access: "ADMIN",
    });
    const changed = await client().collections.update(at, { description: "Of trains." }, { ifMatch: before.etag });
    expect(changed).toMatchObject({ description: "Of trains.", warnings: [] });
    const stale = client().collections.update(at, { description: "Too late." }, { ifMatch: before.etag });
    await expect(stale).rejects.toSatisfy(PreconditionFailedError.isInstance);
    const again = client().collections.create({ repository, collection_id: "notes", name: "Again" });
    await expect(again).rejects.toSatisfy(ConflictError.isInstance);
    const names = (await client().collections.list({ repository, status: "live", limit: 1 }).all()).map(
      ({ collection_id }) => collection_id,
    );
    expect(names).toContain("notes");
    expect((await client().collections.archive(at)).status).toBe("ARCHIVED");
    expect((await client().collections.unarchive(at)).status).toBe("ACTIVE");
    expect((await client().repositories.update(repository, { description: "All of it." })).description).toBe(
      "All of it.",
    );
  });

  it("a reference that names no collection is refused before anything is sent", async () => {
    for (const at of ["notes", "a/b/c", "/notes", ""]) {
      const error = await client()
        .collections.get(at)
        .catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: "INVALID", message: expect.stringContaining("repository/collection") });
    }
  });
}

function documents({ client }: Context): void {
  it("a document is uploaded with progress, waited for, found, cited, read back and deleted", async () => {
    const at = await newCollection(client());
    const body = "# Travel\n\nAda prefers trains to planes.\n\n# Food\n\nNo mushrooms, please.\n";
    const phases: string[] = [];
    const uploaded = await client().documents.upload(
      at,
      { name: 'ada "the" ünïcode.md', body },
      {
        metadata: { person: "ada" },
        wait: true,
        onProgress: ({ phase, done, total }) => phases.push(`${phase} ${done}/${total}`),
      },
    );
    expect(uploaded).toMatchObject({
      name: 'ada "the" ünïcode.md',
      status: "indexed",
      file_type: "md",
      metadata: { person: "ada" },
      version: 1,
    });
    expect(phases).toContain(
      `uploading ${new TextEncoder().encode(body).length}/${new TextEncoder().encode(body).length}`,
    );
    const { document_id } = uploaded;

    const { hits } = await client().search("how does Ada like to travel?", {
      in: at,
      filter: { person: "ada" },
      limit: 3,
    });
    expect(hits[0]).toMatchObject({
      document_id,
      text: expect.stringContaining("trains"),
      citation: { filename: uploaded.name },
    });
    const [first] = hits;
    expect(await client().verifyCitations(first === undefined ? [] : [first.citation])).toMatchObject([
      { valid: true, result: "exact" },
    ]);

    const window = await client().documents.text(at, document_id);
    expect(window.text).toContain("Ada prefers trains");
    const chunks = await client().documents.chunks(at, document_id, { limit: 1 }).all();
    expect(chunks.map(({ text }) => text).join("\n")).toContain("No mushrooms");
    expect(await new Response(await client().documents.content(at, document_id)).text()).toBe(body);
    expect(await client().documents.versions(at, document_id)).toMatchObject([{ version: 1, live: true }]);
    expect((await client().documents.list(at).all()).map((one) => one.document_id)).toEqual([document_id]);

    await client().documents.delete(at, document_id);
    await expect(client().documents.get(at, document_id)).rejects.toSatisfy(NotFoundError.isInstance);
  });

  it("answers carry citations that stand, whole and sentence by sentence; what cannot be answered says why", async () => {
    const at = await newCollection(client());
    const asked = { in: at, mode: "extractive" } as const;
    expect(await client().answers.ask("When is the pump serviced?", asked)).toMatchObject({
      text: "",
      refusal: { reason: "empty" },
    });
    const body = "The pump is serviced every 2,000 hours. It is painted red.";
    const { document_id } = await client().documents.upload(at, { name: "pump.txt", body }, { wait: true });
    const answer = await client().answers.ask("When is the pump serviced?", asked);
    expect(answer).toMatchObject({ mode: "extractive", model: null, finish: "complete", outcome: "ok" });
    expect(answer.sentences[0]).toMatchObject({
      text: "The pump is serviced every 2,000 hours.",
      supported: true,
      citations: [{ document_id, start: 0, end: 39 }],
    });
    expect(await client().verifyCitations(answer.sentences.flatMap(({ citations }) => citations))).toMatchObject([
      { valid: true },
    ]);
    const events = await Array.fromAsync(client().answers.stream("When is the pump serviced?", asked));
    expect(events.map(({ type }) => type)).toEqual(["started", "sentence", "answer"]);
    expect(events.at(-1)).toMatchObject({ answer: { text: answer.text } });

    const lost = { ...asked, in: "nowhere/nothing" };
    await expect(client().answers.ask("pump?", lost)).rejects.toSatisfy(NotFoundError.isInstance);
    await expect(Array.fromAsync(client().answers.stream("pump?", lost))).rejects.toSatisfy(NotFoundError.isInstance);
    const wrong = client().answers.ask("pump?", { in: at, limit: 21 });
    await expect(wrong).rejects.toMatchObject({ code: "INVALID", message: expect.stringContaining("limit:") });
    await expect(client().answers.ask("pump?", { ...asked, signal: AbortSignal.abort() })).rejects.toThrow();
  });

  it("an upload has a job, and links for an upload and a download expire as they say", async () => {
    const at = await newCollection(client());
    const { document_id, job_id } = await client().documents.upload(at, { name: "a.txt", body: "Some words." });
    expect((await client().jobs.wait(job_id as string)).kind).toBe("ingest");
    const download = await client().documents.downloadLink(at, document_id, { expires_in_seconds: 900 });
    expect(download).toMatchObject({ url: expect.stringMatching(/^\/v1\/downloads\//), expires_in_seconds: 900 });
    const upload = await client().documents.uploadLink(at, { name: "b.txt", replace: true });
    expect(upload).toMatchObject({ url: expect.stringMatching(/^\/v1\/uploads\//), expires_in_seconds: 300 });
    expect(Date.parse(upload.expires_at)).toBeGreaterThan(Date.now());
    const over = client().documents.downloadLink(at, document_id, { expires_in_seconds: 901 });
    await expect(over).rejects.toMatchObject({ code: "INVALID" });
    const nothing = client().documents.downloadLink(at, "nothing");
    await expect(nothing).rejects.toSatisfy(NotFoundError.isInstance);
  });

  it("bytes come as a text, an array, a file or a stream of any length; a name that is taken is a conflict unless it replaces", async () => {
    const at = await newCollection(client());
    const pieces = async function* (): AsyncGenerator<Uint8Array, void> {
      for (let i = 0; i < 300; i += 1) yield new TextEncoder().encode(`Line ${i} of a stream.\n`.repeat(40));
    };
    const streamed = await client().documents.upload(at, { name: "stream.txt", body: pieces() });
    expect(streamed.size_bytes).toBeGreaterThan(200_000);
    const filed = await client().documents.upload(at, new File(["A file of a browser."], "file.txt"), { wait: true });
    expect(filed).toMatchObject({ name: "file.txt", size_bytes: 20 });
    await client().documents.upload(at, { name: "bytes.txt", body: new TextEncoder().encode("Bytes.") });
    await expect(client().documents.upload(at, { name: "bytes.txt", body: "Others." })).rejects.toSatisfy(
      ConflictError.isInstance,
    );
    const replaced = await client().documents.upload(at, { name: "bytes.txt", body: "Others." }, { replace: true });
    expect(replaced.status).not.toBe("failed");
  });

  it("waiting for a document that cannot be indexed rejects with the reason", async () => {
    const at = await newCollection(client());
    const error = await client()
      .documents.upload(at, { name: "broken.pdf", body: "%PDF-1.4 and then nothing of a PDF" }, { wait: true })
      .catch((reason: unknown) => reason);
    expect(error).toSatisfy(PinakesClientError.isInstance);
    expect((error as PinakesClientError).message).toContain("broken.pdf");
  });
}

function graph({ client }: Context): void {
  it("triples are added, loaded, matched, asked and changed in SPARQL, and removed", async () => {
    const at = await newCollection(client());
    const knows = { type: "iri", value: "https://e.org/knows" } as const;
    expect(
      await client().graph.add(at, [
        { s: "<https://e.org/ada>", p: knows, o: { type: "literal", value: 'Grace "H"', language: "en" } },
      ]),
    ).toMatchObject({
      read: 1,
      inserted: 1,
    });
    const turtle = "@prefix e: <https://e.org/> . e:ada e:age 36 ; e:knows e:alan .";
    expect(await client().graph.load(at, turtle, { format: "turtle" })).toMatchObject({ read: 2, inserted: 2 });
    const bad = client().graph.load(at, "this is no Turtle", { format: "turtle" });
    await expect(bad).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("Nothing was stored."),
    });

    const known = await client().graph.match(at, { p: knows, limit: 1 }).all();
    expect(known.map(({ o }) => o)).toEqual(
      expect.arrayContaining([{ type: "literal", value: 'Grace "H"', language: "en" }]),
    );
    expect(known).toHaveLength(2);

    const people = await client().graph.query(at, "SELECT ?o ?nothing { <https://e.org/ada> <https://e.org/age> ?o }");
    const age = { type: "literal", value: "36", datatype: "http://www.w3.org/2001/XMLSchema#integer" };
    expect(people).toEqual({ kind: "bindings", variables: ["o", "nothing"], rows: [{ o: age }] });
    expect(await client().graph.query(at, "ASK { ?s ?p ?o }")).toEqual({ kind: "boolean", value: true });
    const made = await client().graph.query(
      at,
      "CONSTRUCT { ?o <https://e.org/of> ?s } { ?s <https://e.org/age> ?o . FILTER(isIRI(?s)) } LIMIT 1",
    );
    expect(made).toEqual({ kind: "quads", quads: [] });
    const copied = await client().graph.query(
      at,
      "CONSTRUCT { ?s <https://e.org/said> ?o } { ?s <https://e.org/knows> ?o . FILTER(isLiteral(?o)) }",
    );
    expect(copied).toMatchObject({
      kind: "quads",
      quads: [{ o: { type: "literal", value: 'Grace "H"', language: "en" }, g: null }],
    });

    expect(await client().graph.update(at, "INSERT DATA { <https://e.org/x> <https://e.org/y> 1 }")).toEqual({
      inserted: 1,
      removed: 0,
    });
    expect(await client().graph.remove(at, { p: knows })).toEqual({ removed: 2 });
    expect(await client().graph.match(at).all()).toHaveLength(2);
  });
}

function rows({ client }: Context): void {
  it("rows with vectors of the caller's own are written, found by vector, words and filter, and deleted", async () => {
    const at = await newCollection(client());
    const { vectors } = client();
    expect(await vectors.query(at, { vector: [1, 0] })).toMatchObject({ hits: [], mode_used: "vector" });
    await expect(vectors.delete(at, ["a"])).rejects.toSatisfy(NotFoundError.isInstance);
    expect(await vectors.manifest(at)).toMatchObject({ rows: null });
    const items = [
      { id: "a", vector: [1, 0], text: "Trains to Rome.", metadata: { year: 2024, tags: ["rail"] } },
      { id: "b", vector: [0.6, 0.8], text: "Planes to Oslo.", metadata: { year: 2025, tags: [] } },
      { id: "c", vector: [0, 1] },
    ];
    const first = await vectors.upsert(at, items, { deltaId: "d1" });
    expect(first).toMatchObject({ delta_id: "d1", repeated: false, duplicates: [] });
    expect(await vectors.upsert(at, items, { deltaId: "d1" })).toMatchObject({ delta_id: "d1", repeated: true });
    const { hits, mode_used } = await vectors.query(at, { vector: [1, 0], limit: 2, include_vectors: true });
    expect(mode_used).toBe("vector");
    expect(hits).toMatchObject([items[0], { id: "b", text: "Planes to Oslo.", metadata: { year: 2025, tags: [] } }]);
    expect(hits[1]?.score).toBeCloseTo(0.6);
    expect(hits[1]?.vector?.map((number) => Math.round(number * 10))).toEqual([6, 8]);
    const idsOf = async (query: Parameters<typeof vectors.query>[1]) =>
      (await vectors.query(at, query)).hits.map(({ id }) => id);
    expect((await vectors.query(at, { vector: [1, 0] })).hits[0]).not.toHaveProperty("vector");
    expect(await idsOf({ text: "planes" })).toEqual(["b"]);
    expect(await idsOf({ text: "planes", vector: [1, 0], limit: 1 })).toEqual(["b"]);
    expect(await idsOf({ vector: [0, 1], filter: { year: { lt: 2025 } } })).toEqual(["a"]);
    expect(await idsOf({ vector: [0, 1], min_score: 0.9, recall: 1 })).toEqual(["c"]);
    for (const wrong of [
      { vector: [1, 0, 0] },
      { vector: [1, 0], limit: 0 },
      { vector: [1, 0], filter: { yaer: 1 } },
      {},
    ])
      await expect(vectors.query(at, wrong)).rejects.toMatchObject({ code: "INVALID" });
    expect((await vectors.manifest(at)).rows).toMatchObject({ count: 3, stats: { settings: { dims: 2 } } });
    await vectors.delete(at, ["a", "never there"]);
    expect(await idsOf({ vector: [1, 0] })).toEqual(["b", "c"]);
  });
}

function work({ client }: Context): void {
  it("a delete goes to the trash and comes back; a purge is a job and an operation that can be waited for", async () => {
    const at = await newCollection(client());
    const [repository = "", collection = ""] = at.split("/");
    await client().documents.upload(at, { name: "a.txt", body: "Here today." }, { wait: true });
    expect((await client().collections.delete(at)).status).toBe("succeeded");
    await expect(client().collections.get(at)).rejects.toSatisfy(NotFoundError.isInstance);
    expect((await client().collections.get(at, { deleted: true })).status).toBe("DELETED");
    expect((await client().collections.restore(at)).status).toBe("ACTIVE");

    const job = await client().collections.delete(at, { purge: true, confirm: collection });
    const done = await client().jobs.wait(job.job_id);
    expect(done.result).toMatchObject({ mode: "purge" });
    const operation = await client().operations.get(job.job_id);
    expect(operation.stores.every(({ remaining }) => remaining === 0)).toBe(true);
    expect((await client().operations.list({ repository }).all()).map(({ operation_id }) => operation_id)).toContain(
      job.job_id,
    );
    expect((await client().jobs.list({ limit: 100 }).page()).items.map(({ job_id }) => job_id)).toContain(job.job_id);
  });

  it("events tell of a document until it is indexed", async () => {
    const at = await newCollection(client());
    const stop = new AbortController();
    const seen: KnowledgeEvent[] = [];
    let documentId: string | undefined;
    const followed = (async () => {
      for await (const event of client().events({ signal: stop.signal })) {
        seen.push(event);
        if (
          event.type === "document.status" &&
          event.resource["document_id"] === documentId &&
          event.data["status"] === "indexed"
        )
          return;
      }
    })();
    // The stream begins from now on: upload until it has told of one, however long it took to open.
    for (let n = 0; seen.length === 0; n += 1) {
      ({ document_id: documentId } = await client().documents.upload(
        at,
        { name: `e${n}.txt`, body: `Event ${n}.` },
        { wait: true },
      ));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    ({ document_id: documentId } = await client().documents.upload(at, { name: "last.txt", body: "The last event." }));
    await followed;
    stop.abort();
    expect(seen.every(({ workspace_id }) => workspace_id === "acme")).toBe(true);
  });

  it("keys are created, listed without their secrets, and revoked", async () => {
    const { key_id, key } = await client().keys.create({ user_id: "ben", groups: ["g"], role: "user" });
    expect(key).toContain(key_id);
    const listed = (await client().keys.list().all()).find((one) => one.key_id === key_id);
    expect(listed).toMatchObject({ user_id: "ben", groups: ["g"], workspace_id: "acme" });
    expect(listed).not.toHaveProperty("key");
    await client().keys.revoke(key_id);
    expect((await client().keys.list().all()).map((one) => one.key_id)).not.toContain(key_id);
  });
}

function tenants({ world, client }: Context): void {
  it("another workspace's client sees none of it, as if it did not exist", async () => {
    const at = await newCollection(client());
    const { document_id } = await client().documents.upload(
      at,
      { name: "secret.txt", body: "The canary sings at noon." },
      { wait: true },
    );
    const other = await world().client("rival");
    const missing = await newCollection(other).then((mine) => mine.replace(/^[^/]*/, "nowhere"));
    const calls: ((c: PinakesClient, where: string) => Promise<unknown>)[] = [
      (c, where) => c.collections.get(where),
      (c, where) => c.documents.get(where, document_id),
      (c, where) => c.documents.list(where).all(),
      (c, where) => c.documents.upload(where, { name: "a.txt", body: "a" }),
      (c, where) => c.documents.uploadLink(where, { name: "a.txt" }),
      (c, where) => c.documents.downloadLink(where, document_id),
      (c, where) => c.graph.match(where).all(),
      (c, where) => c.graph.query(where, "ASK {}"),
      (c, where) => c.search("canary", { in: where }),
      (c, where) => c.answers.ask("canary", { in: where }),
      (c, where) => c.vectors.upsert(where, [{ id: "a", vector: [1, 0] }]),
      (c, where) => c.vectors.query(where, { vector: [1, 0], include_vectors: true }),
      (c, where) => c.vectors.delete(where, ["a"]),
      (c, where) => c.vectors.manifest(where),
      (c, where) => c.collections.delete(where),
    ];
    for (const call of calls) {
      const [foreign, absent] = await Promise.all(
        [at, missing].map((where) => call(other, where).catch((error: PinakesClientError) => error)),
      );
      expect(foreign).toSatisfy(NotFoundError.isInstance);
      const words = (error: unknown) => (error as Error).message.replaceAll(at.split("/")[0] ?? "", "nowhere");
      expect(words(foreign)).toBe(words(absent));
    }
    expect((await other.search("canary")).hits).toEqual([]);
  });
}
