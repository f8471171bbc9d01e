/** Migrations over HTTP: plan, copy, verify, switch. For admins, and for users who move a collection of their own. Each step runs in the background; the record has its state. */
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { pageOf, shape } from "../../contract/index.ts";
import type { Migrations, MigrationView } from "../../migrations/index.ts";
import { accepted, defineRoute, ok, type Route } from "../framework/index.ts";
import { id, paging } from "./schemas.ts";

const params = z.object({ mid: id.describe("Id of the migration.") });
const tag = "migrations";

const Problem = shape<wire.MigrationProblem>()(z.object({ where: z.string(), reason: z.string() }));
const Migration = shape<
  wire.Migration,
  | "source"
  | "progress"
  | "retain_days"
  | "remove_old"
  | "auto"
  | "force"
  | "created_by"
  | "created_at"
  | "updated_at"
  | "switched_at"
  | "finished_at"
>()(
  z
    .looseObject({
      migration_id: z.string(),
      kind: z.string(),
      state: z
        .string()
        .describe(
          "planning, planned, copying, copied, verifying, ready, switching, switched, finishing, finished, rolling_back or rolled_back.",
        ),
      working: z.boolean(),
      problems: z.array(Problem).describe("The first 20; `problem_count` counts all."),
      problem_count: z.number(),
      unit_count: z.number(),
      row_count: z.number(),
      error: z.string().nullable(),
      retain_until: z
        .string()
        .nullable()
        .describe("How long the old form is kept after the switch; null before it, and after a rollback."),
      trash_until: z
        .string()
        .nullable()
        .optional()
        .describe(
          "After a rollback, only when a single migration is read: when the last of its collections in the trash is purged; its units list the collections.",
        ),
    })
    .meta({ id: "Migration" }),
);
const Unit = shape<
  wire.MigrationUnit,
  "target" | "rows" | "problems" | "differences" | "created_at" | "description" | "made" | "old"
>()(
  z
    .looseObject({
      number: z.number(),
      name: z.string(),
      status: z.string(),
      count: z.number(),
      hash: z.string(),
      held_count: z.number().nullable(),
      held_hash: z.string().nullable(),
      copied: z.number().describe("Number of rows known to be copied."),
      repository_id: z.string().nullable(),
      incarnation: z
        .string()
        .nullable()
        .describe("The incarnation of the collection: the trash may hold several of one id."),
      trash_until: z
        .string()
        .nullable()
        .describe(
          "After a rollback: when the collection that it created is purged from the trash; null if it is not there.",
        ),
    })
    .meta({ id: "MigrationUnit" }),
);

const steps = [
  ["plan", "planMigration", "Plan again, after problems in the source were fixed"],
  ["copy", "copyMigration", "Register the collections, hold them, and copy missing rows"],
  ["validate", "validateMigration", "Compare counts and content hashes of both sides"],
  ["cutover", "cutOverMigration", "Compare once more, and open the collections for writes"],
] as const;

const begun = (migration: MigrationView) =>
  accepted(migration, { location: `/v1/migrations/${migration.migration_id}` });
const answers = { 202: { description: "The migration and its state.", schema: Migration } };

export function migrationRoutes(migrations: Migrations): readonly Route[] {
  return [...recordRoutes(migrations), ...stepRoutes(migrations)];
}

function recordRoutes(migrations: Migrations): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/migrations",
      operationId: "createMigration",
      summary: "Plan a migration: inventory, counts and hashes; nothing is changed",
      description:
        "Admins only; moving a collection to another id or repository (`kind` collection) is also open to users who may manage it and create collections there. Such a migration is visible to its creator, who can continue it.",
      tag,
      auth: "caller",
      idempotent: true,
      body: z.strictObject({
        source: z
          .record(z.string(), z.json())
          .describe(
            "`kind` is triples, rows, chroma, qdrant, milvus, unregistered, collection or lisa; the other fields are in docs/migrations.md.",
          ),
        retain_days: z
          .number()
          .int()
          .optional()
          .describe(
            "How long the old form is kept after the switch; default 30. Not for a collection, which is kept in the trash.",
          ),
        auto: z
          .boolean()
          .optional()
          .describe("Copy, compare and switch automatically, as long as there are no problems."),
      }),
      answers,
      handler: async ({ caller, body }) => begun(await migrations.create(caller, body)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/migrations",
      operationId: "listMigrations",
      summary: "List the migrations of the workspace, newest first",
      tag,
      auth: "caller",
      query: z.object(paging),
      answers: { 200: { description: "A page.", schema: pageOf(Migration) } },
      handler: async ({ caller, query }) => ok(await migrations.list(caller, query)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/migrations/{mid}",
      operationId: "getMigration",
      summary: "Get a migration: state, problems, progress",
      tag,
      auth: "caller",
      params,
      answers: { 200: { description: "The migration.", schema: Migration } },
      handler: async ({ caller, params: p }) => ok(await migrations.get(caller, p.mid)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/migrations/{mid}/units",
      operationId: "listMigrationUnits",
      summary: "List the units of a migration, one per future collection, with counts and hashes of both sides",
      tag,
      auth: "caller",
      params,
      query: z.object(paging),
      answers: { 200: { description: "A page.", schema: pageOf(Unit) } },
      handler: async ({ caller, params: p, query }) => ok(await migrations.units(caller, p.mid, query)),
    }),
  ];
}

function stepRoutes(migrations: Migrations): readonly Route[] {
  return [
    ...steps.map(([step, operationId, summary]) =>
      defineRoute({
        method: "POST",
        path: `/v1/migrations/{mid}:${step}`,
        operationId,
        summary,
        tag,
        auth: "caller",
        params,
        answers,
        handler: async ({ caller, params: p }) => begun(await migrations[step](caller, p.mid)),
      }),
    ),
    defineRoute({
      method: "POST",
      path: "/v1/migrations/{mid}:finish",
      operationId: "finishMigration",
      summary: "Finish a migration; the old form is removed only on request",
      tag,
      auth: "caller",
      params,
      body: z
        .strictObject({
          remove_old: z.boolean().optional(),
          now: z.boolean().optional().describe("Before `retain_until`."),
        })
        .optional(),
      answers,
      handler: async ({ caller, params: p, body }) => begun(await migrations.finish(caller, p.mid, body ?? {})),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/migrations/{mid}:rollback",
      operationId: "rollBackMigration",
      summary: "Roll back: restore the old form and remove the new one",
      tag,
      auth: "caller",
      params,
      body: z
        .strictObject({
          force: z
            .boolean()
            .optional()
            .describe("Also if the new form was written since; those writes go to the trash."),
        })
        .optional(),
      answers,
      handler: async ({ caller, params: p, body }) => begun(await migrations.rollback(caller, p.mid, body ?? {})),
    }),
  ];
}
