/** What the facade refuses, and how: in OpenAI's form, as the client's own exception classes, with the parameter. */
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { RateLimiter } from "../../src/http/framework/index.ts";
import { serve } from "../../src/http/serve.ts";
import { openTestServer, rootToken } from "../http/support/server.ts";
import { openAiWorld, soon, textFile } from "./support/openai-world.ts";
import { forAllTests } from "../support/for-tests.ts";

const world = forAllTests(() => openAiWorld());
const ann = forAllTests(() => world.client("w1", "ann"));

const nobody = "0".repeat(32);

async function refusal(call: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof OpenAI.APIError) return error;
  throw new Error(`expected an error of the API, got ${String(error)}`);
}

async function bad(call: Promise<unknown>, param: string | RegExp | null): Promise<void> {
  const error = await refusal(call);
  expect(error, error.message).toBeInstanceOf(OpenAI.BadRequestError);
  expect(error.type).toBe("invalid_request_error");
  if (param === null) expect(error.param).toBeNull();
  else expect(error.param ?? "", error.message).toMatch(param);
}

describe("the client's exception classes", () => {
  it("401, 403, 404, 409, 429, and what there is no route for", async () => {
    const stranger = new OpenAI({ baseURL: `${world.url}/openai/v1`, apiKey: "pk_nobody", maxRetries: 0 });
    expect(await refusal(stranger.models.list())).toBeInstanceOf(OpenAI.AuthenticationError);
    const reader = await world.client("w1", "ann", { scopes: ["read"] });
    const denied = await refusal(reader.vectorStores.create({}));
    expect([denied instanceof OpenAI.PermissionDeniedError, denied.code]).toEqual([true, "permission_denied"]);
    const missing = await refusal(ann.files.retrieve(`file-${nobody}`));
    expect([missing instanceof OpenAI.NotFoundError, missing.code, missing.requestID !== null]).toEqual([
      true,
      "not_found",
      true,
    ]);
    const store = await ann.vectorStores.create({ name: "Put away" });
    const file = await ann.files.create({ file: textFile("a.txt", "x"), purpose: "assistants" });
    const at = `/v1/repositories/openai/collections/${store.id.slice(3)}`;
    await world.server.call("POST", `${at}:archive`, { key: ann.apiKey as string });
    const conflict = await refusal(ann.vectorStores.files.create(store.id, { file_id: file.id }));
    // Not repeated by the client: the server says that it would not help.
    expect([conflict instanceof OpenAI.ConflictError, conflict.headers?.get("x-should-retry")]).toEqual([
      true,
      "false",
    ]);
    const limiter = new RateLimiter({ caller: { perSecond: 0.001, burst: 1 } });
    await using slow = await openTestServer("memory", {}, { limiter });
    const running = await serve(slow.app, { host: "127.0.0.1", port: 0 });
    const hasty = new OpenAI({ baseURL: `${running.url}/openai/v1`, apiKey: rootToken, maxRetries: 0 });
    await hasty.models.list();
    expect(await refusal(hasty.models.list())).toBeInstanceOf(OpenAI.RateLimitError);
    await running.close();
    for (const call of [() => ann.images.generate({ prompt: "x" }), () => ann.models.delete("m")]) {
      const error = await refusal(call());
      expect([error.status === 404 || error.status === 405, error.message]).toEqual([
        true,
        expect.stringMatching(/is not supported here/) as string,
      ]);
    }
    const broken = await fetch(`${world.url}/openai/v1/vector_stores`, {
      method: "POST",
      headers: { authorization: `Bearer ${ann.apiKey as string}`, "content-type": "application/json" },
      body: "{",
    });
    expect([broken.status, await broken.json()]).toEqual([
      400,
      { error: expect.objectContaining({ type: "invalid_request_error" }) as object },
    ]);
  });

  it("11 MB of base64 are refused by their size, before they are read", async () => {
    const much = Buffer.alloc(8 * 1_048_576, 7).toString("base64");
    expect(much.length).toBeGreaterThan(11 * 1_000_000);
    const { id } = await ann.conversations.create({});
    const item = {
      role: "user" as const,
      content: [{ type: "input_image" as const, image_url: `data:image/png;base64,${much}`, detail: "auto" as const }],
    };
    for (const call of [
      () => ann.conversations.items.create(id, { items: [item] }),
      () => ann.embeddings.create({ model: "all-MiniLM-L6-v2", input: much }),
      () => ann.vectorStores.create({ metadata: { much } }),
    ]) {
      const error = await refusal(call());
      expect([error.status, error.code]).toEqual([413, "limit_exceeded"]);
    }
    const file = await ann.files.create({ file: textFile("large.txt", much), purpose: "user_data" });
    expect(file.bytes).toBe(much.length);
  });
});

describe("bad input", () => {
  it("files: names with a path, purposes, expiries, forms that are not whole", async () => {
    const post = async (fill: (form: FormData) => void): Promise<{ status: number; param: string | null }> => {
      const form = new FormData();
      fill(form);
      const headers = { authorization: `Bearer ${ann.apiKey as string}` };
      const response = await fetch(`${world.url}/openai/v1/files`, { method: "POST", headers, body: form });
      const { error } = (await response.json()) as { error: { param: string | null } };
      return { status: response.status, param: error.param };
    };
    const named = (name: string) => (form: FormData) => {
      form.append("purpose", "assistants");
      form.append("file", new Blob(["x"]), name);
    };
    for (const name of ["../secrets.txt", "a/b.txt", "..\\b.txt", "..", "a\u0001.txt"])
      expect(await post(named(name)), name).toEqual({ status: 400, param: "filename" });
    expect(await post((form) => form.append("file", new Blob(["x"]), "a.txt"))).toEqual({
      status: 400,
      param: "purpose",
    });
    expect(await post((form) => form.append("purpose", "assistants"))).toEqual({ status: 400, param: "file" });
    const twice = await post((form) => {
      named("a.txt")(form);
      named("b.txt")(form);
    });
    expect(twice.status).toBe(400);
    const file = textFile("a.txt", "x");
    await bad(ann.files.create({ file, purpose: "magic" as "assistants" }), "purpose");
    for (const seconds of [3599, 2_592_001, 1.5])
      await bad(
        ann.files.create({ file, purpose: "batch", expires_after: { anchor: "created_at", seconds } }),
        /expires/,
      );
    for (const seconds of [3600, 2_592_000])
      expect(
        await ann.files.create({ file, purpose: "batch", expires_after: { anchor: "created_at", seconds } }),
      ).toMatchObject({ bytes: 1 });
    await bad(Promise.resolve(ann.files.list({ limit: 0 })), "limit");
    await bad(Promise.resolve(ann.files.list({ limit: 10_001 })), "limit");
    await bad(Promise.resolve(ann.files.list({ after: "nothing" })), "after");
    // What was refused left no bytes.
    const { keys } = await world.server.pinakes.objects.list(
      world.server.pinakes.as({ tenant: "w1", userId: "x" }).scope,
      "files/",
    );
    expect(keys.every(({ bytes }) => bytes > 0)).toBe(true);
    const owned = (await ann.files.list()).data.length;
    expect(keys.length).toBe(owned);
  });

  it("vector stores: metadata at its limits and past them, expiries, unknown fields, ids that are none", async () => {
    const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, "v"]));
    const most = { ["k".repeat(64)]: "v".repeat(512), ...pairs(15) };
    expect((await ann.vectorStores.create({ metadata: most })).metadata).toEqual(most);
    for (const metadata of [pairs(17), { ["k".repeat(65)]: "v" }, { k: "v".repeat(513) }])
      await bad(ann.vectorStores.create({ metadata }), /^metadata/);
    for (const days of [0, 366, 1.5])
      await bad(ann.vectorStores.create({ expires_after: { anchor: "last_active_at", days } }), "expires_after.days");
    const stray = await refusal(ann.vectorStores.create({ colour: "red" } as object));
    expect([stray.status, stray.code, stray.param]).toEqual([400, "unknown_parameter", "colour"]);
    for (const id of ["nothing", `vs_${nobody}`, "vs_../x", `vs_${"x".repeat(200)}`])
      expect(await refusal(ann.vectorStores.retrieve(id)), id).toBeInstanceOf(OpenAI.NotFoundError);
    await bad(Promise.resolve(ann.vectorStores.list({ limit: 101 })), "limit");
    expect(await refusal(Promise.resolve(ann.vectorStores.list({ after: `vs_${nobody}` })))).toBeInstanceOf(
      OpenAI.NotFoundError,
    );
    expect(await refusal(ann.vectorStores.create({ file_ids: [`file-${nobody}`] }))).toBeInstanceOf(
      OpenAI.NotFoundError,
    );
  });

  it("files of stores and batches: attributes, chunking, numbers of files", async () => {
    const store = await ann.vectorStores.create({});
    const file = await ann.files.create({ file: textFile("a.txt", "text"), purpose: "assistants" });
    const attach = (more: object) => ann.vectorStores.files.create(store.id, { file_id: file.id, ...more });
    const cut = (max_chunk_size_tokens: number, chunk_overlap_tokens: number) => ({
      chunking_strategy: { type: "static", static: { max_chunk_size_tokens, chunk_overlap_tokens } },
    });
    for (const [size, overlap] of [
      [99, 0],
      [4097, 0],
      [100, 51],
      [800, 401],
      [800, -1],
    ] as const)
      await bad(attach(cut(size, overlap)), /^chunking_strategy/);
    for (const [size, overlap] of [
      [100, 50],
      [4096, 2048],
    ] as const)
      expect((await attach(cut(size, overlap))).id).toBe(file.id);
    await bad(attach({ attributes: { list: ["a"] } }), /^attributes/);
    await bad(attach({ attributes: { text: "v".repeat(513) } }), /^attributes/);
    expect(await refusal(attach({ file_id: `file-${nobody}` }))).toBeInstanceOf(OpenAI.NotFoundError);
    const ids = Array.from({ length: 2_001 }, (_, i) => `file-${i.toString(16).padStart(32, "0")}`);
    const batches = ann.vectorStores.fileBatches;
    await bad(batches.create(store.id, { file_ids: ids }), "file_ids");
    expect(await refusal(batches.create(store.id, { file_ids: ids.slice(1) }))).toBeInstanceOf(OpenAI.NotFoundError);
    await bad(batches.create(store.id, { file_ids: [] }), "file_ids");
    await bad(batches.create(store.id, {}), "file_ids");
    await bad(batches.create(store.id, { file_ids: [file.id], files: [{ file_id: file.id }] }), "files");
    await bad(batches.create(store.id, { file_ids: [file.id, file.id] }), null);
    expect(await refusal(batches.retrieve("vsfb_nothing", { vector_store_id: store.id }))).toBeInstanceOf(
      OpenAI.NotFoundError,
    );
    await ann.vectorStores.files.poll(store.id, file.id, soon);
  });

  it("searches: limits, depth of filters, operators and values", async () => {
    const store = await ann.vectorStores.create({});
    const search = (more: object) => Promise.resolve(ann.vectorStores.search(store.id, { query: "x", ...more }));
    for (const max_num_results of [0, 51]) await bad(search({ max_num_results }), "max_num_results");
    for (const max_num_results of [1, 50]) expect((await search({ max_num_results })).data).toEqual([]);
    for (const score_threshold of [-0.1, 1.1]) await bad(search({ ranking_options: { score_threshold } }), /^ranking/);
    await bad(search({ ranking_options: { ranker: "magic" } }), /^ranking_options.ranker/);
    await bad(search({ query: "" }), "query");
    await bad(search({ query: [] }), "query");
    const nested = (depth: number): object =>
      depth === 1 ? { type: "eq", key: "a", value: 1 } : { type: "and", filters: [nested(depth - 1)] };
    expect((await search({ filters: nested(8) })).data).toEqual([]);
    for (const depth of [9, 20, 30]) await bad(search({ filters: nested(depth) }), "filters");
    expect((await refusal(search({ filters: nested(20) }))).message).toContain("nested more than 8 levels");
    for (const filters of [
      { type: "like", key: "a", value: 1 },
      { type: "eq", value: 1 },
      { type: "eq", key: "a", value: { b: 1 } },
      { type: "gt", key: "a", value: true },
      { type: "in", key: "a", value: "b" },
      { type: "and", filters: [] },
      { type: "eq", key: "a", value: 1, extra: 1 },
      "a = 1",
    ])
      await bad(search({ filters }), /^filters/);
    const wide = Array.from({ length: 101 }, () => ({ type: "eq", key: "a", value: 1 }));
    await bad(search({ filters: { type: "or", filters: wide } }), "filters");
  });

  it("embeddings: tokens, dimensions and models that there are not", async () => {
    const model = "all-MiniLM-L6-v2";
    await bad(ann.embeddings.create({ model, input: [1, 2, 3] }), "input");
    await bad(ann.embeddings.create({ model, input: [[1, 2, 3]] }), "input");
    await bad(ann.embeddings.create({ model, input: "" }), "input");
    await bad(ann.embeddings.create({ model, input: "x", dimensions: 7 }), "dimensions");
    const unknown = await refusal(ann.embeddings.create({ model: "nothing", input: "x" }));
    expect(unknown).toBeInstanceOf(OpenAI.NotFoundError);
    expect(unknown).toMatchObject({ status: 404, code: "model_not_found", type: "invalid_request_error" });
    expect(unknown.message).toContain('"nothing"');
    const retrieved = await refusal(ann.models.retrieve("nothing/at all"));
    expect(retrieved).toBeInstanceOf(OpenAI.NotFoundError);
    expect(retrieved).toMatchObject({ status: 404, code: "model_not_found" });
  });

  it("conversations: items and their number, roles, types, include", async () => {
    const message = { role: "user" as const, content: "x" };
    const items = Array.from({ length: 21 }, () => message);
    await bad(ann.conversations.create({ items }), "items");
    const { id } = await ann.conversations.create({ items: items.slice(1) });
    await bad(ann.conversations.items.create(id, { items }), "items");
    await bad(ann.conversations.items.create(id, { items: [] }), "items");
    const add = (item: object) => ann.conversations.items.create(id, { items: [item as never] });
    await bad(add({ role: "robot", content: "x" }), /^items\[0\].role/);
    await bad(add({ role: "user", content: [{ type: "video" }] }), /^items\[0\].content/);
    await bad(add({ type: "item_reference", id: "msg_1" }), /^items\[0\].type/);
    await bad(add({ type: "function_call", name: "f", arguments: "{}" }), /^items\[0\].call_id/);
    await bad(Promise.resolve(ann.conversations.items.list(id, { include: ["nothing" as never] })), /^include/);
    expect(await refusal(ann.conversations.items.retrieve("msg_none", { conversation_id: id }))).toBeInstanceOf(
      OpenAI.NotFoundError,
    );
    expect(await refusal(Promise.resolve(ann.conversations.items.list(id, { after: "msg_none" })))).toBeInstanceOf(
      OpenAI.NotFoundError,
    );
    for (const none of ["nothing", `conv_${nobody}`, "~thread"])
      expect(await refusal(ann.conversations.retrieve(none)), none).toBeInstanceOf(OpenAI.NotFoundError);
  });
});

describe("whose things they are", () => {
  it("another workspace and another user see nothing of a user's files and stores; conversations are their workspace's", async () => {
    const store = await ann.vectorStores.create({ name: "Secret" });
    const file = await ann.files.create({ file: textFile("secret.txt", "secret words"), purpose: "assistants" });
    await ann.vectorStores.files.createAndPoll(store.id, { file_id: file.id }, soon);
    const batch = await ann.vectorStores.fileBatches.createAndPoll(store.id, { file_ids: [file.id] }, soon);
    const upload = await ann.uploads.create({
      bytes: 1,
      filename: "a.txt",
      mime_type: "text/plain",
      purpose: "user_data",
    });
    const conversation = await ann.conversations.create({ items: [{ role: "user", content: "secret" }] });
    const of = { vector_store_id: store.id };
    for (const [workspace, user] of [
      ["w2", "ann"],
      ["w1", "ben"],
    ] as const) {
      const other = await world.client(workspace, user);
      const calls: (() => Promise<unknown>)[] = [
        () => other.files.retrieve(file.id),
        () => other.files.content(file.id),
        () => other.files.delete(file.id),
        () => other.uploads.cancel(upload.id),
        () => other.uploads.parts.create(upload.id, { data: textFile("a", "x") }),
        () => other.uploads.complete(upload.id, { part_ids: ["part_x"] }),
        () => other.vectorStores.retrieve(store.id),
        () => other.vectorStores.update(store.id, { name: "Taken" }),
        () => other.vectorStores.delete(store.id),
        () => Promise.resolve(other.vectorStores.search(store.id, { query: "secret" })),
        () => Promise.resolve(other.vectorStores.files.list(store.id)),
        () => other.vectorStores.files.retrieve(file.id, of),
        () => other.vectorStores.files.create(store.id, { file_id: file.id }),
        () => other.vectorStores.fileBatches.retrieve(batch.id, of),
        () => other.vectorStores.fileBatches.cancel(batch.id, of),
      ];
      for (const call of calls) expect(await refusal(call())).toBeInstanceOf(OpenAI.NotFoundError);
      expect((await other.files.list()).data).toEqual([]);
      expect((await other.vectorStores.list()).data).toEqual([]);
      const mine = await other.vectorStores.create({ name: "Secret" });
      expect(await refusal(other.vectorStores.files.create(mine.id, { file_id: file.id }))).toBeInstanceOf(
        OpenAI.NotFoundError,
      );
      expect(
        await refusal(other.vectorStores.fileBatches.retrieve(batch.id, { vector_store_id: mine.id })),
      ).toBeInstanceOf(OpenAI.NotFoundError);
      await other.vectorStores.delete(mine.id);
    }
    const abroad = await world.client("w2", "ann");
    expect(await refusal(abroad.conversations.retrieve(conversation.id))).toBeInstanceOf(OpenAI.NotFoundError);
    expect(await refusal(Promise.resolve(abroad.conversations.items.list(conversation.id)))).toBeInstanceOf(
      OpenAI.NotFoundError,
    );
    expect((await ann.vectorStores.retrieve(store.id)).name).toBe("Secret");
  });

  it("a project is a repository: its collections are vector stores, with the access that they have", async () => {
    const admin = await world.client("w1", "boss", { role: "admin" });
    const key = admin.apiKey as string;
    await world.server.call("POST", "/v1/repositories", {
      key,
      body: { repository_id: "kb", allowed_groups: ["team"] },
    });
    const made = await world.server.call("POST", "/v1/repositories/kb/collections", {
      key,
      body: { collection_id: "manuals", name: "Manuals" },
    });
    expect(made.status).toBe(201);
    const sent = await world.server.call("POST", "/v1/repositories/kb/collections/manuals/documents", {
      key,
      body: { name: "press.txt", text: "Press the red button to stop.", metadata: { lang: "en" } },
    });
    const document = (sent.json["documents"] as { document_id: string }[])[0]?.document_id as string;
    await world.server.settled(key, `/v1/repositories/kb/collections/manuals/documents/${document}`);
    const member = await world.client("w1", "mia", { groups: ["team"], project: "kb" });
    expect((await member.vectorStores.list()).data).toMatchObject([{ id: "vs_manuals", name: "Manuals" }]);
    const { data } = await member.vectorStores.search("vs_manuals", { query: "How do I stop it?" });
    expect(data).toMatchObject([{ file_id: `file-${document}`, filename: "press.txt", attributes: { lang: "en" } }]);
    const file = await member.vectorStores.files.retrieve(`file-${document}`, { vector_store_id: "vs_manuals" });
    expect(file).toMatchObject({ status: "completed", attributes: { lang: "en" } });
    const outsider = await world.client("w1", "out", { project: "kb" });
    expect((await outsider.vectorStores.list()).data).toEqual([]);
    expect(await refusal(outsider.vectorStores.retrieve("vs_manuals"))).toBeInstanceOf(OpenAI.NotFoundError);
    expect(await refusal(outsider.vectorStores.create({ name: "x" }))).toBeInstanceOf(OpenAI.NotFoundError);
    const own = await world.client("w1", "out", { project: "me" });
    const catalog = await own.vectorStores.create({ name: "Mine" });
    expect((await own.vectorStores.list()).data.map(({ id }) => id)).toEqual([catalog.id]);
  });
});
