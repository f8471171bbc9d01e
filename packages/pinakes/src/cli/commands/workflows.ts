/** `pinakes workflows …`: status and progress of workflows, and actions on them. */
import {
  sortOrders,
  workflowStatuses,
  workflowTypes,
  type StateApi,
  type Stored,
  type Workflow,
  type WorkflowWrite,
} from "@pinakes/client";
import { confirm, confirmOptions } from "../terminal/confirm.ts";
import { defineCommand, UsageError, type Call, type Command, type Group, type Options } from "../terminal/command.ts";
import { listOptions, moreBelow, readPages } from "../terminal/pages.ts";
import { nothingIn } from "../store-location.ts";
import { withClient } from "../client-session.ts";
import { actorOptions } from "../session.ts";
import {
  checkpointsText,
  checkpointText,
  resumedText,
  statsText,
  workflowsText,
  workflowText,
} from "./workflows-text.ts";

const writeOptions = {
  "if-match": { type: "string", value: "ETAG", help: "only if its _etag is unchanged" },
  "fencing-token": { type: "string", value: "N", help: "the fencing token, required while a worker holds the lease" },
} as const satisfies Options;

const list = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "list list the workflows, newest first; of one type, last changed first",
  options: {
    status: { type: "string", value: "STATUS", help: workflowStatuses.join(", ") },
    type: { type: "string", value: "TYPE", help: workflowTypes.join(", ") },
    order: { type: "string", value: "ORDER", help: "asc, desc (desc)" },
    ...listOptions,
    ...actorOptions,
  },
  examples: ["pinakes workflows list", "pinakes workflows list --status failed --limit 10"],
  run: async (call) => {
    const { given, terminal } = call;
    const query = {
      status: given.oneOf("status", workflowStatuses),
      type: given.oneOf("type", workflowTypes),
      order: given.oneOf("order", sortOrders),
    };
    return withClient(call, async ({ state, place }) => {
      const page = await readPages(given, (paging) => state.workflows.list({ ...query, ...paging }));
      return {
        answer: page,
        show: () =>
          page.items.length === 0 ? nothingIn(place) : workflowsText(terminal, page.items) + moreBelow(page),
      };
    });
  },
});

const show = defineCommand({
  usage: "<workflow>",
  words: [1, 1],
  summary: "show a workflow: agents, progress and errors",
  options: actorOptions,
  examples: ["pinakes workflows show wf-1", "pinakes workflows show wf-1 --json"],
  run: (call) =>
    withClient(call, async ({ state }) => {
      const workflow = await state.workflows.get(idOf(call));
      return { answer: workflow, show: () => workflowText(call.terminal, workflow) };
    }),
});

const checkpoints = defineCommand({
  usage: "<workflow>",
  words: [1, 1],
  summary: "list its checkpoints, earliest first; or show one with its state",
  options: {
    step: { type: "string", value: "N", help: "only the checkpoint of this step, with its state; or: latest" },
    order: { type: "string", value: "ORDER", help: "asc, desc (asc)" },
    ...listOptions,
    ...actorOptions,
  },
  examples: ["pinakes workflows checkpoints wf-1", "pinakes workflows checkpoints wf-1 --step latest"],
  run: async (call) => {
    const { given, terminal } = call;
    const [step, order] = [stepOf(given.text("step")), given.oneOf("order", sortOrders)];
    return withClient(call, async ({ state }) => {
      if (step !== undefined) {
        const checkpoint = await state.workflows.checkpointAt(idOf(call), step);
        return { answer: checkpoint, show: () => checkpointText(terminal, checkpoint) };
      }
      const page = await readPages(given, (paging) => state.workflows.checkpoints(idOf(call), { order, ...paging }));
      return {
        answer: page,
        show: () =>
          page.items.length === 0 ? "It has no checkpoints." : checkpointsText(terminal, page.items) + moreBelow(page),
      };
    });
  },
});

const start = action("start", "start a pending workflow", (state, ...rest) => state.workflows.start(...rest));
const pause = action("pause", "pause it until it is resumed", (state, ...rest) => state.workflows.pause(...rest));
const cancel = action("cancel", "cancel it", (state, ...rest) => state.workflows.cancel(...rest));
const complete = action("complete", "complete it", (state, ...rest) => state.workflows.complete(...rest));
const retry = action("retry", "retry a failed one from the failed step; at most max_retries times", (state, ...rest) =>
  state.workflows.retry(...rest),
);
const skip = action("skip", "continue a failed one after the failed step", (state, ...rest) =>
  state.workflows.skip(...rest),
);

const resume = defineCommand({
  usage: "<workflow>",
  words: [1, 1],
  summary: "resume it from its latest checkpoint and show that checkpoint",
  options: {
    owner: { type: "string", value: "NAME", help: "also acquire its lease for this worker" },
    "lease-seconds": { type: "string", value: "N", help: "duration of the lease in seconds (30)" },
    ...writeOptions,
    ...actorOptions,
  },
  examples: [
    "pinakes workflows resume wf-1",
    "pinakes workflows resume wf-1 --owner worker-7 --lease-seconds 60 --json",
  ],
  run: async (call) => {
    const { given, terminal } = call;
    const [owner, leaseSeconds] = [given.text("owner"), given.whole("lease-seconds", 1, leaseSecondsMax)];
    if (owner === undefined && leaseSeconds !== undefined)
      throw new UsageError("--lease-seconds: specify the owner of the lease, with --owner NAME.");
    const options = { ...conditions(call), owner, leaseSeconds };
    return withClient(call, async ({ state }) => {
      const resumed = await state.workflows.resume(idOf(call), options);
      return { answer: resumed, show: () => resumedText(terminal, resumed) };
    });
  },
});

const remove = defineCommand({
  usage: "<workflow>",
  words: [1, 1],
  summary: "permanently remove it with all its checkpoints",
  options: { ...confirmOptions, ...writeOptions, ...actorOptions },
  examples: ["pinakes workflows delete wf-1", "pinakes workflows delete wf-1 --confirm"],
  run: async (call) => {
    const options = conditions(call);
    return withClient(call, async ({ state }) => {
      const id = idOf(call);
      const { name, status } = await state.workflows.get(id, { checkpoints: "none" });
      const what = `Workflow ${id} (${name}), which is ${status}, will be permanently removed with all its checkpoints.`;
      await confirm(call, { what, type: id, unasked: "refused" });
      await state.workflows.delete(id, options);
      return { answer: { deleted: id }, show: () => `Workflow ${id} is removed.` };
    });
  },
});

const stats = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "count the workflows by status and type",
  options: actorOptions,
  examples: ["pinakes workflows stats"],
  run: (call) =>
    withClient(call, async ({ state, place }) => {
      const counted = await state.workflows.stats();
      return {
        answer: counted,
        show: () =>
          counted.total === 0 ? nothingIn(place, "There are no workflows") : statsText(call.terminal, counted),
      };
    }),
});

export const workflows: Group = {
  summary: "manage workflows of agents: status, checkpoints, recovery",
  commands: { list, show, checkpoints, start, pause, resume, retry, skip, complete, cancel, delete: remove, stats },
};

type Act = (state: StateApi, id: string, options: WorkflowWrite) => Promise<Stored<Workflow>>;

/** A status transition. */
function action(name: string, summary: string, act: Act): Command {
  return defineCommand({
    usage: "<workflow>",
    words: [1, 1],
    summary,
    options: { ...writeOptions, ...actorOptions },
    examples: [`pinakes workflows ${name} wf-1`],
    run: async (call) => {
      const options = conditions(call);
      return withClient(call, async ({ state }) => {
        const workflow = await act(state, idOf(call), options);
        return { answer: workflow, show: () => workflowText(call.terminal, workflow) };
      });
    },
  });
}

/** The feature's limit; a longer one would be rejected there. */
const leaseSecondsMax = 3_600;

function conditions({ given }: Call<keyof typeof writeOptions>): WorkflowWrite {
  return { ifMatch: given.text("if-match"), fencingToken: given.whole("fencing-token", 0, Number.MAX_SAFE_INTEGER) };
}

function idOf({ words }: Call): string {
  return words[0] as string;
}

function stepOf(text: string | undefined): number | "latest" | undefined {
  if (text === undefined || text === "latest") return text;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`--step: must be a whole number from 0, or latest; got "${text}".`);
}
