/** Findings of an audit and their report: all findings are counted, the first ones are listed in the job, many more in a file. */
import type { AuditReport, Finding, FindingKind, RepairRefusal } from "@pinakes/client";
import type { JsonObject } from "../domain/json.ts";
import type { Incarnation } from "../lifecycle/index.ts";
import { auditLimits } from "./limits.ts";

export type { AuditReport, Finding, FindingKind };
export type Refusal = RepairRefusal;

export class Findings {
  readonly checked: Record<keyof AuditReport["checked"], number> = {
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

  /** By kind, for metrics. */
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

/** The ids of a record's incarnation, without its other fields. */
export function placeOf({ repository_id, collection_id, incarnation }: Incarnation): Incarnation {
  return { repository_id, collection_id, incarnation };
}

function cut(text: string): string {
  return text.length <= auditLimits.detailCharsMax ? text : `${text.slice(0, auditLimits.detailCharsMax - 1)}…`;
}
