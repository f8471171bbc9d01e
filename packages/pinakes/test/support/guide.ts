/** Runs the blocks of a guide in docs/ as a reader would, against a server on a port and its stores. */
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createApp } from "../../src/http/app.ts";
import { serve } from "../../src/http/serve.ts";
import { open } from "../../src/open.ts";

const run = promisify(execFile);
const root = new URL("../../../../", import.meta.url);
const cli = fileURLToPath(new URL("packages/pinakes/src/cli/pinakes.ts", root));
const rootToken = "root-token-of-the-guide-0123456789";

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export async function blocksOf(guide: string, language: "sh" | "ts"): Promise<string[]> {
  const page = await readFile(new URL(`docs/${guide}`, root), "utf8");
  return [...page.matchAll(/```(\w+)\n([^]*?)```/g)]
    .filter(([, name]) => name === language)
    .map(([, , text]) => text as string);
}

/** The program is in a folder without packages: its imports are those of this one. */
function withResolvedImports(program: string): string {
  return program.replaceAll(/ from "(?!node:)([^".][^"]*)"/g, (_, name: string) => {
    const url =
      name === "@pinakes/client" ? new URL("packages/client/src/index.ts", root).href : import.meta.resolve(name);
    return ` from ${JSON.stringify(url)}`;
  });
}

/** A server as `npm start` runs it in the folder `dir`, with its stores in `dir/data`. */
export async function openGuide(dir: string) {
  await mkdir(join(dir, "data"), { recursive: true });
  await writeFile(join(dir, "data/root-token"), rootToken);
  const pinakes = await open({ dir: join(dir, "data"), rootToken });
  const server = await serve(await createApp(pinakes), { host: "127.0.0.1", port: 0 });
  const settings = Object.entries(process.env).filter(([name]) => !name.startsWith("PINAKES_"));
  const env = Object.fromEntries(settings);
  return {
    /** The answers of the lines that begin with curl. Output of the command line is also in the file `output.txt`. */
    async shell(
      blocks: readonly string[],
      more: Readonly<Record<string, string>> = {},
    ): Promise<{ calls: string[]; answers: Answer[] }> {
      const script = blocks
        .join("\n")
        .replaceAll("http://127.0.0.1:7430", server.url)
        .replaceAll(/^curl /gm, "curl -sS -w '\\n%{http_code}\\n' ");
      const npx = `npx() { shift; "${process.execPath}" "${cli}" "$@" >> output.txt; }`;
      const command = `pinakes() { "${process.execPath}" "${cli}" "$@" | tee -a output.txt; }`;
      const { stdout } = await run("bash", ["-eu", "-o", "pipefail", "-c", `${npx}\n${command}\n${script}`], {
        cwd: dir,
        env: { ...env, ...more },
      });
      const answers = [...stdout.matchAll(/([^]*?)\n(\d{3})\n/g)].map(([, text, status]) => ({
        status: Number(status),
        text: (text as string).trim(),
      }));
      return { calls: blocks.join("").match(/^curl .*/gm) ?? [], answers };
    },
    /** What the blocks, as one program, print; it finds the server at the address that the pages name. */
    async program(blocks: readonly string[]): Promise<string> {
      const file = join(dir, "guide.ts");
      await writeFile(file, withResolvedImports(blocks.join("\n")).replaceAll("http://127.0.0.1:7430", server.url));
      const { stdout } = await run(process.execPath, [file], {
        cwd: dir,
        env: { ...env, PINAKES_URL: server.url, PINAKES_KEY: rootToken },
      });
      return stdout;
    },
    url: server.url,
    rootToken,
    output: () => readFile(join(dir, "output.txt"), "utf8"),
    async close(): Promise<void> {
      await server.close();
      await pinakes.close();
    },
  };
}
