/** Formats migrations as text. */
import type { MigrationView, UnitView } from "../../migrations/index.ts";
import { count, fields, grid, inTime, oneLine } from "../terminal/layout.ts";
import { styled, type Terminal } from "../terminal/terminal.ts";

const hashChars = 12;

export function migrationRow({
  migration_id,
  kind,
  state,
  unit_count,
  row_count,
  problem_count,
  created_at,
}: MigrationView) {
  return {
    migration: migration_id,
    kind,
    state,
    collections: unit_count,
    rows: row_count,
    problems: problem_count,
    created: inTime(created_at),
  };
}

export function migrationText(terminal: Terminal, migration: MigrationView, units: readonly UnitView[]): string {
  const { retain_until, error, problems, problem_count } = migration;
  const { created, ...row } = migrationRow(migration);
  const head = fields(terminal, {
    ...row,
    created: `${created} by ${migration.created_by}`,
    ...(retain_until === null
      ? {}
      : { "old form": `${migration.kind === "collection" ? "in the trash" : "kept"} until ${inTime(retain_until)}` }),
  });
  const table = units.length === 0 ? [] : ["", grid(terminal, units.map(unitRow), { optional: ["hash"] })];
  const more =
    migration.unit_count > units.length && units.length > 0
      ? [`… and ${migration.unit_count - units.length} more.`]
      : [];
  const told =
    problem_count === 0
      ? []
      : [
          "",
          styled(terminal, "red", `${count(problem_count, "problem")}:`),
          ...problems.map(({ where, reason }) => `  ${oneLine(where)}: ${oneLine(reason)}`),
        ];
  const failed = error === null ? [] : ["", styled(terminal, "red", oneLine(error))];
  return [head, ...table, ...more, ...told, ...failed, "", next(migration), ...inTrash(units)].join("\n");
}

function unitRow({ name, target, status, count: rows, hash, held_count, held_hash }: UnitView) {
  return {
    from: name,
    to: `${target.user === undefined ? target.repository : `${target.user}'s own`}/${target.collection}`,
    status,
    rows,
    here: held_count ?? "",
    hash:
      held_hash === null
        ? hash.slice(0, hashChars)
        : held_hash === hash
          ? `${hash.slice(0, hashChars)} equal`
          : `${hash.slice(0, hashChars)} ≠ ${held_hash.slice(0, hashChars)}`,
  };
}

/** A copy removed by a rollback is still in the trash, where a purge of the old form would not find it. */
function inTrash(units: readonly UnitView[]): readonly string[] {
  return units.flatMap(({ trash_until, repository_id, incarnation, target }) =>
    trash_until === null || repository_id === null || incarnation === null
      ? []
      : [
          `The copy ${repository_id}/${target.collection} is in the trash until ${inTime(trash_until)}. To remove it earlier:`,
          `  pinakes collections purge ${repository_id}/${target.collection} --incarnation ${incarnation}`,
        ],
  );
}

/** The next step for the user. */
function next({ state, migration_id, problem_count, error }: MigrationView): string {
  switch (state) {
    case "planned":
      return problem_count > 0
        ? "Fix these in the source or the mapping, and plan again."
        : `Nothing was changed yet. Copy and compare: pinakes migrate run ${migration_id}`;
    case "copied":
      return `Compare again: pinakes migrate verify ${migration_id}`;
    case "ready":
      return `All equal. Open the collections for writes: pinakes migrate switch ${migration_id}`;
    case "switched":
      return `When the old form is no longer needed: pinakes migrate finish ${migration_id} --remove-old\nTo undo: pinakes migrate rollback ${migration_id}`;
    case "finished":
      return "Done.";
    case "rolled_back":
      return "Rolled back: the old form is in use.";
    default:
      return error === null ? "A process is working on it." : `Try again: pinakes migrate run ${migration_id}`;
  }
}
