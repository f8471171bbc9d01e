/** Exports in memory, and the golden items. */
import { readFileSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import type { Caller } from "../domain/caller.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Knowledge } from "../knowledge/api/knowledge.ts";
import type { ExportOptions } from "./export.ts";
import type { TransferReader } from "./files.ts";

export function fixture(name: string): string {
  return readFileSync(new URL(`../../test/fixtures/transfer/${name}`, import.meta.url), "utf8");
}

export function golden(name: string): JsonObject {
  return JSON.parse(fixture(name)) as JsonObject;
}

export type Files = Readonly<Record<string, string | Uint8Array>>;

export function filesReader(files: Files): TransferReader {
  return {
    async *paths() {
      yield* Object.keys(files);
    },
    async *open(path) {
      yield Buffer.from(files[path] as string);
    },
  };
}

/** One item per line. */
export function lines(...items: readonly JsonObject[]): string {
  return items.map((item) => `${JSON.stringify(item)}\n`).join("");
}

export async function exported(
  knowledge: Knowledge,
  caller: Caller,
  options?: ExportOptions,
): Promise<Record<string, Buffer>> {
  const files: Record<string, Buffer> = {};
  for await (const { path, body } of knowledge.transfer.export(caller, options)) files[path] = await buffer(body);
  return files;
}

/** The tables of an export, as text. */
export async function tables(
  knowledge: Knowledge,
  caller: Caller,
  options?: ExportOptions,
): Promise<Record<string, string>> {
  const files = await exported(knowledge, caller, { objects: false, ...options });
  return Object.fromEntries(
    Object.entries(files)
      .filter(([path]) => path.startsWith("tables/"))
      .map(([path, bytes]) => [path.replace(/^tables\//, ""), bytes.toString("utf8")]),
  );
}

export function itemsOf(table: string): readonly JsonObject[] {
  return table
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as JsonObject);
}
