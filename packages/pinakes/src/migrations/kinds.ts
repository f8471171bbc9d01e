/** The kinds of sources: their spec, and how each is opened. */
import type { z } from "zod";
import { invalid, PinakesError, show } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import { issuePath, plainIssue } from "../containers/index.ts";
import type { Caller } from "../domain/caller.ts";
import { migrationLimits } from "./limits.ts";
import type { MigrationDependencies } from "./dependencies.ts";
import type { AllowedSources } from "./allowed-sources.ts";
import type { MigrationSource } from "./source.ts";
import {
  CollectionSource,
  CollectionSpec,
  moveOf,
  settleCollection,
  type SettledSpec,
} from "./collection/collection-source.ts";
import { LisaSource, LisaSpec } from "./other/lisa-source.ts";
import { UnregisteredSource, UnregisteredSpec } from "./other/unregistered-source.ts";
import { ChromaSpec, MilvusSpec, QdrantSpec, RowsSpec } from "./rows/spec.ts";
import { TriplesSpec } from "./triples/spec.ts";

interface Opening {
  readonly deps: MigrationDependencies;
  readonly sources: AllowedSources;
  /** Owner of the migration; an admin, unless it is only being requested. */
  readonly caller: Caller;
}

interface Kind<Spec> {
  readonly spec: z.ZodType<Spec>;
  /** For kinds that users may request: resolves the spec as it is stored. Absent: admins only, and the spec is stored unchanged. */
  readonly settle?: (spec: Spec, opening: Opening) => Promise<JsonObject>;
  /** Checks a settled spec before every step. */
  readonly authorize?: (spec: JsonObject, opening: Opening, options: { readonly purge: boolean }) => Promise<void>;
  readonly open: (spec: Spec, opening: Opening) => Promise<MigrationSource>;
}

const kinds: Readonly<Record<string, Kind<never>>> = {
  triples: defineKind({
    spec: TriplesSpec,
    open: async (spec, opening) => (await import("./triples/open-triples.ts")).openTriples(spec, opening),
  }),
  rows: defineKind({
    spec: RowsSpec,
    open: async (spec, opening) => (await import("./rows/open-rows.ts")).openRows(spec, opening),
  }),
  chroma: defineKind({
    spec: ChromaSpec,
    open: async (spec, opening) => (await import("./rows/open-rows.ts")).openChroma(spec, opening),
  }),
  qdrant: defineKind({
    spec: QdrantSpec,
    open: async (spec, opening) => (await import("./rows/open-rows.ts")).openVectorStore(spec, opening),
  }),
  milvus: defineKind({
    spec: MilvusSpec,
    open: async (spec, opening) => (await import("./rows/open-rows.ts")).openVectorStore(spec, opening),
  }),
  unregistered: defineKind({
    spec: UnregisteredSpec,
    open: async (spec, { deps, sources, caller }) =>
      new UnregisteredSource(
        spec,
        deps,
        caller.scope,
        spec.listing === undefined ? undefined : await sources.file(spec.listing),
      ),
  }),
  collection: defineKind({
    spec: CollectionSpec,
    settle: (spec, { deps, caller }) => settleCollection(spec, deps, caller),
    authorize: (spec, { deps, caller }, options) =>
      deps.intake.moves.authorize(caller, moveOf(spec as unknown as SettledSpec), options),
    open: async (spec, { deps, caller }) => new CollectionSource(spec as unknown as SettledSpec, deps, caller),
  }),
  lisa: defineKind({
    spec: LisaSpec,
    open: async (spec, { deps, sources, caller }) =>
      new LisaSource(spec, deps, caller, await sources.file(spec.folder)),
  }),
};

function defineKind<Spec>(kind: Kind<Spec>): Kind<never> {
  return kind as unknown as Kind<never>;
}

/** Validates a spec. */
export function readSpec(source: unknown): { readonly kind: string; readonly spec: JsonObject } {
  const kind = typeof source === "object" && source !== null && "kind" in source ? source.kind : undefined;
  const known = typeof kind === "string" && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
  if (known === undefined || typeof kind !== "string")
    throw invalid(`source.kind: must be one of ${Object.keys(kinds).join(", ")}; got ${show(kind)}.`);
  const parsed = known.spec.safeParse(source, { error: plainIssue });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(
      `source${issue === undefined ? "" : `${issue.path.length === 0 ? "" : `.${issuePath(issue.path)}`}: ${issue.message}`}.`,
    );
  }
  if (JSON.stringify(parsed.data).length > migrationLimits.sourceCharsMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `source: has more than ${migrationLimits.sourceCharsMax} characters; name fewer tables in one migration.`,
    );
  return { kind, spec: parsed.data };
}

/** Whether users without the admin role may request this kind. */
export function isForUsers(kind: unknown): boolean {
  return typeof kind === "string" && Object.hasOwn(kinds, kind) && kinds[kind]?.settle !== undefined;
}

export async function settleSpec(
  { kind, spec }: { readonly kind: string; readonly spec: JsonObject },
  opening: Opening,
): Promise<JsonObject> {
  return (await kinds[kind]?.settle?.(spec as never, opening)) ?? spec;
}

/** Throws if the caller may no longer do it. */
export async function authorizeStep(
  { kind, spec }: { readonly kind: string; readonly spec: JsonObject },
  opening: Opening,
  options: { readonly purge: boolean },
): Promise<void> {
  await kinds[kind]?.authorize?.(spec, opening, options);
}

export async function openSource(
  { kind, spec }: { readonly kind: string; readonly spec: JsonObject },
  opening: Opening,
): Promise<MigrationSource> {
  const known = kinds[kind];
  if (known === undefined) throw invalid(`source.kind: ${show(kind)} is not known to this version.`);
  return known.open(spec as never, opening);
}
