/** Runs an audit in a world with a stopped clock, to its end. */
import { expect } from "vitest";
import type { AuditReport, FsckInput } from "../../../src/knowledge/index.ts";
import type { Process, World } from "../../lifecycle/support/world.ts";

export async function fsck(world: World, { knowledge }: Process, input: FsckInput = {}): Promise<AuditReport> {
  const { job_id } = await knowledge.audit.fsck(world.admin, input);
  await expect.poll(async () => (await knowledge.jobs.get(world.admin, job_id)).status).not.toMatch(/queued|running/);
  const { result, error } = await knowledge.jobs.get(world.admin, job_id);
  expect(error).toBeNull();
  return result as unknown as AuditReport;
}

export function kinds({ findings }: AuditReport): readonly string[] {
  return findings.map(({ kind, repaired }) => (repaired ? `${kind} repaired` : kind)).toSorted();
}
