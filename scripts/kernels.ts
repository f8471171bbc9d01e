/**
 * Builds the search kernels: AssemblyScript in packages/pinakes/src/vectors/kernels/assembly → kernels.wasm beside it, which is committed
 * so that running Pinakes needs no compiler. The same source gives the same bytes: `node scripts/kernels.ts --check` verifies it.
 */
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = "packages/pinakes/src/vectors/kernels";
const binary = `${root}${folder}/kernels.wasm`;
const flags = [
  "-O3",
  "--noAssert",
  "--runtime",
  "stub",
  "--importMemory",
  "--noExportMemory",
  "--sharedMemory",
  "--initialMemory",
  "1",
  "--maximumMemory",
  "65536",
  "--enable",
  "threads",
  "--enable",
  "simd",
  "--enable",
  "relaxed-simd",
  "--use",
  "abort=",
  // Addresses are 32 bits and stay so.
  "--disableWarning",
  "201",
];

interface Compiler {
  readonly main: (
    args: readonly string[],
    options: {
      readonly stderr: { readonly write: (message: unknown) => void };
      readonly writeFile: (name: string, contents: unknown) => void;
    },
  ) => Promise<{ readonly error: Error | null }>;
}

export async function buildKernels(): Promise<Uint8Array> {
  let bytes: Uint8Array | undefined;
  const messages: string[] = [];
  // By a name that the type checker does not follow: its declarations replace those of Array and others for the whole repository.
  const compiler: string = "assemblyscript/asc";
  const { main } = (await import(compiler)) as Compiler;
  const { error } = await main(
    [`${folder}/assembly/index.ts`, "--baseDir", root, "--outFile", "kernels.wasm", ...flags],
    {
      stderr: { write: (message) => void messages.push(String(message)) },
      writeFile: (name, contents) => {
        if (name.endsWith(".wasm")) bytes = contents as Uint8Array;
      },
    },
  );
  if (error !== null || bytes === undefined)
    throw new Error(`The kernels do not compile:\n${messages.join("")}`, { cause: error });
  return bytes;
}

export async function kernelsUpToDate(): Promise<boolean> {
  return Buffer.from(await buildKernels()).equals(await readFile(binary));
}

if (import.meta.main) {
  if (process.argv.includes("--check")) {
    const same = await kernelsUpToDate();
    console.log(same ? "kernels.wasm is up to date." : "kernels.wasm is out of date; run `node scripts/kernels.ts`.");
    process.exitCode = same ? 0 : 1;
  } else {
    const bytes = await buildKernels();
    await writeFile(binary, bytes);
    console.log(`kernels.wasm: ${bytes.length} bytes.`);
  }
}
