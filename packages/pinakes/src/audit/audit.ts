/**
 * Audits a workspace across all its stores (RFC 0007, "Reconciliation"): what records name exists, what exists is named, counters match,
 * and what should have ended has ended. Correct during concurrent writes: a suspected finding is checked again, records last, and what may
 * belong to work in progress is left for later. With `repair` findings are fixed; every repair is idempotent and can be interrupted
 * anywhere.
 */
import { requireCaller, type Caller } from "../domain/caller.ts";
import { PinakesError, invalid } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Scope } from "../domain/scope.ts";
import { notFound } from "../knowledge/access/access.ts";
import type { JobRecord, JobTools } from "../knowledge/jobs/jobs.ts";
import type { RepositoryRecord } from "../knowledge/records/records.ts";
import { isLive } from "../knowledge/records/catalog-records.ts";
import { checkAskedId, checkAskedKey } from "../knowledge/records/names.ts";
import { isoTime } from "../knowledge/records/times.ts";
import { jobView, type JobView } from "../knowledge/views.ts";
import { auditCollection, auditRepository } from "./audit-incarnation.ts";
import { beginAudit, type AuditDependencies } from "./audit-run.ts";
import { checkFiles } from "./check-files.ts";
import { auditIncarnations } from "./check-incarnations.ts";
import { Findings, type Finding } from "./finding.ts";
import { auditLimits } from "./limits.ts";
import { allCollections, allRepositories } from "./walk.ts";

export interface FsckInput {
  readonly repository?: string | undefined;
  /** With `repository`. */
  readonly collection?: string | undefined;
  readonly repair?: boolean | undefined;
  readonly deep?: boolean | undefined;
  /** Repair even if most of a collection seems to be missing or unknown, which is refused by default. */
  readonly force_missing?: boolean | undefined;
}

const filesPrefix = "audits/";

export class Audit {
  readonly #services: AuditDependencies;

  constructor(services: AuditDependencies) {
    this.#services = services;
    services.jobs.register("fsck", (scope, job, tools) => this.#run(scope, job, tools));
  }

  /** Admins only. Runs as a job whose result is the report. */
  async fsck(
    caller: Caller,
    { repository, collection, repair = false, deep = false, force_missing = false }: FsckInput = {},
  ): Promise<JobView> {
    const scope = admin(caller);
    if (collection !== undefined && repository === undefined)
      throw invalid("collection: needs the repository that contains it.");
    if (repository !== undefined) await this.#target(scope, repository, collection);
    const input = {
      repair,
      deep,
      force_missing,
      ...(repository === undefined ? {} : { repository }),
      ...(collection === undefined ? {} : { collection }),
    };
    // Not a valid repository id: only admins can see the job.
    const job = await this.#services.jobs.start(scope, {
      kind: "fsck",
      repository_id: "*",
      collection_id: "",
      created_by: caller.userId,
      input,
    });
    return jobView(job);
  }

  /** Admins only. All listed findings; the job's own result contains only the first. */
  async findings(caller: Caller, jobId: string): Promise<readonly Finding[]> {
    const scope = admin(caller);
    const { jobs, deps } = this.#services;
    const job = await jobs.read(scope, jobId);
    if (job?.kind !== "fsck") throw notFound(`audit "${jobId}"`);
    if (job.result?.["truncated"] !== true) return (job.result?.["findings"] ?? []) as readonly Finding[];
    const bytes = await deps.objects.get(scope, fileKey(jobId));
    if (bytes === undefined)
      throw new PinakesError("GONE", `The findings of audit "${jobId}" have expired; run it again.`);
    const lines = Buffer.from(bytes).toString("utf8").split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Finding);
  }

  async #run(scope: Scope, { job_id, input }: JobRecord, { signal, tell }: JobTools): Promise<JsonObject> {
    const { clock } = this.#services.deps;
    const { repair = false, deep = false, force_missing: forced = false, repository, collection } = input as FsckInput;
    const findings = new Findings();
    const began_at = isoTime(clock.now());
    const run = beginAudit(this.#services, scope, { repair, forced, deep, findings, jobId: job_id, signal });
    let done = 0;
    for await (const record of this.#repositories(scope, repository)) {
      if (collection === undefined) await auditRepository(run, record);
      for await (const one of allCollections(this.#services.deps.items, scope, record.repository_id)) {
        if (collection !== undefined && one.collection_id !== collection) continue;
        done += 1;
        // The total is known at the end.
        await tell({ done, total: done });
        await auditCollection(run, one);
      }
    }
    if (repository === undefined) {
      await auditIncarnations(run);
      await checkFiles(run);
    }
    await this.#keep(scope, job_id, findings);
    return findings.report({ began_at, finished_at: isoTime(clock.now()), repair, deep });
  }

  async *#repositories(scope: Scope, wanted: string | undefined): AsyncGenerator<RepositoryRecord> {
    const { deps, catalog } = this.#services;
    if (wanted === undefined) yield* allRepositories(deps.items, scope);
    else {
      const found = await catalog.repository(scope, wanted);
      if (found !== undefined) yield found.record;
    }
  }

  /** If the job has no room for all findings. Files of old audits are deleted. */
  async #keep(scope: Scope, jobId: string, { kept }: Findings): Promise<void> {
    const { objects, clock } = this.#services.deps;
    if (kept.length > auditLimits.findingsInJobMax)
      await objects.put(
        scope,
        fileKey(jobId),
        Buffer.from(kept.map((finding) => `${JSON.stringify(finding)}\n`).join(""), "utf8"),
      );
    const { keys } = await objects.list(scope, filesPrefix, { limit: auditLimits.pageKeysMax });
    const old = keys
      .filter(({ modifiedAt }) => clock.now() - modifiedAt > auditLimits.reportMsMax)
      .map(({ key }) => key);
    if (old.length > 0) await objects.delete(scope, old);
  }

  async #target(scope: Scope, repository: string, collection: string | undefined): Promise<void> {
    const { catalog } = this.#services;
    checkAskedKey(repository, "repository");
    if (collection !== undefined) checkAskedId(collection, "collection");
    if ((await catalog.repository(scope, repository)) === undefined) throw notFound(`repository "${repository}"`);
    const found = collection === undefined ? undefined : await catalog.collection(scope, repository, collection);
    if (collection !== undefined && (found === undefined || !isLive(found.record)))
      throw notFound(`collection "${collection}" in repository "${repository}"`);
  }
}

function fileKey(jobId: string): string {
  return `${filesPrefix}${jobId}.ndjson`;
}

function admin(caller: Caller): Scope {
  const scope = requireCaller(caller);
  if (caller.role !== "admin") throw new PinakesError("FORBIDDEN", "Only admins can run audits.");
  return scope;
}
