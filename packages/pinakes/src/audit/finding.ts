/** What an audit finds, and how it is told: all of it counted, the first listed in the job, many more in a file beside it. */
import type { JsonObject } from "../domain/json.ts";
import type { Life } from "../lifecycle/index.ts";
import { auditLimits } from "./limits.ts";

export const findingKinds = [
  /** A record names content or text that is not there. */
  "record_without_object",
  /** What a repair marked as missing is there again. */
  "bytes_returned",
  /** A file of a collection that no record names. */
  "object_without_record",
  /** Passages of a document or a run that is not there, or of an earlier generation. */
  "vectors_without_document",
  /** Fewer passages than the record says. */
  "document_without_vectors",
  /** Triples whose source is a document or a run that is not there. */
  "triples_without_support_source",
  /** Counters that are not what counting gives. */
  "counter_off",
  /** Vectors whose versions, log or files do not fit together. */
  "manifest_broken",
  /** Data of a collection that no record names. */
  "unknown_incarnation",
  /** An operation on all stores that does not get on. */
  "stuck_operation",
  /** Something that had to go, and did not. */
  "removal_left",
] as const;
export type FindingKind = (typeof findingKinds)[number];

export interface Finding {
  readonly kind: FindingKind;
  /** Where it is: objects, documents, vectors, triples, collections, or the name of another store. */
  readonly store: string;
  readonly repository_id?: string;
  readonly collection_id?: string;
  readonly incarnation?: string;
  readonly document_id?: string;
  readonly key?: string;
  readonly detail: string;
  readonly repaired: boolean;
}

/** What a repair did not touch, because most of a collection or a store seems to be missing or unknown. */
export interface Refusal extends Partial<Life> {
  readonly store?: string;
  readonly kinds: readonly FindingKind[];
  readonly detail: string;
}

type Checked = Record<
  "repositories" | "collections" | "documents" | "objects" | "passages" | "triples" | "operations" | "lives",
  number
>;

export interface AuditReport {
  readonly began_at: string;
  readonly finished_at: string;
  readonly repair: boolean;
  readonly deep: boolean;
  readonly checked: Checked;
  readonly summary: Readonly<Partial<Record<FindingKind, { readonly found: number; readonly repaired: number }>>>;
  readonly refused: readonly Refusal[];
  readonly found: number;
  /** Found, and still there. */
  readonly left: number;
  /** What was moved into the quarantine by this repair. */
  readonly quarantined: number;
  /** May be of work that is still under way: looked at again when some time has passed. */
  readonly waiting: number;
  readonly findings: readonly Finding[];
  /** There are more findings than these: GET /v1/fsck/{job}/findings has them. */
  readonly truncated: boolean;
}

export class Findings {
  readonly checked: Checked = {
    repositories: 0,
    collections: 0,
    documents: 0,
    objects: 0,
    passages: 0,
    triples: 0,
    operations: 0,
    lives: 0,
  };
  readonly #kept: Finding[] = [];
  readonly #summary: Partial<Record<FindingKind, { found: number; repaired: number }>> = {};
  readonly #refused: Refusal[] = [];
  #waiting = 0;
  #quarantined = 0;

  add(finding: Finding): void {
    const sum = (this.#summary[finding.kind] ??= { found: 0, repaired: 0 });
    sum.found += 1;
    if (finding.repaired) sum.repaired += 1;
    if (this.#kept.length < auditLimits.findingsKeptMax) this.#kept.push({ ...finding, detail: cut(finding.detail) });
  }

  refuse(refusal: Refusal): void {
    if (this.#refused.length < auditLimits.refusalsKeptMax) this.#refused.push(refusal);
  }

  wait(): void {
    this.#waiting += 1;
  }

  quarantine(): void {
    this.#quarantined += 1;
  }

  get kept(): readonly Finding[] {
    return this.#kept;
  }

  /** By kind, for figures. */
  get counts(): Readonly<Partial<Record<FindingKind, number>>> {
    return Object.fromEntries(Object.entries(this.#summary).map(([kind, { found }]) => [kind, found]));
  }

  report(about: Pick<AuditReport, "began_at" | "finished_at" | "repair" | "deep">): AuditReport & JsonObject {
    const sums = Object.values(this.#summary);
    const found = sums.reduce((sum, one) => sum + one.found, 0);
    const findings = this.#kept.slice(0, auditLimits.findingsInJobMax);
    const report: AuditReport = {
      ...about,
      checked: { ...this.checked },
      summary: { ...this.#summary },
      refused: [...this.#refused],
      found,
      left: found - sums.reduce((sum, one) => sum + one.repaired, 0),
      quarantined: this.#quarantined,
      waiting: this.#waiting,
      findings,
      truncated: found > findings.length,
    };
    return report as AuditReport & JsonObject;
  }
}

/** Where something was found, without what else a record has. */
export function placeOf({ repository_id, collection_id, incarnation }: Life): Life {
  return { repository_id, collection_id, incarnation };
}

function cut(text: string): string {
  return text.length <= auditLimits.detailCharsMax ? text : `${text.slice(0, auditLimits.detailCharsMax - 1)}…`;
}
