/** What one process revokes, another one that has just served it no longer shows, whatever it caches. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { Answer, Question } from "./support/asking-process.ts";
import { knowledgeEngines } from "./support/knowledge-engines.ts";
import { newPlace, uploaded, type TestPinakes } from "./support/test-pinakes.ts";

class Other implements AsyncDisposable {
  readonly #child: ChildProcess;

  constructor(test: TestPinakes) {
    this.#child = fork(fileURLToPath(new URL("./support/asking-process.ts", import.meta.url)), [
      JSON.stringify(test.stores),
    ]);
  }

  async ready(): Promise<void> {
    await once(this.#child, "message");
  }

  async ask(question: Question): Promise<Answer> {
    const answered = once(this.#child, "message");
    this.#child.send(question);
    return (await answered)[0] as Answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = once(this.#child, "exit");
    this.#child.disconnect();
    await gone;
  }
}

describe.each(knowledgeEngines())("two processes on %s", (_name, openOn) => {
  it("R-LISA-50 what one process revokes or deletes, the other denies at its next read, list and search", async () => {
    await using test = await openOn();
    await using other = new Other(test);
    await other.ready();
    const place = await newPlace(test);
    const { knowledge, repository, collection } = place;
    const { document_id } = await uploaded(place, "a.txt", "words about otters");
    const question = { userId: "ben", groups: ["g"], repository, collection, query: "otters" };
    const all = { read: "Papers", listed: ["a.txt"], found: ["words about otters"] };
    const nothing = { read: "NOT_FOUND", listed: "NOT_FOUND", found: "NOT_FOUND" };
    // Served several times, so that everything cacheable is cached.
    for (let i = 0; i < 3; i += 1) expect(await other.ask(question)).toEqual(all);
    await knowledge.repositories.update(test.admin, repository, { allowed_groups: ["others"] });
    expect(await other.ask(question)).toEqual(nothing);
    await knowledge.repositories.update(test.admin, repository, { allowed_groups: ["g"] });
    for (let i = 0; i < 2; i += 1) expect(await other.ask(question)).toEqual(all);
    await knowledge.collections.update(test.admin, repository, collection, { private: true });
    expect(await other.ask(question)).toEqual(nothing);
    await knowledge.collections.update(test.admin, repository, collection, { private: false });
    await knowledge.documents.delete(test.admin, repository, collection, document_id);
    expect(await other.ask(question)).toEqual({ read: "Papers", listed: [], found: [] });
    await knowledge.collections.delete(test.admin, repository, collection);
    expect(await other.ask(question)).toEqual(nothing);
    await knowledge.collections.restore(test.admin, repository, collection);
    expect(await other.ask(question)).toMatchObject({ read: "Papers" });
    await knowledge.collections.delete(test.admin, repository, collection, { purge: true, confirm: collection });
    expect(await other.ask(question)).toEqual(nothing);
  });
});
