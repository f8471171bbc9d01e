/** Checking a collection (RFC 0001, "Fsck and repair"): everything that is referenced exists and is intact, and nothing else exists. */
import { hasCode } from "../../domain/errors.ts";
import { liveStats } from "../compact/live-stats.ts";
import { openFile } from "../segment/file-format.ts";
import { formatSum } from "../segment/row-sum.ts";
import { SegmentRows } from "../segment/segment-rows.ts";
import { decodeDeletions } from "../segment/deletions-file.ts";
import type { CollectionSite } from "../store/collection-site.ts";
import { decodeManifest, keysOf, type Manifest, type SegmentEntry } from "../store/manifest.ts";
import type { Delta, HistoryEntry } from "../store/records.ts";
import { fetchWhole } from "../store/segment-files.ts";
import { readMirror } from "../compact/publish.ts";
import { listObjects } from "./collect.ts";

export interface Finding {
  readonly severity: "error" | "warning";
  readonly kind: "missing" | "damaged" | "chain" | "sums" | "log" | "diverged" | "duplicate" | "orphan";
  readonly key?: string;
  readonly detail: string;
}

export interface FsckReport {
  /** No errors; warnings are possible. */
  readonly ok: boolean;
  readonly version: number;
  readonly versions: number;
  readonly objects: number;
  readonly bytes: number;
  readonly findings: readonly Finding[];
}

/** `deep` (default): every byte of the newest version's files is read and hashed, and every row summed. */
export async function fsck(site: CollectionSite, { deep = true }: { deep?: boolean } = {}): Promise<FsckReport> {
  const findings: Finding[] = [];
  const listed = await listObjects(site);
  const sizes = new Map(listed.map(({ key, bytes }) => [key, bytes]));
  const { head, log } = await site.state();
  const history: HistoryEntry[] = [];
  for await (const entry of site.histories()) history.push(entry);
  const deltas = await site.deltas(0, Number.MAX_SAFE_INTEGER);
  const newest = history.find(({ manifest }) => manifest.version === head.version);
  if (newest === undefined || newest.manifest.commitId !== head.commitId) {
    findings.push({
      severity: "error",
      kind: "chain",
      detail: `The head names version ${head.version}, which is not in the history.`,
    });
  }
  checkLog(findings, { appliedSeq: head.appliedSeq, nextSeq: log.nextSeq, deltas });
  checkChain(findings, history);
  const mirror = await readMirror(site);
  if (mirror !== undefined && mirror.version > head.version)
    findings.push({
      severity: "error",
      kind: "diverged",
      key: site.mirrorKey,
      detail: `The bucket has version ${mirror.version}, the items end at ${head.version}.`,
    });
  for (const { key, sha256, manifest } of history)
    await checkManifest(site, findings, { key, sha256, manifest, sizes });
  for (const delta of deltas.filter(({ seq }) => seq > head.appliedSeq)) await checkFile(site, findings, delta, deep);
  if (newest !== undefined) await checkNewest(site, findings, newest.manifest, deep);
  const kept = new Set([
    site.mirrorKey,
    ...history.flatMap(({ key, manifest }) => [key, ...keysOf(manifest)]),
    ...deltas.map(({ key }) => key),
  ]);
  for (const { key } of listed)
    if (!kept.has(key))
      findings.push({
        severity: "warning",
        kind: "orphan",
        key,
        detail: `Nothing refers to ${key}; the next garbage collection removes it.`,
      });
  const bytes = listed.reduce((sum, object) => sum + object.bytes, 0);
  return {
    ok: findings.every(({ severity }) => severity === "warning"),
    version: head.version,
    versions: history.length,
    objects: listed.length,
    bytes,
    findings,
  };
}

function checkLog(
  findings: Finding[],
  { appliedSeq, nextSeq, deltas }: { appliedSeq: number; nextSeq: number; deltas: readonly Delta[] },
): void {
  if (appliedSeq >= nextSeq)
    findings.push({
      severity: "error",
      kind: "log",
      detail: `Applied up to ${appliedSeq}, but the log ends before ${nextSeq}.`,
    });
  const there = new Set(deltas.map(({ seq }) => seq));
  for (let seq = appliedSeq + 1; seq < nextSeq; seq += 1) {
    if (!there.has(seq))
      findings.push({
        severity: "error",
        kind: "log",
        detail: `The delta ${seq} is pending, and its log entry is gone.`,
      });
  }
}

function checkChain(findings: Finding[], history: readonly HistoryEntry[]): void {
  for (const [i, { manifest }] of history.entries()) {
    const before = history[i - 1];
    if (before === undefined || manifest.parent === null) continue;
    if (manifest.parent.version !== before.manifest.version) continue; // The retention has removed the versions in between.
    if (manifest.parent.sha256 !== before.sha256)
      findings.push({
        severity: "error",
        kind: "chain",
        detail: `Version ${manifest.version} does not follow version ${before.manifest.version}, the previous one in the history.`,
      });
    if (manifest.appliedSeq < before.manifest.appliedSeq)
      findings.push({
        severity: "error",
        kind: "chain",
        detail: `Version ${manifest.version} covers less of the log than the previous one.`,
      });
  }
}

async function checkManifest(
  site: CollectionSite,
  findings: Finding[],
  {
    key,
    sha256,
    manifest,
    sizes,
  }: { key: string; sha256: string; manifest: Manifest; sizes: ReadonlyMap<string, number> },
): Promise<void> {
  await guarded(findings, key, async () => void decodeManifest(await site.getObject(key), key, sha256));
  for (const needed of keysOf(manifest)) {
    if (!sizes.has(needed))
      findings.push({
        severity: "error",
        kind: "missing",
        key: needed,
        detail: `Version ${manifest.version} needs ${needed}, which is missing.`,
      });
  }
  for (const { key: file, bytes } of manifest.segments) {
    const size = sizes.get(file);
    if (size !== undefined && size !== bytes)
      findings.push({
        severity: "error",
        kind: "damaged",
        key: file,
        detail: `${file} has ${size} bytes instead of ${bytes}.`,
      });
  }
  if (JSON.stringify(liveStats(manifest.segments)) !== JSON.stringify(manifest.stats))
    findings.push({
      severity: "error",
      kind: "sums",
      key,
      detail: `The figures of version ${manifest.version} differ from those of its segments.`,
    });
}

async function checkNewest(
  site: CollectionSite,
  findings: Finding[],
  manifest: Manifest,
  deep: boolean,
): Promise<void> {
  const owners = new Map<string, string>();
  for (const entry of manifest.segments) {
    await guarded(findings, entry.key, async () => {
      const rows = deep ? new SegmentRows(openFile(await fetchWhole(site, entry), entry)) : undefined;
      if (rows !== undefined) await checkSegment(site, findings, { entry, rows, owners });
    });
  }
}

async function checkSegment(
  site: CollectionSite,
  findings: Finding[],
  { entry, rows, owners }: { entry: SegmentEntry; rows: SegmentRows; owners: Map<string, string> },
): Promise<void> {
  const deleted =
    entry.deletions === undefined
      ? undefined
      : decodeDeletions(await site.getObject(entry.deletions.key), entry.deletions, rows.rows);
  if (formatSum(rows.sum()) !== entry.sum)
    findings.push({
      severity: "error",
      kind: "sums",
      key: entry.key,
      detail: `The rows of ${entry.key} do not match their sum.`,
    });
  for (let row = 0; row < rows.rows; row += 1) {
    if (deleted?.has(row) ?? false) continue;
    const id = rows.id(row);
    const other = owners.get(id);
    if (other !== undefined)
      findings.push({
        severity: "error",
        kind: "duplicate",
        key: entry.key,
        detail: `The id ${JSON.stringify(id)} is live in ${other}, too.`,
      });
    owners.set(id, entry.key);
  }
}

async function checkFile(site: CollectionSite, findings: Finding[], delta: Delta, deep: boolean): Promise<void> {
  await guarded(findings, delta.key, async () => {
    const file = await site.getObject(delta.key);
    if (deep) openFile(file, delta);
  });
}

async function guarded(findings: Finding[], key: string, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (!hasCode(error, "CORRUPT")) throw error;
    if (findings.some((finding) => finding.key === key)) return;
    findings.push({
      severity: "error",
      kind: error.detail.includes("missing") ? "missing" : "damaged",
      key,
      detail: error.detail,
    });
  }
}
