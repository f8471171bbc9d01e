import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { graphLimits } from "../../knowledge/index.ts";
import { open } from "../../open.ts";
import { UsageError } from "../terminal/command.ts";
import { sparql } from "./sparql.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { failure, run } from "../terminal/test-terminal.ts";
import { triples } from "./triples.ts";

// Many openings of the stores in one test: a busy machine takes its time.
const base = temporaryFolder("cli-triples");
const env = { PINAKES_DATA: join(base, "data") };
const people = `@prefix e: <https://e.org/> .
e:ada e:name "Ada"@en ; e:age 36 .
e:bob e:name "Bob" .
`;

const call = (args: readonly string[], terminal: Partial<Terminal> = {}) =>
  run(triples, args, { env, cwd: base, ...terminal });
const ask = (args: readonly string[], terminal: Partial<Terminal> = {}) =>
  run(sparql, args, { env, cwd: base, ...terminal });
const refused = (...args: string[]) => failure(call(args));

beforeAll(async () => {
  await using pinakes = await open({ dir: env.PINAKES_DATA, background: false });
  const admin = pinakes.as({ tenant: "default", userId: "root", role: "admin" });
  await pinakes.knowledge.repositories.create(admin, { repository_id: "kb" });
  await pinakes.knowledge.collections.create(admin, "kb", { collection_id: "papers" });
  await pinakes.knowledge.collections.create(admin, "kb", { collection_id: "other" });
  await writeFile(join(base, "people.ttl"), people);
  await writeFile(join(base, "bad.nt"), '<a:a> <a:b> "c" .\nbroken\n');
  await writeFile(join(base, "question.rq"), "SELECT ?n { ?s <https://e.org/name> ?n } ORDER BY ?n");
});

describe("pinakes triples", () => {
  it("loads a file once however often it is given, with a bar where somebody looks", async () => {
    const first = await call(["load", "kb/papers", "people.ttl"], { progressColumns: 100 });
    expect([first.code, first.out]).toEqual([0, "3 triples read, 3 new.\n"]);
    expect(first.err).toContain("people.ttl (kB)");
    expect((await call(["load", "kb/papers", "people.ttl"])).out).toBe("3 triples read, 0 new, 3 there already.\n");
    expect((await call(["load", "kb/papers", "people.ttl"])).err).toBe("");
    expect(
      JSON.parse((await call(["load", "kb/papers", "people.ttl", "--graph", "a:g", "--all-or-nothing", "--json"])).out),
    ).toEqual({
      read: 3,
      inserted: 3,
      atomic: true,
    });
    expect((await call(["remove", "kb/papers", "--g", "a:g"])).out).toBe("3 triples removed.\n");
  });

  it("R-TG-120 tells the line of a mistake, and what stays; the exit code is not 0", async () => {
    const partly = await call(["load", "kb/other", "bad.nt"]);
    expect([partly.code, partly.out]).toEqual([
      1,
      'bad.nt:2: Line 2 of the N-Triples document: Unexpected "broken".\nBefore that: 1 triple read, 1 new.\n',
    ]);
    expect((await refused("load", "kb/other", "bad.nt", "--all-or-nothing")).detail).toContain("Nothing was stored.");
    expect((await refused("load", "kb/other", "none.ttl")).detail).toContain("cannot be read");
    expect((await refused("load", "kb/other", ".", "--format", "turtle")).detail).toContain("is a folder");
    for (const wrong of [
      ["load", "kb/other", "question.rq"],
      ["load", "kb/other", "-"],
      ["load", "kb", "people.ttl"],
      ["load", "kb/other", "people.ttl", "--format", "docx"],
    ])
      expect(await refused(...wrong), wrong.join(" ")).toBeInstanceOf(UsageError);
    expect((await refused("load", "kb/none", "people.ttl")).code).toBe("NOT_FOUND");
  });

  it("shows what matches a pattern, as a table and as JSON", async () => {
    expect((await call(["query", "kb/papers", "--p", "https://e.org/name"])).out).toBe(
      's                    p                     o\n<https://e.org/ada>  <https://e.org/name>  "Ada"@en\n<https://e.org/bob>  <https://e.org/name>  "Bob"\n',
    );
    expect((await call(["query", "kb/papers", "--limit", "1"])).out).toContain(
      "These are the first 1; for more: --limit 10.",
    );
    const page = JSON.parse((await call(["query", "kb/papers", "--limit", "2", "--json"])).out) as {
      items: object[];
      next_cursor: string;
    };
    expect(page).toMatchObject({ truncated: true, next_cursor: expect.any(String) as string });
    expect(
      JSON.parse((await call(["query", "kb/papers", `--cursor=${page.next_cursor}`, "--json"])).out),
    ).toMatchObject({
      truncated: false,
    });
    expect((await call(["query", "kb/papers", "--o", '"Eve"'])).out).toBe("Nothing was found.\n");
    expect((await refused("query", "kb/papers", "--o", "Eve")).detail).toContain("put them in quotes");
    expect(await refused("query", "kb/papers", "--limit", String(graphLimits.pageTriplesMax + 1))).toBeInstanceOf(
      UsageError,
    );
    expect((await refused("query", "kb/papers", "--subject", "a:b")).detail).toContain("did you mean --s?");
  });

  it("exports to stdout and to a file", async () => {
    expect((await call(["export", "kb/papers"])).out.trim().split("\n")).toHaveLength(3);
    expect((await call(["export", "kb/papers", "--format", "turtle", "--s", "https://e.org/bob"])).out).toBe(
      '<https://e.org/bob> <https://e.org/name> "Bob" .\n',
    );
    const written = await call(["export", "kb/papers", "--out", "out.nq", "--json"]);
    expect(JSON.parse(written.out)).toMatchObject({ file: join(base, "out.nq") });
    expect((await readFile(join(base, "out.nq"), "utf8")).trim().split("\n")).toHaveLength(3);
    expect(await refused("export", "kb/papers", "--json")).toBeInstanceOf(UsageError);
  });

  it("removes what matches; everything only when it is meant", async () => {
    expect((await refused("remove", "kb/other")).detail).toContain("--yes");
    expect((await failure(call(["remove", "kb/other"], { ask: async () => "no" }))).detail).toBe(
      "nothing was changed.",
    );
    expect((await call(["remove", "kb/other"], { ask: async () => "other" })).out).toBe("1 triple removed.\n");
    expect((await call(["remove", "kb/other", "--yes"])).out).toBe("0 triples removed.\n");
  });
});

describe("pinakes sparql", () => {
  it("shows rows as a table, in the formats of SPARQL, and as JSON", async () => {
    const query = "SELECT ?n ?a { ?s <https://e.org/name> ?n OPTIONAL { ?s <https://e.org/age> ?a } } ORDER BY ?n";
    expect((await ask(["kb/papers", query])).out).toBe(
      'n         a\n"Bob"\n"Ada"@en  "36"^^<http://www.w3.org/2001/XMLSchema#integer>\n',
    );
    expect((await ask(["kb/papers", query, "--format", "csv"])).out).toBe("n,a\r\nBob,\r\nAda,36\n");
    expect((await ask(["kb/papers", query, "--format", "xml"])).out).toContain("<results>");
    expect(JSON.parse((await ask(["kb/papers", query, "--json"])).out)).toMatchObject({ head: { vars: ["n", "a"] } });
    expect((await ask(["kb/papers", "--file", "question.rq", "--format", "tsv"])).out).toBe('?n\n"Bob"\n"Ada"@en\n');
    expect((await ask(["kb/papers", "ASK { ?s ?p 36 }"])).out).toBe("true\n");
    expect((await ask(["kb/papers", "ASK { ?s ?p 36 }", "--format", "json"])).out).toBe('{"head":{},"boolean":true}\n');
    expect((await ask(["kb/papers", "SELECT * { ?s ?p 37 }"])).out).toBe("Nothing was found.\n");
    expect(
      (await ask(["kb/papers", "CONSTRUCT WHERE { ?s <https://e.org/age> ?o }", "--format", "ntriples"])).out,
    ).toBe('<https://e.org/ada> <https://e.org/age> "36"^^<http://www.w3.org/2001/XMLSchema#integer> .\n');
  });

  it("updates when it is told to, and tells mistakes", async () => {
    expect((await ask(["kb/papers", "--update", "INSERT DATA { GRAPH <a:g> { <a:s> <a:p> 1 } }"])).out).toBe(
      "1 inserted, 0 removed.\n",
    );
    expect((await failure(ask(["kb/papers", "INSERT DATA { <a:s> <a:p> 2 }"]))).message).toContain(
      "this is an update; send it as `update`, not as `query` (on the command line with --update)",
    );
    expect((await failure(ask(["kb/papers", "--update", "ASK {}"]))).message).toContain("without --update");
    expect((await ask(["kb/papers", "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", "--union", "--format", "csv"])).out).toBe(
      "n\r\n4\n",
    );
    const wrong = (...args: string[]) => failure(ask(args));
    expect((await wrong("kb/papers", "INSERT DATA { <a:s> <a:p> 1 }")).code).toBe("INVALID");
    expect((await wrong("kb/papers", "SELECT * { ?s ?p ?o }", "--limit", "2")).code).toBe("LIMIT_EXCEEDED");
    for (const args of [
      ["kb/papers"],
      ["kb/papers", "ASK {}", "--file", "question.rq"],
      ["kb/papers", "ASK {}", "--format", "turtle"],
      ["kb/papers", "DESCRIBE <a:s>", "--format", "csv"],
      ["kb/papers", "ASK {}", "--timeout", "0"],
    ])
      expect(await wrong(...args), args.join(" ")).toBeInstanceOf(UsageError);
    expect((await wrong("kb/none", "ASK {}")).code).toBe("NOT_FOUND");
  });
});
