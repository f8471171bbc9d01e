/** `pinakes ops …`: operations on collections in all stores. */
import { operationStatuses } from "@pinakes/client";
import { setTimeout as sleep } from "node:timers/promises";
import type { OperationView } from "../../knowledge/index.ts";
import { defineCommand, failureExitCode, type Group, type Outcome } from "../terminal/command.ts";
import { grid } from "../terminal/layout.ts";
import { operationRow, operationsText } from "./ops-text.ts";
import { listOptions, moreBelow, readPages } from "../terminal/pages.ts";
import { nothingIn } from "../store-location.ts";
import { withClient } from "../client-session.ts";
import { actorOptions } from "../session.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** A store of another process may need more time. */
const waitSecondsDefault = 30;
const waitSecondsMax = 3_600;
const lookMs = 100;

const list = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "list list the operations, newest first",
  options: {
    status: { type: "string", value: "STATUS", help: operationStatuses.join(", ") },
    repository: { type: "string", value: "ID", help: "of this repository" },
    collection: { type: "string", value: "ID", help: "on any incarnation of the collection with this id" },
    ...listOptions,
    ...actorOptions,
  },
  examples: ["pinakes ops list --status failed", "pinakes ops list --collection papers --json"],
  run: (call) =>
    withClient(call, async ({ knowledge, place }) => {
      const { given } = call;
      const query = {
        status: given.oneOf("status", operationStatuses),
        repository: given.text("repository"),
        collection: given.text("collection"),
      };
      const page = await readPages(given, (paging) => knowledge.operations.list({ ...query, ...paging }));
      const shown = () =>
        grid(call.terminal, page.items.map(operationRow), { whole: ["operation", "updated"], optional: ["updated"] }) +
        moreBelow(page);
      return {
        answer: page,
        show: () => (page.items.length === 0 ? nothingIn(place, "There are no operations") : shown()),
      };
    }),
});

const show = defineCommand({
  usage: "<operation>",
  words: [1, 1],
  summary: "show an operation: per store what was deleted, what remains, and errors",
  options: actorOptions,
  examples: ["pinakes ops show 01936f4e-…"],
  run: (call) =>
    withClient(call, async ({ knowledge }) =>
      outcome(call.terminal, await knowledge.operations.get(call.words[0] as string), 0),
    ),
});

const retry = defineCommand({
  usage: "<operation>",
  words: [1, 1],
  summary: "retry failed stores immediately; the exit code says whether it is done",
  options: {
    wait: { type: "string", value: "SECONDS", help: `how long to wait for it (${waitSecondsDefault})` },
    ...actorOptions,
  },
  examples: ["pinakes ops retry 01936f4e-…", "pinakes ops retry 01936f4e-… --wait 0"],
  run: (call) =>
    withClient(call, async ({ knowledge }) => {
      const { operation_id } = await knowledge.operations.retry(call.words[0] as string);
      let operation = await knowledge.operations.get(operation_id);
      const until = performance.now() + (call.given.whole("wait", 0, waitSecondsMax) ?? waitSecondsDefault) * 1_000;
      while (isUnderWay(operation) && performance.now() < until) {
        await sleep(lookMs, undefined, { signal: call.terminal.signal });
        operation = await knowledge.operations.get(operation_id);
      }
      return outcome(call.terminal, operation, operation.status === "done" ? 0 : failureExitCode);
    }),
});

export const ops: Group = {
  summary: "manage operations on collections in all stores",
  commands: { list, show, retry },
};

/** Until it is done, or a store has failed again and waits for its next attempt. */
function isUnderWay({ status, stores }: OperationView): boolean {
  return (
    status !== "done" &&
    !stores.some(
      ({ status: one, next_at }) => one === "waiting" && next_at !== null && Date.parse(next_at) > Date.now(),
    )
  );
}

function outcome(terminal: Terminal, operation: OperationView, code: number): Outcome {
  return { answer: operation, show: () => operationsText(terminal, [operation]), code };
}
