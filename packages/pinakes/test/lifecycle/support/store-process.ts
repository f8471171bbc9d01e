/**
 * An external store: its contents are a file, one line per row, and it takes part only by answering messages. Arguments: the addresses of
 * items and objects, the folder of the stores, and its file.
 */
import { readFile, writeFile } from "node:fs/promises";
import { open, serveParticipant } from "../../../src/index.ts";

const [items, objects, dir, file] = process.argv.slice(2) as [string, string, string, string];
const rows = async () => (await readFile(file, "utf8")).split("\n").filter((line) => line !== "");

await using pinakes = await open({ items, objects, dir, background: false });
const stop = new AbortController();
process.on("SIGTERM", () => stop.abort());
process.stdout.write("ready\n");
await serveParticipant(
  pinakes.lifecycle,
  {
    store: "side-file",
    class: "vector",
    handlers: {
      delete: async (_, { incarnation }, { limit }) => {
        const all = await rows();
        const gone = new Set(all.filter((line) => line.startsWith(`${incarnation} `)).slice(0, Math.min(limit, 10)));
        await writeFile(
          file,
          all
            .filter((line) => !gone.has(line))
            .map((line) => `${line}\n`)
            .join(""),
        );
        process.stdout.write(`deleted ${gone.size}\n`);
        return { deleted: gone.size, done: gone.size === 0 };
      },
      count: async (_, { incarnation }) => (await rows()).filter((line) => line.startsWith(`${incarnation} `)).length,
    },
  },
  stop.signal,
);
