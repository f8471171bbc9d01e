/** The actions of one commit, and sending them: as a single conditional write, or as one transaction. */
import { randomUUID } from "node:crypto";
import type { TransactWriteItem } from "@aws-sdk/client-dynamodb";
import { PinakesError } from "../../domain/errors.ts";
import { toKey, type Attributes, type Dynamo, type TableKey } from "./client.ts";
import { classify, wrapError } from "./errors.ts";
import { itemBytes } from "./rows.ts";
import { serviceLimits } from "./service-limits.ts";
import { backoffMs, sleep } from "./waiting.ts";

/** An attribute must have this value; `undefined`: there must be no item. */
export interface Condition {
  readonly attribute: string;
  readonly value: string | number | undefined;
}

export type Action =
  | { readonly do: "put"; readonly item: Attributes; readonly if?: Condition }
  | { readonly do: "delete"; readonly key: TableKey; readonly if?: Condition }
  | { readonly do: "check"; readonly key: TableKey; readonly if: Condition }
  | {
      readonly do: "set";
      readonly key: TableKey;
      readonly attribute: string;
      readonly number: number;
      readonly if?: Condition;
    };

/** done: it was committed. lost: nothing was written, plan again. unknown: the response was lost. */
export type Sent = { readonly outcome: "done" } | { readonly outcome: "lost" | "unknown"; readonly cause: unknown };

const actionBytes = 128;

export function actionsBytes(actions: readonly Action[]): number {
  return actions.reduce((sum, action) => sum + actionBytes + (action.do === "put" ? itemBytes(action.item) : 0), 0);
}

export function requireActions(count: number): void {
  if (count <= serviceLimits.transactionActionsMax) return;
  throw new PinakesError(
    "LIMIT_EXCEEDED",
    `The batch needs ${count} actions with its unique values and its feed entry; a transaction of DynamoDB accepts ${serviceLimits.transactionActionsMax}. Split it where it need not be atomic.`,
  );
}

/** `inForce` is checked right before sending: whether the definition it was planned with is still valid (definitions.ts). */
export async function send(
  dynamo: Dynamo,
  table: string,
  actions: readonly Action[],
  inForce: () => Promise<boolean>,
): Promise<Sent> {
  if (!(await inForce())) return { outcome: "lost", cause: undefined };
  const [only] = actions;
  if (actions.length === 1 && (only?.do === "put" || only?.do === "delete")) return sendOne(dynamo, table, only);
  const input = {
    TransactItems: actions.map((action) => inTransaction(table, action)),
    ClientRequestToken: randomUUID(),
  };
  for (let attempt = 0; ; attempt += 1) {
    try {
      await dynamo.api.transactWriteItems(input);
      return { outcome: "done" };
    } catch (error) {
      const sent = judge(error);
      // An earlier attempt may still be in flight, so a later rejection does not reveal its outcome.
      if (sent.outcome !== "unknown") return attempt === 0 ? sent : { outcome: "unknown", cause: error };
      // The token makes the same transaction safe to send again: the service returns the response of the first execution.
      if (attempt >= resendsMax) return sent;
      await sleep(backoffMs(attempt + 3));
      if (!(await inForce())) return sent;
    }
  }
}

const resendsMax = 2;

async function sendOne(
  dynamo: Dynamo,
  table: string,
  action: Extract<Action, { do: "put" | "delete" }>,
): Promise<Sent> {
  try {
    const target = { TableName: table, ...conditionOf(action.if) };
    if (action.do === "put") await dynamo.api.putItem({ ...target, Item: action.item });
    else await dynamo.api.deleteItem({ ...target, Key: toKey(action.key) });
    return { outcome: "done" };
  } catch (error) {
    return judge(error);
  }
}

function judge(cause: unknown): Sent {
  const failure = classify(cause);
  if (failure === "refused") throw wrapError(cause, "write");
  return { outcome: failure === "unknown" ? "unknown" : "lost", cause };
}

function inTransaction(table: string, action: Action): TransactWriteItem {
  const target = { TableName: table, ...conditionOf(action.if) };
  switch (action.do) {
    case "put":
      return { Put: { ...target, Item: action.item } };
    case "delete":
      return { Delete: { ...target, Key: toKey(action.key) } };
    case "check":
      return { ConditionCheck: { ...target, ...required(action.if), Key: toKey(action.key) } };
    case "set": {
      const { ExpressionAttributeNames, ExpressionAttributeValues, ...rest } = target;
      return {
        Update: {
          ...rest,
          Key: toKey(action.key),
          UpdateExpression: "SET #set = :set",
          ExpressionAttributeNames: { ...ExpressionAttributeNames, "#set": action.attribute },
          ExpressionAttributeValues: { ...ExpressionAttributeValues, ":set": { N: String(action.number) } },
        },
      };
    }
  }
}

interface ConditionInput {
  ConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Attributes;
}

function conditionOf(condition: Condition | undefined): ConditionInput {
  return condition === undefined ? {} : required(condition);
}

function required({ attribute, value }: Condition): ConditionInput & { ConditionExpression: string } {
  const ExpressionAttributeNames = { "#if": attribute };
  if (value === undefined) return { ConditionExpression: "attribute_not_exists(#if)", ExpressionAttributeNames };
  const expected = typeof value === "number" ? { N: String(value) } : { S: value };
  return { ConditionExpression: "#if = :if", ExpressionAttributeNames, ExpressionAttributeValues: { ":if": expected } };
}
