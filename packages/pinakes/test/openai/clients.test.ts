/** The official client against a started server, operation by operation, on the engines that servers run on. */
import { createHash } from "node:crypto";
import type OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { useServers } from "../support/servers.ts";
import { all, openAiWorld, soon, textFile } from "./support/openai-world.ts";
import { forAllTests } from "../support/for-tests.ts";

const { postgres } = useServers();

describe.each([
  ["SQLite", () => ({})],
  ["PostgreSQL", () => ({ items: postgres(), objects: "memory:" })],
])("OpenAI's client on %s", (_, options) => {
  const world = forAllTests(() => openAiWorld(options()));
  const ann = forAllTests(() => world.client("w1", "ann"));

  it("files: created, listed in pages, read and deleted", async () => {
    const client = await world.client("w1", "filer");
    const made = [];
    for (const [i, purpose] of (["assistants", "user_data", "assistants"] as const).entries())
      made.push(await client.files.create({ file: textFile(`f${i}.txt`, `text ${i}`), purpose }));
    const [first] = made;
    expect(first).toMatchObject({
      object: "file",
      bytes: 6,
      filename: "f0.txt",
      purpose: "assistants",
      status: "processed",
    });
    expect(first?.id).toMatch(/^file-[0-9a-f]{32}$/);
    expect(Math.abs((first?.created_at ?? 0) - Date.now() / 1000)).toBeLessThan(600);
    const ids = made.map(({ id }) => id);
    expect((await all(client.files.list({ limit: 2 }))).map(({ id }) => id)).toEqual(ids.toReversed());
    expect((await all(client.files.list({ limit: 1, order: "asc" }))).map(({ id }) => id)).toEqual(ids);
    expect((await all(client.files.list({ purpose: "user_data" }))).map(({ id }) => id)).toEqual([ids[1]]);
    expect(await client.files.retrieve(ids[0] as string)).toEqual(first);
    expect((await client.files.waitForProcessing(ids[0] as string)).status).toBe("processed");
    expect(await (await client.files.content(ids[2] as string)).text()).toBe("text 2");
    expect(await client.files.delete(ids[1] as string)).toEqual({ id: ids[1], object: "file", deleted: true });
    expect((await all(client.files.list())).map(({ id }) => id)).toEqual([ids[2], ids[0]]);
  });

  it("uploads: parts in any order of arrival, sizes and md5 checked, cancelled", async () => {
    const bytes = Buffer.from("the first part, and the second");
    const upload = await ann.uploads.create({
      bytes: bytes.length,
      filename: "parts.txt",
      mime_type: "text/plain",
      purpose: "assistants",
      expires_after: { anchor: "created_at", seconds: 3600 },
    });
    expect(upload).toMatchObject({ object: "upload", status: "pending", bytes: bytes.length, filename: "parts.txt" });
    const second = await ann.uploads.parts.create(upload.id, { data: new File([bytes.subarray(15)], "b") });
    const first = await ann.uploads.parts.create(upload.id, { data: new File([bytes.subarray(0, 15)], "a") });
    expect(second).toMatchObject({ object: "upload.part", upload_id: upload.id });
    const md5 = createHash("md5").update(bytes).digest("hex");
    const wrong = ann.uploads.complete(upload.id, { part_ids: [second.id, first.id], md5 });
    await expect(wrong).rejects.toMatchObject({ status: 400, param: "md5" });
    await expect(ann.uploads.complete(upload.id, { part_ids: [first.id] })).rejects.toMatchObject({
      param: "part_ids",
    });
    const done = await ann.uploads.complete(upload.id, { part_ids: [first.id, second.id], md5 });
    expect(done).toMatchObject({ status: "completed", file: { bytes: bytes.length, filename: "parts.txt" } });
    expect(done.file?.expires_at).toBe((done.file?.created_at ?? 0) + 3600);
    expect(await (await ann.files.content(done.file?.id as string)).text()).toBe(bytes.toString());
    await expect(ann.uploads.complete(upload.id, { part_ids: [first.id] })).rejects.toMatchObject({ status: 400 });
    const other = await ann.uploads.create({
      bytes: 3,
      filename: "x.txt",
      mime_type: "text/plain",
      purpose: "user_data",
    });
    const much = ann.uploads.parts.create(other.id, { data: new File(["four"], "a") });
    await expect(much).rejects.toMatchObject({ status: 400, param: "data" });
    expect((await ann.uploads.cancel(other.id)).status).toBe("cancelled");
    const late = ann.uploads.parts.create(other.id, { data: new File(["abc"], "a") });
    await expect(late).rejects.toMatchObject({ status: 400 });
  });

  it("vector stores: created, read, changed, listed both ways and deleted; they are collections", async () => {
    const client = await world.client("w1", "storer");
    expect((await client.vectorStores.list()).data).toEqual([]);
    const made = [];
    for (const name of ["First", "Ünï / cøde", "First"])
      made.push(await client.vectorStores.create({ name, metadata: { team: "a" }, description: "Of a test" }));
    const [first, , twin] = made;
    expect(first).toMatchObject({
      object: "vector_store",
      name: "First",
      metadata: { team: "a" },
      status: "completed",
      usage_bytes: 0,
      file_counts: { in_progress: 0, completed: 0, failed: 0, cancelled: 0, total: 0 },
      expires_at: null,
    });
    expect(twin?.name).toBe("First");
    const ids = made.map(({ id }) => id);
    expect((await all(client.vectorStores.list({ limit: 2 }))).map(({ id }) => id)).toEqual(ids.toReversed());
    expect((await all(client.vectorStores.list({ limit: 1, order: "asc" }))).map(({ id }) => id)).toEqual(ids);
    const before = await client.vectorStores.list({ order: "asc", before: ids[2] as string, limit: 1 });
    expect([before.data.map(({ id }) => id), before.has_more]).toEqual([[ids[1]], true]);
    const changed = await client.vectorStores.update(ids[0] as string, {
      name: "Renamed",
      metadata: { team: "b" },
      expires_after: { anchor: "last_active_at", days: 7 },
    });
    expect(changed).toMatchObject({
      name: "Renamed",
      metadata: { team: "b" },
      expires_after: { anchor: "last_active_at", days: 7 },
    });
    expect(changed.expires_at).toBe((changed.last_active_at ?? 0) + 7 * 86_400);
    expect(await client.vectorStores.retrieve(ids[0] as string)).toEqual(changed);
    expect(await client.vectorStores.update(ids[0] as string, { expires_after: null })).toMatchObject({
      name: "Renamed",
      expires_at: null,
    });
    const { key } = { key: client.apiKey as string };
    const { json } = await world.server.call("GET", "/v1/repositories/openai/collections?sort=name&order=asc", { key });
    const names = (json["items"] as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(["Renamed", "Uni c de", expect.stringMatching(/^First [0-9a-f]{8}$/)]),
    );
    expect(await client.vectorStores.delete(ids[1] as string)).toEqual({
      id: ids[1],
      object: "vector_store.deleted",
      deleted: true,
    });
    await expect(client.vectorStores.retrieve(ids[1] as string)).rejects.toMatchObject({ status: 404 });
    expect((await all(client.vectorStores.list())).map(({ id }) => id)).toEqual([ids[2], ids[0]]);
  });

  it("files of stores: attached and polled, attributes, chunking, text; detached, and the file stays", async () => {
    const store = await ann.vectorStores.create({ name: "Papers" });
    const file = await ann.files.create({
      file: textFile("owls.txt", "Owls hunt at night. They turn their heads very far."),
      purpose: "assistants",
    });
    const attached = await ann.vectorStores.files.createAndPoll(
      store.id,
      {
        file_id: file.id,
        attributes: { year: 2024, author: "Ann", page: 7, "odd/key.x": true },
        chunking_strategy: { type: "static", static: { max_chunk_size_tokens: 100, chunk_overlap_tokens: 50 } },
      },
      soon,
    );
    expect(attached).toMatchObject({
      id: file.id,
      object: "vector_store.file",
      vector_store_id: store.id,
      status: "completed",
      last_error: null,
      usage_bytes: file.bytes,
      attributes: { year: 2024, author: "Ann", page: 7, "odd/key.x": true },
      chunking_strategy: { type: "static", static: { max_chunk_size_tokens: 100, chunk_overlap_tokens: 50 } },
    });
    const second = await ann.vectorStores.files.uploadAndPoll(
      store.id,
      textFile("bats.md", "# Bats\n\nBats hear."),
      soon,
    );
    expect([second.status, second.chunking_strategy?.type]).toEqual(["completed", "other"]);
    expect(await ann.vectorStores.retrieve(store.id)).toMatchObject({
      status: "completed",
      file_counts: { completed: 2, total: 2 },
    });
    const text = await all(ann.vectorStores.files.content(file.id, { vector_store_id: store.id }));
    expect(text).toEqual([{ type: "text", text: "Owls hunt at night. They turn their heads very far." }]);
    const ids = [file.id, second.id];
    expect((await all(ann.vectorStores.files.list(store.id, { limit: 1 }))).map(({ id }) => id)).toEqual(
      ids.toReversed(),
    );
    expect((await all(ann.vectorStores.files.list(store.id, { order: "asc", limit: 1 }))).map(({ id }) => id)).toEqual(
      ids,
    );
    expect((await ann.vectorStores.files.list(store.id, { filter: "failed" })).data).toEqual([]);
    expect((await all(ann.vectorStores.files.list(store.id, { filter: "completed" }))).length).toBe(2);
    await ann.vectorStores.files.update(file.id, { vector_store_id: store.id, attributes: { year: 2025 } });
    const again = await ann.vectorStores.files.poll(store.id, file.id, soon);
    expect([again.status, again.attributes]).toEqual(["completed", { year: 2025 }]);
    expect(await ann.vectorStores.files.delete(file.id, { vector_store_id: store.id })).toEqual({
      id: file.id,
      object: "vector_store.file.deleted",
      deleted: true,
    });
    await expect(ann.vectorStores.files.retrieve(file.id, { vector_store_id: store.id })).rejects.toMatchObject({
      status: 404,
    });
    const other = await ann.vectorStores.create({ name: "Other", file_ids: [file.id] });
    expect((await ann.vectorStores.files.poll(other.id, file.id, soon)).status).toBe("completed");
    expect((await ann.files.retrieve(file.id)).id).toBe(file.id);
  });

  it("a client that polls by itself waits as long as the server says", async () => {
    const store = await ann.vectorStores.create({});
    const file = await ann.files.create({ file: textFile("hint.txt", "A hint."), purpose: "assistants" });
    const { response } = await ann.vectorStores.files.create(store.id, { file_id: file.id }).withResponse();
    expect(response.headers.get("openai-poll-after-ms")).toBe("500");
    expect((await ann.vectorStores.files.poll(store.id, file.id)).status).toBe("completed");
  });

  it("a file that cannot be read fails with its reason", async () => {
    const store = await ann.vectorStores.create({ name: "Failing" });
    const broken = await ann.vectorStores.files.uploadAndPoll(store.id, textFile("broken.pdf", "no pdf"), soon);
    expect(broken).toMatchObject({ status: "failed", last_error: { code: "invalid_file" } });
    expect((await all(ann.vectorStores.files.list(store.id, { filter: "failed" }))).map(({ id }) => id)).toEqual([
      broken.id,
    ]);
    expect((await ann.vectorStores.retrieve(store.id)).file_counts).toMatchObject({ failed: 1, total: 1 });
    const zip = await ann.files.create({ file: textFile("a.zip", "zip"), purpose: "assistants" });
    await expect(ann.vectorStores.files.create(store.id, { file_id: zip.id })).rejects.toMatchObject({ status: 400 });
  });

  it("batches: of ids and of files with settings, with failures of their own, listed, polled and cancelled", async () => {
    const store = await ann.vectorStores.create({ name: "Batches" });
    const files = [];
    for (let i = 0; i < 12; i += 1)
      files.push(
        await ann.files.create({ file: textFile(`b${i}.txt`, `Batch text number ${i}.`), purpose: "assistants" }),
      );
    const zip = await ann.files.create({ file: textFile("a.zip", "zip"), purpose: "assistants" });
    const ids = [...files.slice(0, 9).map(({ id }) => id), zip.id];
    const batch = await ann.vectorStores.fileBatches.createAndPoll(
      store.id,
      { file_ids: ids, attributes: { lot: 1 } },
      soon,
    );
    expect(batch).toMatchObject({
      object: "vector_store.files_batch",
      vector_store_id: store.id,
      status: "completed",
      file_counts: { completed: 9, failed: 1, in_progress: 0, cancelled: 0, total: 10 },
    });
    expect(batch.id).toMatch(/^vsfb_/);
    const of = { vector_store_id: store.id };
    expect(
      (await all(ann.vectorStores.fileBatches.listFiles(batch.id, { ...of, limit: 4, order: "asc" }))).map(
        ({ id }) => id,
      ),
    ).toEqual(ids);
    const failed = await all(ann.vectorStores.fileBatches.listFiles(batch.id, { ...of, filter: "failed" }));
    expect(failed).toMatchObject([{ id: zip.id, last_error: { code: "unsupported_file" } }]);
    expect((await all(ann.vectorStores.files.list(store.id, { limit: 3 }))).map(({ id }) => id).toSorted()).toEqual(
      ids.toSorted(),
    );
    expect((await ann.vectorStores.files.retrieve(ids[0] as string, of)).attributes).toEqual({ lot: 1 });
    const own = await ann.vectorStores.fileBatches.createAndPoll(
      store.id,
      { files: files.slice(9, 11).map(({ id }, i) => ({ file_id: id, attributes: { n: i } })) },
      soon,
    );
    expect(own.file_counts).toMatchObject({ completed: 2, total: 2 });
    expect((await ann.vectorStores.files.retrieve(files[10]?.id as string, of)).attributes).toEqual({ n: 1 });
    const uploaded = await ann.vectorStores.fileBatches.uploadAndPoll(
      store.id,
      { files: [textFile("u1.txt", "one"), textFile("u2.txt", "two")], fileIds: [files[11]?.id as string] },
      soon,
    );
    expect(uploaded.file_counts).toMatchObject({ completed: 3, total: 3 });
    expect((await ann.vectorStores.retrieve(store.id)).file_counts).toMatchObject({
      completed: 14,
      failed: 1,
      total: 15,
    });
    const cancelled = await ann.vectorStores.fileBatches.cancel(own.id, of);
    expect(cancelled.file_counts).toMatchObject({ completed: 2, total: 2 });
  });

  it("search: one query or several, filters, thresholds and counts; what /v1 finds", async () => {
    const store = await ann.vectorStores.create({ name: "Search" });
    const texts = {
      "night.txt": ["Owls hunt mice at night in the forest.", { year: 2020, kind: "bird", page: 1 }],
      "day.txt": ["Eagles hunt fish by day over the lake.", { year: 2022, kind: "bird", page: 2 }],
      "sea.txt": ["Whales sing to each other below the waves.", { year: 2024, kind: "mammal" }],
    } as const;
    for (const [name, [text, attributes]] of Object.entries(texts)) {
      const file = await ann.files.create({ file: textFile(name, text), purpose: "assistants" });
      await ann.vectorStores.files.createAndPoll(store.id, { file_id: file.id, attributes }, soon);
    }
    const names = async (body: OpenAI.VectorStoreSearchParams) =>
      (await all(ann.vectorStores.search(store.id, body))).map(({ filename }) => filename);
    const page = await ann.vectorStores.search(store.id, { query: "Which birds hunt at night?", rewrite_query: true });
    const raw = await ann.vectorStores.search(store.id, { query: "Which birds hunt at night?" }).asResponse();
    expect(await raw.json()).toMatchObject({
      object: "vector_store.search_results.page",
      search_query: ["Which birds hunt at night?"],
      has_more: false,
      next_page: null,
    });
    expect(page.data[0]).toMatchObject({
      filename: "night.txt",
      attributes: { year: 2020, kind: "bird", page: 1 },
      content: [{ type: "text", text: "Owls hunt mice at night in the forest." }],
    });
    expect(page.data[0]?.file_id).toMatch(/^file-/);
    expect(page.data.length).toBe(3);
    const { json } = await world.server.call(
      "POST",
      `/v1/repositories/openai/collections/${store.id.slice(3)}/search`,
      { key: ann.apiKey as string, body: { query: "Which birds hunt at night?", min_score: 0 } },
    );
    const same = (json["hits"] as { score: number; text: string }[]).map(({ score, text }) => [score, text]);
    expect(page.data.map(({ score, content }) => [score, content[0]?.text])).toEqual(same);
    expect(await names({ query: "hunting", max_num_results: 1 })).toHaveLength(1);
    expect((await names({ query: ["song of whales", "fish of a lake"], max_num_results: 2 })).toSorted()).toEqual([
      "day.txt",
      "sea.txt",
    ]);
    const query = "animals that hunt and sing";
    const eq = (key: string, value: string | number) => ({ type: "eq" as const, key, value });
    expect(await names({ query, filters: eq("kind", "mammal") })).toEqual(["sea.txt"]);
    expect(await names({ query, filters: { type: "gte", key: "year", value: 2024 } })).toEqual(["sea.txt"]);
    expect((await names({ query, filters: { type: "in", key: "year", value: [2020, 2022] } })).toSorted()).toEqual([
      "day.txt",
      "night.txt",
    ]);
    expect(await names({ query, filters: { type: "nin", key: "year", value: [2020, 2022] } })).toEqual(["sea.txt"]);
    expect(await names({ query, filters: { type: "gt", key: "year", value: 2022 } })).toEqual(["sea.txt"]);
    expect(await names({ query, filters: { type: "lte", key: "year", value: 2020 } })).toEqual(["night.txt"]);
    expect(await names({ query, filters: eq("page", 2) })).toEqual(["day.txt"]);
    expect((await names({ query, filters: { type: "ne", key: "page", value: 2 } })).toSorted()).toEqual([
      "night.txt",
      "sea.txt",
    ]);
    expect(await names({ query, filters: eq("nowhere", 1) })).toEqual([]);
    expect((await names({ query, filters: { type: "ne", key: "nowhere", value: 1 } })).length).toBe(3);
    expect(
      await names({
        query,
        filters: {
          type: "or",
          filters: [
            eq("nowhere", 1),
            { type: "and", filters: [eq("kind", "bird"), { type: "lt", key: "year", value: 2021 }] },
          ],
        },
      }),
    ).toEqual(["night.txt"]);
    expect(
      await names({
        query: "quarterly tax returns of a bank",
        ranking_options: { score_threshold: 0.9, ranker: "auto" },
      }),
    ).toEqual([]);
  });

  it("embeddings and models", async () => {
    const [model] = await all(ann.models.list());
    expect(await ann.models.retrieve(model?.id as string)).toEqual(model);
    const decoded = await ann.embeddings.create({ model: model?.id as string, input: ["one", "two"] });
    const floats = await ann.embeddings.create({ model: model?.id as string, input: "one", encoding_format: "float" });
    expect(decoded.data[0]?.embedding).toEqual(floats.data[0]?.embedding);
    expect([decoded.data.length, floats.usage.prompt_tokens > 0]).toEqual([2, true]);
    // As it is sent: little-endian 32-bit numbers.
    const sent = await ann.embeddings.create({ model: model?.id as string, input: "one", encoding_format: "base64" });
    const bytes = Buffer.from(sent.data[0]?.embedding as unknown as string, "base64");
    expect(Array.from({ length: bytes.length / 4 }, (__, i) => bytes.readFloatLE(i * 4))).toEqual(
      floats.data[0]?.embedding,
    );
  });

  it("conversations: items are kept as they were sent, in order, and paged; metadata; deleted with all items", async () => {
    const conversation = await ann.conversations.create({
      metadata: { topic: "demo" },
      items: [{ role: "user", content: "Hello" }],
    });
    expect(conversation).toMatchObject({ object: "conversation", metadata: { topic: "demo" } });
    expect(conversation.id).toMatch(/^conv_[0-9a-f]{32}$/);
    const added = await ann.conversations.items.create(conversation.id, {
      items: [
        { role: "assistant", content: "Hi!" },
        { type: "function_call", call_id: "c1", name: "look", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", output: "seen" },
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "And this?" },
            { type: "input_image", image_url: "data:image/png;base64,AA==", detail: "auto" },
          ],
        },
      ],
    });
    expect(added.data.map(({ type }) => type)).toEqual(["message", "function_call", "function_call_output", "message"]);
    expect([added.first_id, added.last_id]).toEqual([added.data[0]?.id, added.data[3]?.id]);
    expect(added.data[0]).toMatchObject({
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Hi!" }],
    });
    const listed = await all(ann.conversations.items.list(conversation.id, { order: "asc", limit: 2 }));
    expect(listed.length).toBe(5);
    expect(listed[0]).toMatchObject({ role: "user", content: [{ type: "input_text", text: "Hello" }] });
    expect(listed[0]?.id).toMatch(/^msg_/);
    expect((await all(ann.conversations.items.list(conversation.id, { limit: 2 }))).map(({ id }) => id)).toEqual(
      listed.map(({ id }) => id).toReversed(),
    );
    const image = { conversation_id: conversation.id };
    const id = added.data[3]?.id as string;
    expect(JSON.stringify(await ann.conversations.items.retrieve(id, image))).not.toContain("base64");
    const whole = await ann.conversations.items.retrieve(id, { ...image, include: ["message.input_image.image_url"] });
    expect(JSON.stringify(whole)).toContain("base64,AA==");
    expect(await ann.conversations.update(conversation.id, { metadata: { topic: "other" } })).toMatchObject({
      id: conversation.id,
      metadata: { topic: "other" },
    });
    expect(await ann.conversations.items.delete(id, image)).toMatchObject({ id: conversation.id });
    expect((await all(ann.conversations.items.list(conversation.id))).length).toBe(4);
    expect(await ann.conversations.delete(conversation.id)).toEqual({
      id: conversation.id,
      object: "conversation.deleted",
      deleted: true,
    });
    await expect(ann.conversations.retrieve(conversation.id)).rejects.toMatchObject({ status: 404 });
    const { json } = await world.server.call("GET", `/v1/threads/${conversation.id}/messages`, {
      key: ann.apiKey as string,
    });
    expect(json["items"]).toEqual([]);
  });
});
