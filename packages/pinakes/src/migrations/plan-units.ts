/** The inventory: reads every unit completely, and checks its target. Writes only the plan (R-TG-91). */
import { hasCode, PinakesError, show } from "../domain/errors.ts";
import { isSame, type Measured } from "./content-hash.ts";
import { migrationLimits } from "./limits.ts";
import { progressOf, telling } from "./progress.ts";
import { unitId, type MigrationRecord, type State, type UnitRecord } from "./records.ts";
import type { FoundUnit, Problem } from "./source.ts";
import { nowhere, type Work } from "./worker.ts";

type Planned = Partial<MigrationRecord> & { readonly state: State };

export async function planUnits(of: Work): Promise<Planned> {
  const { deps, ledger, scope, record, source, signal } = of;
  await ledger.removeUnits(scope, record.migration_id, deps.owner);
  const problems: Problem[] = [];
  let problemCount = 0;
  let rows = 0;
  let number = 0;
  const targets = new Map<string, string>();
  for await (const found of source.units(signal)) {
    number += 1;
    if (number > migrationLimits.unitsMax)
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `The source has more than ${migrationLimits.unitsMax} units; migrate it in parts.`,
      );
    const { unit, listed, count } = await planUnit(of, found, number, targets);
    await ledger.putUnit(scope, unit, deps.owner);
    problemCount += count;
    rows += unit.rows;
    problems.push(...listed.slice(0, migrationLimits.problemsMax - problems.length));
  }
  return { state: "planned", unit_count: number, row_count: rows, problems, problem_count: problemCount };
}

async function planUnit(
  of: Work,
  found: FoundUnit,
  number: number,
  targets: Map<string, string>,
): Promise<{ readonly unit: UnitRecord; readonly listed: readonly Problem[]; readonly count: number }> {
  const { source, signal, record } = of;
  const listed: Problem[] = [];
  let count = 0;
  const problem = (one: Problem) => {
    count += 1;
    if (listed.length < migrationLimits.problemsMax) listed.push(one);
  };
  for (const one of found.problems ?? []) problem(one);
  const named = { name: found.name, number, count: 0 };
  // A unit that is invalid as a whole has no readable rows.
  const unreadable = count > 0;
  const inventory = unreadable
    ? { rows: 0, count: 0, hash: "" }
    : await source.measure(found, { signal, problem, progress: telling(of, named) });
  await of.tell(progressOf(named, inventory.count));
  const unit = plannedUnit(record.migration_id, found, number, inventory);
  const ready = unreadable ? unit : await lookAtTarget(of, unit, inventory, targets, problem);
  return { unit: { ...ready, problems: listed }, listed, count };
}

/** Absent or empty: it will be filled. The same content: it is left alone. Anything else is a problem. */
async function lookAtTarget(
  of: Work,
  unit: UnitRecord,
  inventory: Measured,
  targets: Map<string, string>,
  problem: (one: Problem) => void,
): Promise<UnitRecord> {
  const { deps, scope, source, signal, record } = of;
  const wrong = (reason: string) => problem({ where: unit.name, reason });
  const { collection, repository, user } = unit.target;
  const where =
    user === undefined
      ? `collection ${show(collection)} of repository ${show(repository)}`
      : `collection ${show(collection)} of user ${show(user)}`;
  if (unit.whole) {
    const here = await source.measureHeld(unit, { scope, destination: nowhere, signal, progress: telling(of, unit) });
    return isSame(here, inventory) ? { ...unit, status: "already" } : unit;
  }
  try {
    const ids = deps.intake.idsOf(unit.target);
    const key = `${ids.repository_id}/${ids.collection_id}`;
    const other = targets.get(key);
    targets.set(key, unit.name);
    if (other !== undefined) wrong(`goes to the ${where}, like ${show(other)}; choose another target.`);
    if (!(await deps.intake.hasRepository(scope, unit.target)))
      wrong(`goes to repository ${show(repository)}, which does not exist; create it first.`);
    const there = await deps.intake.find(scope, ids);
    if (there === undefined) return unit;
    const found = { repository_id: there.repository_id, incarnation: there.incarnation };
    if (unit.adopted !== null && there.incarnation === unit.adopted) return { ...unit, ...found, status: "already" };
    if (unit.adopted !== null) {
      wrong(`would be registered as ${where}, which exists; choose another name.`);
      return unit;
    }
    if (there.held_by !== undefined && there.held_by !== record.migration_id)
      wrong(
        `goes to ${where}, which migration ${show(there.held_by)} fills; finish or roll back that migration first.`,
      );
    const here = await source.measureHeld(unit, { scope, destination: there, signal, progress: telling(of, unit) });
    if (isSame(here, inventory)) return { ...unit, ...found, status: "already" };
    if (here.count > 0)
      wrong(`goes to ${where}, which contains ${here.count} other rows; choose another target, or empty it first.`);
    return unit;
  } catch (error) {
    if (!hasCode(error, "INVALID")) throw error;
    wrong(error.detail);
    return unit;
  }
}

function plannedUnit(
  migration_id: string,
  found: FoundUnit,
  number: number,
  { rows, count, hash }: Measured & { readonly rows: number },
): UnitRecord {
  const { repository, user, collection } = found.target;
  return {
    id: unitId(number),
    migration_id,
    number,
    name: found.name,
    target: {
      ...(repository === undefined ? {} : { repository }),
      ...(user === undefined ? {} : { user }),
      collection,
    },
    status: "planned",
    rows,
    count,
    hash,
    held_count: null,
    held_hash: null,
    problems: [],
    differences: null,
    created_at: found.created_at ?? null,
    description: found.description ?? null,
    adopted: found.incarnation ?? null,
    whole: found.whole ?? false,
    repository_id: null,
    incarnation: null,
    made: false,
    copied: 0,
    checkpoint: null,
    old: "kept",
    keep: (found.keep ?? null) as UnitRecord["keep"],
  };
}
