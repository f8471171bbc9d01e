/** A quarantine entry as a repair leaves it. */
import type { Scope } from "../../../src/domain/scope.ts";
import { keysOf, newEntry, writeEntry } from "../../../src/audit/quarantine/entry.ts";
import type { Incarnation } from "../../../src/lifecycle/index.ts";
import type { ObjectStore } from "../../../src/ports/object-store.ts";

export async function plantEntry(
  objects: ObjectStore,
  scope: Scope,
  { repository_id, collection_id, incarnation }: Incarnation,
  text: string,
): Promise<string> {
  const entry_id = `${incarnation}.${"a".repeat(32)}`;
  const target = `knowledge/${incarnation}/${text}`;
  await objects.put(scope, keysOf(entry_id).data, Buffer.from(text));
  const place = { repository_id, collection_id, incarnation, document_id: null };
  const about = {
    kind: "object",
    store: "objects",
    target,
    detail: text,
    count: 1,
    bytes: text.length,
    sha256: "",
    job_id: null,
  } as const;
  const times = {
    quarantined_at: "2030-01-01T00:00:00.000Z",
    expires_at: "2090-01-01T00:00:00.000Z",
    restored_at: null,
  };
  await writeEntry(objects, scope, newEntry({ entry_id, ...place, ...about, ...times }));
  return entry_id;
}
