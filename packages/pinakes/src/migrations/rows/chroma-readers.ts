/** The collections of a Chroma database: from its folder, or from its server through the HTTP API, version 2. */
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import { isJsonObject } from "../../domain/json.ts";
import { fetchFrom, type OutgoingAnswer } from "../../outgoing/fetch-from.ts";
import { chromaCollections, chromaRows } from "../../vectors/index.ts";
import type { FoundUnit, UnitName } from "../source.ts";
import type { ForeignRow, RowReader } from "./row-reader.ts";
import type { ChromaSpec } from "./spec.ts";

const pageRows = 500;
const pageCollections = 100;
const answerMsMax = 60_000;
/** A page of rows is 500 vectors with their texts. */
const answerBytesMax = 256 * 1024 ** 2;

/** The units among the existing names; a missing one is reported. */
function* unitsOf(
  spec: ChromaSpec,
  found: readonly { readonly name: string; readonly keep: string }[],
): Generator<FoundUnit> {
  const { collections, repository, user } = spec;
  const target = (collection: string) => ({ ...(repository === undefined ? { user } : { repository }), collection });
  for (const { name, keep } of found) {
    if (collections !== undefined && !Object.hasOwn(collections, name)) continue;
    yield { name, target: target(collections?.[name] ?? name), keep };
  }
  for (const [name, id] of Object.entries(collections ?? {})) {
    if (found.some((one) => one.name === name)) continue;
    const names = found.map((one) => one.name).join(", ") || "none";
    yield {
      name,
      target: target(id),
      problems: [{ where: name, reason: `there is no such collection; existing are: ${names}.` }],
    };
  }
}

export class ChromaFolderReader implements RowReader {
  readonly #folder: string;
  readonly #spec: ChromaSpec;

  constructor(folder: string, spec: ChromaSpec) {
    this.#folder = folder;
    this.#spec = spec;
  }

  async *units(): AsyncGenerator<FoundUnit> {
    const names = await chromaCollections(this.#folder);
    yield* unitsOf(
      this.#spec,
      names.map((name) => ({ name, keep: name })),
    );
  }

  async *rows({ name }: UnitName, signal: AbortSignal): AsyncGenerator<ForeignRow> {
    for await (const { row, where } of chromaRows(this.#folder, name, signal)) yield { where, ...row };
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

export class ChromaServerReader implements RowReader {
  readonly #root: string;
  readonly #spec: ChromaSpec;

  constructor(server: string, spec: ChromaSpec) {
    const { tenant = "default_tenant", database = "default_database" } = spec;
    for (const [called, part] of Object.entries({ tenant, database })) {
      if (part === "." || part === "..") throw invalid(`${called}: ${show(part)} would be another path of the server.`);
    }
    this.#root = `${server}/api/v2/tenants/${encodeURIComponent(tenant)}/databases/${encodeURIComponent(database)}/collections`;
    this.#spec = spec;
  }

  async *units(signal: AbortSignal): AsyncGenerator<FoundUnit> {
    const found: { name: string; keep: string }[] = [];
    for (let offset = 0; ; offset += pageCollections) {
      const page = (await this.#ask(`${this.#root}?limit=${pageCollections}&offset=${offset}`, signal)) as {
        id: string;
        name: string;
      }[];
      if (!Array.isArray(page)) throw this.#odd("the list of collections is not a list");
      found.push(...page.map(({ id, name }) => ({ name, keep: id })));
      if (page.length < pageCollections) break;
    }
    yield* unitsOf(this.#spec, found);
  }

  async *rows({ name, keep }: UnitName, signal: AbortSignal): AsyncGenerator<ForeignRow> {
    for (let offset = 0; ; offset += pageRows) {
      const body = { limit: pageRows, offset, include: ["documents", "metadatas", "embeddings"] };
      const page = await this.#ask(`${this.#root}/${encodeURIComponent(keep as string)}/get`, signal, body);
      const { ids, embeddings, documents, metadatas } = (isJsonObject(page) ? page : {}) as Readonly<
        Record<string, readonly unknown[] | null>
      >;
      if (!Array.isArray(ids)) throw this.#odd("a page of rows has no ids");
      for (const [i, id] of ids.entries()) {
        const text = documents?.[i] ?? undefined;
        yield {
          where: `${name} row ${offset + i + 1}`,
          id,
          vector: embeddings?.[i],
          ...(text === undefined ? {} : { text }),
          metadata: metadatas?.[i],
        };
      }
      if (ids.length < pageRows) return;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #ask(url: string, signal: AbortSignal, body?: object): Promise<unknown> {
    const sent =
      body === undefined
        ? {}
        : { method: "POST" as const, body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    let answer: OutgoingAnswer;
    try {
      answer = await fetchFrom(url, {
        ...sent,
        signal: AbortSignal.any([signal, AbortSignal.timeout(answerMsMax)]),
        answerBytesMax,
      });
    } catch (error) {
      if (PinakesError.isInstance(error)) throw error;
      throw new PinakesError("UNAVAILABLE", `${this.#root}: unreachable: ${(error as Error).message}.`, {
        cause: error,
      });
    }
    const { status, text } = answer;
    if (status >= 300 && status < 400)
      throw new PinakesError(
        "INVALID",
        `${this.#root}: responded with ${status}, a redirect, which is not followed; use its target.`,
      );
    if (status === 200) return this.#parsed(text);
    throw new PinakesError(
      status >= 500 ? "UNAVAILABLE" : "INVALID",
      `${this.#root}: responded with ${status} ${text.slice(0, 200)}`,
    );
  }

  #parsed(text: string): unknown {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      throw this.#odd("an answer is not JSON");
    }
  }

  #odd(what: string): PinakesError {
    return new PinakesError("INVALID", `${this.#root}: does not answer like Chroma's API version 2: ${what}.`);
  }
}
