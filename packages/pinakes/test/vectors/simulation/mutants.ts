/** Protocols that are almost right. Each lacks one of the conditions of RFC 0001, and the simulator must detect it. */
import type { Operation } from "../../../src/ports/item-store.ts";
import { itemIds } from "../../../src/vectors/store/records.ts";
import type { Mutant } from "./mutant.ts";
import type { ProfileName } from "./profiles.ts";

export interface PlannedMutant extends Mutant {
  /** The profile, and the number of schedules in which it must be found: more than ten times the average. */
  readonly profile: ProfileName;
  readonly schedules: number;
  /** The invariant that it breaks. */
  readonly expected: RegExp;
}

export const mutants = {
  headWithoutCondition: {
    name: "no compare-and-swap of the head",
    profile: "restores",
    schedules: 2_000,
    expected: /^I4/,
    batch: (operations) =>
      operations.map((operation): Operation => {
        if (operation.op === "replace" && idOf(operation) === itemIds.head)
          return { op: "replace", document: operation.document };
        // The version's entry in the history would reject a second one, too.
        if (operation.op === "create" && idOf(operation).startsWith("history."))
          return { op: "upsert", document: operation.document };
        return operation;
      }),
  },
  publishWithoutEpoch: {
    name: "no epoch in a publish",
    profile: "stalls",
    schedules: 2_000,
    expected: /^I9/,
    batch: (operations) => (isPublish(operations) ? without(operations, "check", itemIds.lease) : operations),
  },
  collectWithoutBarrier: {
    name: "no barrier before garbage is deleted",
    profile: "races",
    schedules: 2_000,
    expected: /^I5/,
    batch: (operations) => (isBarrier(operations) ? operations.filter(({ op }) => op === "check") : operations),
  },
  appendWithoutGeneration: {
    name: "no generation in an append",
    profile: "races",
    schedules: 2_000,
    expected: /^I[45]/,
    batch: (operations) =>
      isAppend(operations) ? withoutCondition(operations, itemIds.log, "generation") : operations,
  },
  retentionFromCreation: {
    name: "retention from the creation of a version",
    profile: "retention",
    schedules: 2_000,
    expected: /^R-CMP-28/,
    policy: { isRetained: ({ createdAt }, now, retentionMs) => now - createdAt < retentionMs },
  },
  tombstonesDropped: {
    name: "tombstones dropped at once",
    profile: "dead",
    schedules: 2_000,
    expected: /^I2/,
    policy: { keepsTombstone: () => false },
  },
  ownerlessHeartbeat: {
    name: "a heartbeat that takes the lease back",
    profile: "stalls",
    schedules: 2_000,
    expected: /^I9/,
    batch: (operations, owner) => {
      if (isHeartbeat(operations))
        return operations.map((operation): Operation =>
          operation.op === "patch"
            ? {
                op: "patch",
                id: operation.id,
                patch: [...operation.patch, { op: "set", path: "/owner", value: owner }],
              }
            : operation,
        );
      return isPublish(operations) ? withoutCondition(operations, itemIds.lease, "epoch") : operations;
    },
  },
  deletionWithoutFence: {
    name: "a deletion without a fence",
    profile: "deletion",
    schedules: 2_000,
    expected: /^I12/,
    batch: (operations) => {
      if (isPublish(operations)) return without(operations, "check", itemIds.fence);
      return operations.some((operation) => operation.op === "replace" && operation.document["status"] === "trashed")
        ? without(operations, "patch", itemIds.lease)
        : operations;
    },
  },
  appendWithoutFence: {
    name: "an append that does not check the fence",
    profile: "deletion",
    schedules: 2_000,
    expected: /^I12/,
    batch: (operations) => (isAppend(operations) ? without(operations, "check", itemIds.fence) : operations),
  },
  announcementOutlived: {
    name: "a registration that outlives its entry",
    profile: "quiet",
    schedules: 2_000,
    expected: /^R-CMP-11/,
    batch: (operations) => (isAppend(operations) ? withoutCondition(operations, itemIds.log, "rests") : operations),
  },
} satisfies Record<string, PlannedMutant>;

function idOf(operation: Operation): string {
  return "id" in operation ? operation.id : String(operation.document["id"]);
}

function isPublish(operations: readonly Operation[]): boolean {
  return operations.some((operation) => operation.op === "replace" && idOf(operation) === itemIds.head);
}

function isAppend(operations: readonly Operation[]): boolean {
  return operations.some((operation) => operation.op === "create" && idOf(operation).startsWith("delta."));
}

function isBarrier(operations: readonly Operation[]): boolean {
  return operations.some(
    (operation) => operation.op === "patch" && operation.patch.some(({ path }) => path === "/generation"),
  );
}

function isHeartbeat(operations: readonly Operation[]): boolean {
  return operations.some(
    (operation) => operation.op === "patch" && operation.patch.some(({ path }) => path === "/beat"),
  );
}

function without(operations: readonly Operation[], op: Operation["op"], id: string): readonly Operation[] {
  return operations.filter((operation) => operation.op !== op || idOf(operation) !== id);
}

function withoutCondition(operations: readonly Operation[], id: string, field: string): readonly Operation[] {
  return operations.map((operation): Operation => {
    if (idOf(operation) !== id || !("where" in operation) || operation.where === undefined) return operation;
    const { [field]: _, ...where } = operation.where as Record<string, never>;
    return { ...operation, where };
  });
}
