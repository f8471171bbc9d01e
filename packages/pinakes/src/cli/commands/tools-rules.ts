/** Settings of the tool log: redaction rules by tool, and the hash chain. */
import type { RedactionRule } from "@pinakes/client";
import { confirm, yesOption } from "../terminal/confirm.ts";
import { defineCommand, UsageError, type Call, type Outcome } from "../terminal/command.ts";
import { fields, grid } from "../terminal/layout.ts";
import { withClient, type ClientSession } from "../client-session.ts";
import { actorOptions } from "../session.ts";
import { suggest } from "../terminal/suggest.ts";
import type { Terminal } from "../terminal/terminal.ts";

const actions = ["list", "set", "delete"] as const;
type RuleCall = Call<"sensitive" | "drop" | "mask" | "yes" | keyof typeof actorOptions>;

export const rules = defineCommand({
  usage: "list | set <tool> | delete <tool>",
  words: [1, 2],
  summary: "manage redaction rules: parts of a tool's invocations that are dropped or stored as [redacted]",
  details: `
A path starts with input_args, output_result, error_details or security_context; * matches everything on a level. A rule is applied
before anything is stored; existing entries are unchanged.`,
  options: {
    drop: { type: "string", value: "a.b,c.d", help: "paths to drop" },
    mask: { type: "string", value: "a.b,c.d", help: "paths to store as [redacted]" },
    sensitive: { type: "boolean", help: "store neither input nor output" },
    yes: yesOption,
    ...actorOptions,
  },
  examples: [
    "pinakes tools rules list",
    "pinakes tools rules set login --drop input_args.password --mask 'output_result.rows.*.ssn'",
    "pinakes tools rules set payroll --sensitive",
    "pinakes tools rules delete payroll",
  ],
  run: async (call) => {
    const [action, tool] = [actionOf(call.words[0] as string), call.words[1]];
    const { given } = call;
    if (
      action !== "set" &&
      (given.has("sensitive") || given.text("drop") !== undefined || given.text("mask") !== undefined)
    )
      throw new UsageError(`--drop, --mask and --sensitive are for setting a rule: pinakes tools rules set <tool>`);
    if (action === "list") {
      if (tool !== undefined) throw new UsageError(`"${tool}" is unexpected: pinakes tools rules list`);
      return withClient(call, (session) => listed(call.terminal, session));
    }
    if (tool === undefined) throw new UsageError(`specify the tool: pinakes tools rules ${action} <tool>`);
    if (action === "delete") return withClient(call, (session) => deleted(call, session, tool));
    const rule = {
      tool_name: tool,
      sensitive: given.has("sensitive"),
      drop: given.list("drop") ?? [],
      mask: given.list("mask") ?? [],
    };
    if (!rule.sensitive && rule.drop.length + rule.mask.length === 0)
      throw new UsageError(
        "specify what to redact: --drop or --mask with paths such as input_args.password, or --sensitive for everything.",
      );
    return withClient(
      call,
      async ({ state }) => {
        const put = await state.tools.putRule(rule);
        return { answer: put, show: () => fields(call.terminal, row(put)) };
      },
      { creates: true },
    );
  },
});

export const settings = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "show or change whether new invocations form a hash chain",
  options: {
    "hash-chain": { type: "string", value: "on|off", help: "enable or disable the hash chain for new invocations" },
    ...actorOptions,
  },
  examples: ["pinakes tools settings", "pinakes tools settings --hash-chain on"],
  run: async (call) => {
    const wanted = call.given.oneOf("hash-chain", ["on", "off"]);
    return withClient(
      call,
      async ({ state }) => {
        const now =
          wanted === undefined
            ? await state.tools.settings()
            : await state.tools.putSettings({ hash_chain: wanted === "on" });
        return { answer: now, show: () => fields(call.terminal, { "hash chain": now.hash_chain ? "on" : "off" }) };
      },
      { creates: wanted !== undefined },
    );
  },
});

function actionOf(word: string): (typeof actions)[number] {
  const found = actions.find((action) => action === word);
  if (found !== undefined) return found;
  const meant = suggest(word, actions);
  throw new UsageError(
    `there is no command "tools rules ${word}"; ${meant === undefined ? `known commands: ${actions.join(", ")}` : `did you mean "tools rules ${meant}"?`}`,
  );
}

async function listed(terminal: Terminal, { state }: ClientSession): Promise<Outcome> {
  const all = await state.tools.rules();
  const none =
    "There are no rules: everything is stored. Create one: pinakes tools rules set <tool> --drop input_args.password";
  return {
    answer: all,
    show: () => (all.items.length === 0 ? none : grid(terminal, all.items.map(row), { whole: ["tool"] })),
  };
}

async function deleted(call: RuleCall, { state }: ClientSession, tool: string): Promise<Outcome> {
  await confirm(call, { what: `From now on all inputs and outputs of ${tool} will be stored.`, unasked: "done" });
  await state.tools.deleteRule(tool);
  return { answer: { deleted: tool }, show: () => `The rule of ${tool} is removed.` };
}

function row({ tool_name, sensitive, drop, mask }: RedactionRule) {
  return {
    tool: tool_name,
    "left out": sensitive ? "all inputs and outputs" : drop.join(", "),
    masked: mask.join(", "),
  };
}
