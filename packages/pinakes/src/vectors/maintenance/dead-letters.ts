/** Deltas that could not be read (RFC 0001, "Compact"): kept in the manifest until an operator decides. */
import { hasCode, PinakesError } from "../../domain/errors.ts";
import type { VectorWork } from "../log/vector-work.ts";
import { currentManifest } from "../compact/current-manifest.ts";
import { opCodes, type Op } from "../row.ts";
import { SegmentRows } from "../segment/segment-rows.ts";
import type { CollectionSite } from "../store/collection-site.ts";
import type { DeadDelta } from "../store/manifest.ts";
import { itemIds, type DeadRequest } from "../store/records.ts";
import { openFile } from "../segment/file-format.ts";

export async function listDead(site: CollectionSite): Promise<readonly DeadDelta[]> {
  return (await currentManifest(site)).manifest.dead;
}

export interface InspectedDelta extends DeadDelta {
  /** What can be read of it now, or why it cannot. */
  readonly content:
    | readonly { readonly id: string; readonly op: Op; readonly text?: string }[]
    | { readonly error: string };
}

export async function inspectDead(site: CollectionSite, seq: number): Promise<InspectedDelta> {
  const dead = await findDead(site, seq);
  try {
    const rows = new SegmentRows(openFile(await site.getObject(dead.key), dead), seq);
    const content = Array.from({ length: rows.rows }, (_, row) => {
      const text = rows.text(row);
      return { id: rows.id(row), op: opOf(rows.op[row]), ...(text === undefined ? {} : { text }) };
    });
    return { ...dead, content };
  } catch (error) {
    if (!PinakesError.isInstance(error)) throw error;
    return { ...dead, content: { error: error.detail } };
  }
}

/** The next compaction retries it once, with its old seq: newer writes win. */
export async function requestDead(
  site: CollectionSite,
  work: VectorWork,
  seq: number,
  action: DeadRequest["action"],
): Promise<void> {
  await findDead(site, seq);
  const request: DeadRequest = { seq, action, nonce: site.deps.uniqueName() };
  const { tenant, collection } = site;
  // Before, so that a request is never left where no sweep finds it; and after, because the entry may have been settled in between.
  await work.put({ kind: "compact", tenant, key: collection, due_at: 0 });
  try {
    await site.batch([
      { op: "check", id: itemIds.fence, where: { status: "active" } },
      { op: "upsert", document: site.document(itemIds.request(seq), request) },
    ]);
  } catch (error) {
    if (hasCode(error, "PRECONDITION_FAILED")) throw site.notFound();
    throw error;
  }
  await work.put({ kind: "compact", tenant, key: collection, due_at: 0 });
}

async function findDead(site: CollectionSite, seq: number): Promise<DeadDelta> {
  const dead = (await listDead(site)).find((delta) => delta.seq === seq);
  if (dead === undefined) throw new PinakesError("NOT_FOUND", `There is no dead delta ${seq} in this collection.`);
  return dead;
}

function opOf(code: number | undefined): Op {
  return (Object.keys(opCodes) as Op[]).find((op) => opCodes[op] === code) ?? "put";
}
