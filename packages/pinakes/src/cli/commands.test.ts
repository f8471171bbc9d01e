import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { SearchResult } from "../knowledge/index.ts";
import { ask } from "./commands/ask.ts";
import { chunk } from "./commands/chunk.ts";
import { collections } from "./commands/collections.ts";
import { UsageError } from "./terminal/command.ts";
import { documents } from "./commands/documents.ts";
import { jobs } from "./commands/jobs.ts";
import { listItemsMax } from "./terminal/pages.ts";
import { repositories } from "./commands/repositories.ts";
import { search } from "./commands/search.ts";
import { cliFolder, failure } from "./terminal/test-terminal.ts";

// Many processes or openings of the stores in one test: a busy machine takes its time.
const { base, env, call, json } = cliFolder("cli");

beforeAll(async () => {
  for (const folder of ["docs/a", "docs/b"]) await mkdir(join(base, folder), { recursive: true });
  await writeFile(
    join(base, "docs/a/x.md"),
    "# Machines\n\nA machine computes numbers by reading a tape, one square after the other.\n",
  );
  await writeFile(
    join(base, "docs/b/x.md"),
    "# Relations\n\nA relational model keeps data in tables, whose rows have no order.\n",
  );
  await writeFile(join(base, "docs/broken.pdf"), "%PDF-1.4 broken");
  await writeFile(join(base, "docs/picture.png"), "no text");
  await json(repositories, "create", "kb", "--name", "Knowledge");
  await json(collections, "create", "kb/papers", "--name", "Papers", "--tags", "old, good");
});

describe("pinakes repositories", () => {
  it("makes, lists and shows them; deletes one only when told so twice", async () => {
    expect(await json(repositories, "create", "gone", "--description", "soon")).toMatchObject({
      repository_id: "gone",
      name: "gone",
      description: "soon",
    });
    expect(await json(repositories, "list")).toMatchObject({
      items: [{ repository_id: "gone" }, { repository_id: "kb" }],
      next_cursor: null,
    });
    const one = await json<{ next_cursor: string }>(repositories, "list", "--limit", "1");
    expect(await json(repositories, "list", `--cursor=${one.next_cursor}`)).toMatchObject({
      items: [{ repository_id: "kb" }],
    });
    expect((await call(repositories, ["list", "--limit", "1"])).out).toContain("for more: --limit 10");
    expect((await call(repositories, ["list", "--limit", String(listItemsMax)])).code).toBe(0);
    expect(await failure(call(repositories, ["list", "--limit", String(listItemsMax + 1)]))).toBeInstanceOf(UsageError);
    expect((await call(repositories, ["show", "kb"])).out).toMatch(/kb\/papers +Papers/);
    expect((await failure(call(repositories, ["delete", "gone"]))).message).toContain("--yes");
    expect((await failure(call(repositories, ["delete", "gone"], { ask: async () => "yes" }))).message).toContain(
      "nothing was changed",
    );
    expect(await json(repositories, "delete", "gone", "--yes")).toMatchObject({
      kind: "delete-repository",
      status: "succeeded",
    });
    expect((await failure(call(repositories, ["show", "gone"]))).code).toBe("NOT_FOUND");
  });

  it("takes the settings of a repository, and shows which uses make collections", async () => {
    const made = await call(repositories, [
      "create",
      "lazy",
      "--auto-create",
      "--create-on-query",
      "--no-user-collections",
      "--graph",
      '{"extract":"off"}',
    ]);
    expect(made.out).toContain("by the first upload, by the first query");
    expect(await json(repositories, "show", "lazy")).toMatchObject({
      auto_create: true,
      create_on_query: true,
      allow_user_collections: false,
      graph: { extract: "off" },
    });
    expect(await json(repositories, "show", "kb")).toMatchObject({
      auto_create: false,
      create_on_query: false,
      allow_user_collections: true,
      graph: null,
    });
    expect((await failure(call(repositories, ["create", "lazy2", "--auto_create"]))).message).toContain(
      "--auto-create",
    );
    expect(await json(repositories, "delete", "lazy", "--yes")).toMatchObject({ status: "succeeded" });
  });
});

describe("pinakes documents, search", () => {
  it("adds a folder: equal names in two folders, what cannot be read skipped or told, exit code 1; --replace leaves what is the same", async () => {
    const added = await call(documents, ["add", "kb/papers", "docs", "--metadata", '{"year":1936}', "--json"]);
    expect(added.code).toBe(1);
    expect(added.err).toContain("picture.png");
    expect(JSON.parse(added.out)).toMatchObject({
      indexed: 2,
      failed: 1,
      passages: 2,
      files: [
        { place: "a/x.md", outcome: "indexed", document: { name: "x.md", metadata: { year: 1936 } } },
        { place: "b/x.md", outcome: "indexed" },
        { place: "broken.pdf", outcome: "failed", reason: expect.stringContaining("damaged") as string },
      ],
    });
    const again = await call(documents, ["add", "kb/papers", "docs/**/*.md"]);
    expect(again).toMatchObject({ code: 1, out: expect.stringContaining("--replace") as string });
    const same = await call(documents, [
      "add",
      "kb/papers",
      "docs/**/*.md",
      "--replace",
      "--metadata",
      '{"year":1936}',
    ]);
    expect(same).toMatchObject({ code: 0, out: expect.stringMatching(/^2 unchanged \(/) as string });
    expect((await failure(call(documents, ["add", "kb/papers", "docs/picture.png"]))).message).toContain(
      "nothing to add",
    );
    expect((await failure(call(documents, ["add", "kb/none", "docs"]))).code).toBe("NOT_FOUND");
  });

  it("shows a bar on a terminal, and plain lines elsewhere", async () => {
    const bar = await call(documents, ["add", "kb/papers", "docs/a", "--replace"], { progressColumns: 60 });
    expect(bar.err).toContain("\rfiles  ");
    expect(bar.err.split("\r").every((line) => line.length < 60)).toBe(true);
    expect((await call(documents, ["add", "kb/papers", "docs/a/x.md"])).err).not.toContain("\r");
  });

  it("finds passages, with the words emphasised only on a terminal with colours", async () => {
    const question = [
      "search",
      "how does a machine compute numbers?",
      "--in",
      "kb/papers",
      "--filter",
      '{"year":1936}',
    ].slice(1);
    const result = await json<SearchResult>(search, ...question, "--limit", "1");
    expect(result.hits).toMatchObject([{ citation: { filename: "x.md", section: "Machines" } }]);
    const shown = await call(search, [...question, "--limit", "1"]);
    expect(shown.out).toMatch(/^ 1\. x\.md {2}\d\.\d{3}\n {4}kb\/papers · Machines\n {4}.*computes numbers/);
    expect(shown.out).toContain("1 passage of 1 document (hybrid) in ");
    expect((await call(search, question, { color: true, columns: 80 })).out).toContain("\u001B[33mcomputes\u001B[39m");
    expect((await call(search, ["nothingofthis", "--mode", "keyword"])).out).toMatch(
      /^No relevant chunk found \(keyword\) in [\d.]+ ms\.\n$/,
    );
    expect((await failure(call(search, ["x", "--filter", "{"]))).message).toContain("--filter: is not JSON");
    expect((await failure(call(search, ["x", "--in", "kb/a/b"]))).message).toContain("write repository/collection");
    expect(await json(search, "tables", "--explain")).toMatchObject({ explain: { mode: "hybrid" } });
  });

  it("answers with quotes and where they stand; what cannot be answered says why", async () => {
    const question = ["how does a machine compute numbers?", "--in", "kb/papers", "--sentences", "1"];
    expect(await json(ask, ...question)).toMatchObject({ mode: "extractive", sentences: [{ supported: true }] });
    const shown = await call(ask, question);
    expect(shown.out).toMatch(
      /computes numbers.* \[1\]\n\n\[1\] kb\/papers · x\.md · Machines\n {4}“.*computes numbers/,
    );
    expect(shown.out).toContain("extractive: quotes of the documents");
    expect((await call(ask, ["nothingofthis", "--in", "kb/papers", "--filter", '{"year":1}'])).out).toContain(
      "Nothing in the documents answers the question.",
    );
    expect((await failure(call(ask, ["x", "--mode", "generated"]))).message).toContain("PINAKES_CHAT_MODELS");
    expect((await failure(call(ask, ["x", "--limit", "21"]))).message).toContain("--limit: must be a whole number");
  });

  it("lists, shows by id, name or place, and removes", async () => {
    const { items } = await json<{ items: { document_id: string; name: string }[] }>(documents, "list", "kb/papers");
    expect(items.map(({ name }) => name).toSorted()).toEqual(["broken.pdf", "x.md", "x.md", "x.md"]);
    expect(await json(documents, "list", "kb/papers", "--status", "failed")).toMatchObject({
      items: [{ name: "broken.pdf" }],
    });
    expect((await failure(call(documents, ["show", "kb/papers", "x.md"]))).message).toContain("3 documents are called");
    const shown = await json<{ passages: { text: string; start: number; end: number }[] }>(
      documents,
      "show",
      "kb/papers",
      "b/x.md",
      "--passages",
    );
    expect(shown.passages[0]?.text).toContain("relational model");
    expect((await call(documents, ["show", "kb/papers", "broken.pdf"])).out).toContain("damaged");
    expect(
      (await failure(call(documents, ["delete", "kb/papers", "broken.pdf"], { ask: async () => "" }))).message,
    ).toContain("nothing was changed");
    expect(await json(documents, "delete", "kb/papers", "broken.pdf", "a/x.md")).toMatchObject({
      deleted: [{ name: "broken.pdf" }, { name: "x.md" }],
    });
    expect((await failure(call(documents, ["show", "kb/papers", "a/x.md"]))).code).toBe("NOT_FOUND");
  });

  it("after Ctrl-C what is stored stays and is indexed by whoever comes next; exit code 130", async () => {
    await json(collections, "create", "kb/many");
    await mkdir(join(base, "many"), { recursive: true });
    for (let i = 0; i < 20; i += 1) await writeFile(join(base, `many/${i}.txt`), `Text number ${i}.`);
    const stop = new AbortController();
    let bars = 0;
    const interrupt = (text: string) => {
      if (text.includes(" 0/20") && ++bars === 2) stop.abort();
    };
    const stopped = await call(documents, ["add", "kb/many", "many", "--json"], {
      progressColumns: 80,
      signal: stop.signal,
      err: interrupt,
    });
    const told = JSON.parse(stopped.out) as { indexed: number; stored: number; not_begun: number; failed: number };
    expect(stopped.code).toBe(130);
    expect(told.failed).toBe(0);
    expect(told.indexed + told.stored + told.not_begun).toBe(20);
    expect(await json(documents, "wait", "kb/many")).toMatchObject({
      document_count: told.indexed + told.stored,
      failed: [],
    });
  });

  it("stores without waiting, and another process can wait", async () => {
    await json(collections, "create", "kb/later");
    const added = await call(documents, ["add", "kb/later", "docs/b/x.md", "--no-wait"]);
    expect(added).toMatchObject({ code: 0, out: expect.stringContaining("pinakes documents wait kb/later") as string });
    expect(await json(collections, "show", "kb/later")).toMatchObject({ documents_by_status: { pending: 1 } });
    expect((await call(documents, ["wait", "kb/later"])).out).toBe("1 document, 1 passage.\n");
    expect(await json(documents, "reindex", "kb/later", "x.md")).toMatchObject({ status: "pending" });
    expect((await call(documents, ["wait", "kb/later"])).code).toBe(0);
  });
});

describe("pinakes collections", () => {
  it("R-TG-107 changes name, description, tags and fields, keeping what is not named", async () => {
    await json(collections, "set", "kb/papers", 'custom_fields={"partition":3}');
    const changed = await json(
      collections,
      "set",
      "kb/papers",
      "name=Old papers",
      "tags=physics",
      "description=All of them",
    );
    expect(changed).toMatchObject({
      name: "Old papers",
      description: "All of them",
      metadata: { tags: ["physics"], custom_fields: { partition: 3 } },
      warnings: [],
    });
    const cut = await call(collections, ["set", "kb/papers", 'chunking_strategy={"type":"SENTENCE","chunk_size":500}']);
    expect(cut.out).toContain("Re-index the collection");
    expect(await json(collections, "reindex", "kb/papers")).toMatchObject({ kind: "reindex", status: "succeeded" });
    expect(await json(collections, "set", "kb/papers", 'graph={"extract":"cooccurrence"}')).toMatchObject({
      own_graph: { extract: "cooccurrence" },
    });
    expect(await json(collections, "set", "kb/papers", "graph=")).toMatchObject({
      own_graph: null,
      graph: { extract: "structured" },
    });
    expect((await failure(call(collections, ["set", "kb/papers", 'graph={"extract":"all"}']))).message).toContain(
      "off, structured, cooccurrence, llm",
    );
    expect(await failure(call(collections, ["set", "kb/papers", "nam=x"]))).toBeInstanceOf(UsageError);
    expect((await failure(call(collections, ["set", "kb/papers", "name"]))).message).toContain("field=value");
    expect((await failure(call(collections, ["set", "kb/papers", "private=perhaps"]))).message).toContain(
      "true or false",
    );
  });

  it("R-TG-107 archives, lists, deletes, restores and purges", async () => {
    await json(collections, "create", "kb/short", "--private");
    expect(await json(collections, "archive", "kb/short")).toMatchObject({ status: "ARCHIVED" });
    expect(await json(collections, "unarchive", "kb/short")).toMatchObject({ status: "ACTIVE" });
    expect((await failure(call(collections, ["delete", "kb/short"], { ask: async () => "n" }))).message).toContain(
      "nothing was changed",
    );
    expect((await call(collections, ["delete", "kb/short"], { ask: async () => "y" })).out).toContain(
      "pinakes collections restore kb/short",
    );
    expect(await json(collections, "list", "--status", "deleted")).toMatchObject({
      items: [{ collection_id: "short" }],
    });
    expect(await json(collections, "restore", "kb/short")).toMatchObject({ status: "ACTIVE" });
    expect((await failure(call(collections, ["delete", "kb/short", "--purge"]))).message).toContain("--yes");
    expect((await call(collections, ["delete", "kb/short", "--purge"], { ask: async () => "short" })).code).toBe(0);
    expect((await failure(call(collections, ["show", "kb/short", "--deleted"]))).code).toBe("NOT_FOUND");
  });

  it("R-TG-107 says how long the trash keeps it; without a trash it warns, removes for good, and ends with the report of each store", async () => {
    const asked: string[] = [];
    const no = async (question: string) => {
      asked.push(question);
      return "n";
    };
    const trash = (days: string) => ({ env: { ...env, PINAKES_TRASH_DAYS: days } });
    await json(collections, "create", "kb/c2");
    for (const days of ["7", "1", "0"])
      await failure(call(collections, ["delete", "kb/c2"], { ...trash(days), ask: no }));
    expect(asked[0]).toContain("can be restored for 7 days.");
    expect(asked[1]).toContain("can be restored for 1 day.");
    expect(asked[2]).toMatch(/permanently removed, which cannot be undone\. Type c2 to continue/);
    expect(await json(collections, "show", "kb/c2")).toMatchObject({ status: "ACTIVE" });
    const ended = await call(collections, ["delete", "kb/c2", "-y"], trash("0"));
    expect([ended.code, ended.out]).toEqual([0, expect.stringMatching(/purge[^]*succeeded[^]*"store": "vectors"/)]);
    expect(ended.out).not.toContain("restore");
    await json(collections, "create", "kb/c2");
    const told = await call(collections, ["delete", "kb/c2", "-y", "--json"], trash("0"));
    expect([told.code, JSON.parse(told.out)]).toMatchObject([
      0,
      { kind: "purge", status: "succeeded", collection_id: "c2" },
    ]);
    expect((await failure(call(collections, ["show", "kb/c2", "--deleted"]))).code).toBe("NOT_FOUND");
  });

  it("R-TG-48 a restore of an id that has a new life names the former one, and --incarnation", async () => {
    const { incarnation } = await json<{ incarnation: string }>(collections, "create", "kb/phoenix");
    expect((await failure(call(collections, ["restore", "kb/phoenix"]))).message).toMatch(
      /is not deleted; it is ACTIVE\.$/,
    );
    await json(collections, "delete", "kb/phoenix", "--yes");
    await json(collections, "create", "kb/phoenix");
    const refused = await failure(call(collections, ["restore", "kb/phoenix"]));
    expect(refused.message).toContain(
      `delete this one first, then restore the earlier one with incarnation ${incarnation} (on the command line --incarnation)`,
    );
    await json(collections, "delete", "kb/phoenix", "--yes");
    expect(await json(collections, "restore", "kb/phoenix", "--incarnation", incarnation)).toMatchObject({
      status: "ACTIVE",
      incarnation,
    });
  });

  it("acts for whom it is told to: a user has a repository of their own, and others do not see it", async () => {
    const ada = ["--user", "ada", "--role", "user"];
    expect(await json(collections, "create", "me/notes", ...ada)).toMatchObject({ created_by: "ada", private: true });
    expect(await json(collections, "show", "me/notes", ...ada)).toMatchObject({ access: "ADMIN" });
    expect((await failure(call(collections, ["show", "me/notes", "--user", "bob", "--role", "user"]))).code).toBe(
      "NOT_FOUND",
    );
    expect(await json(collections, "list", "--workspace", "other")).toEqual({ items: [], next_cursor: null, total: 0 });
  });
});

describe("pinakes jobs", () => {
  it("lists and shows them; only what failed can be tried again", async () => {
    const { items } = await json<{ items: { job_id: string; kind: string }[] }>(jobs, "list");
    expect(items.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["purge", "delete", "restore", "reindex"]));
    const id = items[0]?.job_id ?? "";
    expect((await call(jobs, ["show", id])).out).toContain("succeeded");
    for (const action of ["retry", "cancel"]) expect((await failure(call(jobs, [action, id]))).code).toBe("CONFLICT");
    expect((await failure(call(jobs, ["show", "none"]))).code).toBe("NOT_FOUND");
  });
});

describe("pinakes chunk", () => {
  it("cuts a file without storing anything, with offsets into its text", async () => {
    const other = { PINAKES_DATA: join(base, "never-made") };
    const text = `${"A sentence of some length stands here. ".repeat(40)}\n`;
    await writeFile(join(base, "long.txt"), text);
    const cut = await call(
      chunk,
      ["long.txt", "--strategy", '{"type":"FIXED","chunk_size":400,"chunk_overlap":0}', "--json"],
      { env: other },
    );
    const { passages, total } = JSON.parse(cut.out) as {
      total: number;
      passages: { text: string; start: number; end: number }[];
    };
    expect(existsSync(other.PINAKES_DATA)).toBe(false);
    expect(total).toBe(passages.length);
    expect(total).toBeGreaterThan(3);
    for (const { text: passage, start, end } of passages) expect(text.slice(start, end)).toBe(passage);
    expect((await call(chunk, ["long.txt", "--limit", "1"])).out).toMatch(/^#0 {2}0–/);
    expect((await failure(call(chunk, ["docs/broken.pdf"]))).message).toContain("damaged");
    expect((await failure(call(chunk, ["none.txt"]))).message).toContain("cannot be read");
    expect((await failure(call(chunk, ["long.txt", "--strategy", '{"type":"ODD"}']))).message).toContain("ODD");
  });
});
