/** `pinakes retention …`: how long containers, the trash and earlier versions are kept. */
import type { RetentionPreview, RetentionRule } from "@pinakes/client";
import { defineCommand, UsageError, type Call, type Group } from "../terminal/command.ts";
import { confirm, yesOption } from "../terminal/confirm.ts";
import { count, fields, grid } from "../terminal/layout.ts";
import { withGovernance, workspaceOptions } from "./subject-options.ts";

const daySeconds = 86_400;
const lifetimeHelp =
  "days such as 30, seconds such as 3600s, never, or own: only documents with a ttl of their own expire";

const list = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "list containers, the trash and settings with their lifetimes",
  options: workspaceOptions,
  examples: ["pinakes retention list"],
  run: (call) =>
    withGovernance(call, async ({ knowledge }) => {
      const items = await knowledge.retention.list();
      return {
        answer: { items },
        show: () => grid(call.terminal, items.map(row), { whole: ["name"], optional: ["unit"] }),
      };
    }),
});

const preview = defineCommand({
  usage: "<name> <lifetime>",
  words: [2, 2],
  summary: "count what a change would expire; nothing changes",
  details: `The lifetime: ${lifetimeHelp}.`,
  options: workspaceOptions,
  examples: ["pinakes retention preview agent-memories 30"],
  run: (call) =>
    withGovernance(call, async ({ knowledge }) => {
      const [name, seconds] = changeOf(call);
      const counted = await knowledge.retention.preview(name, seconds);
      return { answer: counted, show: () => fields(call.terminal, shown(counted)) };
    }),
});

const set = defineCommand({
  usage: "<name> <lifetime>",
  words: [2, 2],
  summary: "change a lifetime, after a count of what would expire",
  details: `The lifetime: ${lifetimeHelp}. It applies to existing documents; those with a ttl keep it.`,
  options: { yes: yesOption, ...workspaceOptions },
  examples: ["pinakes retention set agent-memories 30", "pinakes retention set trash 7 --yes"],
  run: (call) =>
    withGovernance(call, async ({ knowledge }) => {
      const [name, seconds] = changeOf(call);
      const { would_expire, held, confirmation } = await knowledge.retention.preview(name, seconds);
      if (would_expire > 0) {
        const kept = held === 0 ? "" : ` A legal hold keeps ${count(held, "document")} of them.`;
        const what = `${count(would_expire, "document")} of ${name} will expire at once, which cannot be undone.${kept}`;
        await confirm(call, { what, unasked: "refused" });
      }
      const rule = await knowledge.retention.set(name, { seconds, confirmation });
      return { answer: rule, show: () => fields(call.terminal, row(rule)) };
    }),
});

export const retention: Group = {
  summary: "how long containers, the trash and earlier versions are kept",
  commands: { list, preview, set },
};

function changeOf({ words }: Call): readonly [name: string, seconds: number | null] {
  const [name, text] = words as readonly [string, string];
  if (text === "never") return [name, null];
  if (text === "own") return [name, -1];
  const [, number, unit] = /^(\d{1,9})([sd]?)$/.exec(text) ?? [];
  if (number === undefined) throw new UsageError(`a lifetime is ${lifetimeHelp}; got "${text}".`);
  return [name, Number(number) * (unit === "s" ? 1 : daySeconds)];
}

function lifetimeText(seconds: number | null): string {
  if (seconds === null) return "never expires";
  if (seconds === -1) return "own ttl only";
  return seconds % daySeconds === 0 ? count(seconds / daySeconds, "day") : `${seconds} s`;
}

function row({ name, seconds, default_seconds, changeable, setting, unit }: RetentionRule) {
  return {
    name,
    lifetime: lifetimeText(seconds),
    default: lifetimeText(default_seconds),
    changed: changeable ? "by API" : (setting ?? "no"),
    unit,
  };
}

function shown({ name, current_seconds, seconds, would_expire, held, would_stay, examples }: RetentionPreview) {
  return {
    name,
    now: lifetimeText(current_seconds),
    wanted: lifetimeText(seconds),
    "would expire": would_expire,
    held,
    "would stay": would_stay,
    examples: examples.join(", "),
  };
}
