/** Files of the legacy layout of triples, their name in a migration, and their later state. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeCaller, type Caller } from "../../../src/domain/caller.ts";
import { legacyFile, type Process, type World } from "./world.ts";

let files = 0;

/** A new file in the world's folder. */
export function fileIn({ folder }: World, tables: Parameters<typeof legacyFile>[1], columns?: string): string {
  const path = join(folder, `legacy-${(files += 1)}.db`);
  legacyFile(path, tables, columns);
  return path;
}

/** Every table of a file with its rows, in order. */
export function tablesOf(path: string): Readonly<Record<string, readonly unknown[]>> {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const names = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all();
    const rowsOf = (name: string) => db.prepare(`SELECT s, p, o FROM "${name}" ORDER BY s, p, o`).all();
    return Object.fromEntries(
      names.map(({ name }) => [name as string, rowsOf(name as string).map(({ s, p, o }) => [s, p, o])]),
    );
  } finally {
    db.close();
  }
}

export const source = (sqlite: string, more: object = {}) => ({
  kind: "triples",
  sqlite,
  separator: "__",
  objects: "absolute",
  ...more,
});

export const makeUser = (userId: string): Caller => makeCaller({ tenant: "acme", userId });

/** The triples of a collection in a user's personal repository. */
export async function triplesOf({ knowledge }: Process, user: string, collection: string) {
  return (await knowledge.graph.matchTriples(makeUser(user), "me", collection, { limit: 10_000 })).items;
}

export async function* body(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}
