/**
 * One entry of the quarantine (RFC 0016): two objects below `quarantine/<incarnation>/<hash>/` of the tenant. `data` is what was removed,
 * `entry.json` describes it. The entry is written last, so a readable entry has all of its data. The hash is derived from what is removed,
 * so a repair repeated after a crash writes the same entry.
 */
import { hash } from "node:crypto";
import type { QuarantineEntry } from "@pinakes/client";
import { PinakesError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import { quarantineRoot as root } from "../../knowledge/deletion/stores/objects-store.ts";

const format = 1;

export interface StoredEntry extends QuarantineEntry {
  readonly format: 1;
  /** Size of the data; null if the data stays in place. */
  readonly sha256: string | null;
}

export function entryHash(...parts: readonly string[]): string {
  return hash("sha256", JSON.stringify(parts), "hex").slice(0, 32);
}

export function prefixOf(incarnation?: string): string {
  return incarnation === undefined ? root : `${root}${incarnation}/`;
}

export function keysOf(entryId: string): { readonly entry: string; readonly data: string } {
  const dot = entryId.lastIndexOf(".");
  const folder = `${root}${entryId.slice(0, dot)}/${entryId.slice(dot + 1)}/`;
  return { entry: `${folder}entry.json`, data: `${folder}data` };
}

/** The entry id of a key below the prefix, and which of its two objects it is. */
export function readKey(key: string): { readonly entryId: string; readonly part: "entry" | "data" } | undefined {
  const [, incarnation, name, part] = /^quarantine\/([\w-]{1,64})\/([0-9a-f]{32})\/(entry\.json|data)$/.exec(key) ?? [];
  return part === undefined
    ? undefined
    : { entryId: `${incarnation}.${name}`, part: part === "data" ? "data" : "entry" };
}

/** Ids of copies end with a hash, those of data kept in place with the name of its store. */
export function readId(
  entryId: string,
): { readonly incarnation: string; readonly store: string | undefined } | undefined {
  const [, incarnation, name] = /^([\w-]{1,64})\.([a-z0-9-]{1,32})$/.exec(entryId) ?? [];
  if (incarnation === undefined || name === undefined) return undefined;
  return { incarnation, store: /^[0-9a-f]{32}$/.test(name) ? undefined : name };
}

export function newEntry(entry: Omit<StoredEntry, "format">): StoredEntry {
  return { format, ...entry };
}

export async function writeEntry(objects: ObjectStore, scope: Scope, entry: StoredEntry): Promise<void> {
  await objects.put(scope, keysOf(entry.entry_id).entry, Buffer.from(`${JSON.stringify(entry)}\n`, "utf8"));
}

export async function readEntry(objects: ObjectStore, scope: Scope, entryId: string): Promise<StoredEntry | undefined> {
  const bytes = await objects.get(scope, keysOf(entryId).entry);
  if (bytes === undefined) return undefined;
  const entry = parsed(bytes, entryId);
  if (entry.format !== format)
    throw new PinakesError(
      "NOT_SUPPORTED",
      `Quarantine entry "${entryId}" is not of format ${String(format)}, which this version of Pinakes reads.`,
    );
  if (entry.entry_id !== entryId || typeof entry.expires_at !== "string")
    throw new PinakesError("CORRUPT", `Quarantine entry "${entryId}" is damaged: it names another entry.`);
  return entry;
}

export async function removeEntry(objects: ObjectStore, scope: Scope, entryId: string): Promise<void> {
  const { entry, data } = keysOf(entryId);
  // The entry first: data alone is an unfinished copy, which the sweep removes.
  await objects.delete(scope, [entry]);
  await objects.delete(scope, [data]);
}

/** The entry as callers see it. */
export function entryView({ format: _f, sha256: _s, ...entry }: StoredEntry): QuarantineEntry {
  return entry;
}

function parsed(bytes: Uint8Array, entryId: string): StoredEntry {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8")) as StoredEntry;
  } catch (error) {
    throw new PinakesError("CORRUPT", `Quarantine entry "${entryId}" is damaged: it is not JSON.`, { cause: error });
  }
}
