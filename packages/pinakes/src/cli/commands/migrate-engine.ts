/** `pinakes migrate engine`: copies a whole store to another engine, offline. */
import { parseStores, type StoresConfig } from "../../config-stores.ts";
import { moveEngine } from "../../open.ts";
import { defineCommand, failureExitCode, UsageError } from "../terminal/command.ts";
import { grid } from "../terminal/layout.ts";
import { ProgressBar } from "../terminal/progress-bar.ts";
import { logOf } from "../session.ts";

export const engine = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "copy all workspaces from one engine to another; stop the server first",
  details: [
    "Copies items with ids, timestamps and time to live, objects, vectors, triples. Resumes where it stopped, compares everything at the end, and",
    "never removes anything: start the server with the new settings once both are equal. Change feeds and cursors start over.",
  ].join("\n"),
  options: {
    from: { type: "string", value: "ITEMS", help: "sqlite:./folder, postgres://…, dynamodb://region/prefix" },
    "from-objects": { type: "string", value: "OBJECTS", help: "file:./folder, s3://bucket/prefix" },
    to: { type: "string", value: "ITEMS", help: "where to" },
    "to-objects": { type: "string", value: "OBJECTS", help: "where to" },
    "from-master-key-file": { type: "string", value: "FILE", help: "if the objects of the source are encrypted" },
    "to-master-key-file": { type: "string", value: "FILE", help: "encrypts the objects of the target" },
    database: { type: "string", value: "NAME", help: "of both (pinakes)" },
    "verify-only": { type: "boolean", help: "compare, write nothing" },
  },
  examples: [
    "pinakes migrate engine --from sqlite:./data --from-objects file:./data/objects --to postgres://localhost/app --to-objects s3://bucket/pinakes",
  ],
  localOnly: "it copies one store to another",
  run: async (call) => {
    const { given, terminal } = call;
    const config = (items: "from" | "to", objects: "from-objects" | "to-objects"): StoresConfig => {
      if (given.text(items) === undefined || given.text(objects) === undefined)
        throw new UsageError(`--${items} and --${objects}: both are required.`);
      const names = {
        dir: "dir",
        database: "--database",
        items: `--${items}`,
        objects: `--${objects}`,
        queue: "queue",
      };
      return parseStores(
        {
          items: given.text(items),
          objects: given.text(objects),
          database: given.text("database"),
          masterKeyFile: given.text(`${items}-master-key-file`),
        },
        names,
      );
    };
    const [from, to] = [config("from", "from-objects"), config("to", "to-objects")];
    if (JSON.stringify([from.items, from.objects]) === JSON.stringify([to.items, to.objects]))
      throw new UsageError("--from and --to are the same store.");
    const bar =
      terminal.progressColumns === undefined
        ? undefined
        : new ProgressBar(terminal.err, undefined, terminal.progressColumns);
    try {
      const report = await moveEngine(from, to, {
        log: logOf(call),
        signal: terminal.signal,
        verifyOnly: given.has("verify-only"),
        onProgress: ({ what, done }) => bar?.show(what, done, done),
      });
      const rows = report.parts.map(({ part, source, target, equal }) => ({
        part,
        from: source.count,
        to: target.count,
        equal: equal ? "yes" : "NO",
      }));
      const end = report.equal
        ? "Both have the same content."
        : "They differ: stop all processes that use them, and run it again.";
      return {
        answer: report,
        show: () => `${grid(terminal, rows)}\n\n${end}`,
        code: report.equal ? 0 : failureExitCode,
      };
    } finally {
      bar?.end();
    }
  },
});
