/**
 * Who may import whom inside packages/pinakes/src (ARCHITECTURE.md). A layer may always import itself; tests may import anything.
 */
import { posix } from "node:path";
import { importsOf, isTest } from "./code.ts";
import { folderCycles } from "./folder-cycles.ts";
import type { Finding, Tree } from "./tree.ts";

const source = "packages/pinakes/src/";

interface Layer {
  readonly imports: readonly string[];
  /** `node:` modules it may use; all of them when absent. */
  readonly builtins?: readonly string[];
  /** Packages it may use; all of them when absent. */
  readonly packages?: readonly string[];
}

const features = [
  "identity",
  "vectors",
  "knowledge",
  "audit",
  "answers",
  "evaluation",
  "pipelines",
  "transfer",
  "state",
  "lifecycle",
  "migrations",
  "catalogs",
  "governance",
  "ops",
  "governance",
] as const;
/** They work on the records of knowledge, so they import its folders, not only its index. */
const companions = ["answers", "audit", "evaluation", "pipelines", "transfer"];
const featureImports = [
  "contract",
  "domain",
  "ports",
  "runtime",
  "containers",
  "sql",
  "rdf",
  "sparql",
  "outgoing",
  ...features,
];

const layers: Readonly<Record<string, Layer>> = {
  // The contract's types and lists of values are as pure as the domain; nothing else of the client belongs there.
  domain: { imports: [], builtins: [], packages: ["@pinakes/client"] },
  contract: { imports: [], builtins: [], packages: ["zod", "@pinakes/client"] },
  ports: { imports: ["domain"], builtins: [], packages: [] },
  runtime: { imports: ["domain"], packages: [] },
  items: {
    imports: ["domain", "ports", "runtime"],
    builtins: ["node:async_hooks", "node:crypto", "node:timers/promises"],
    packages: [],
  },
  objects: { imports: ["domain", "ports", "runtime"], builtins: ["node:crypto"], packages: [] },
  encryption: {
    imports: ["domain", "ports", "runtime", "objects"],
    builtins: ["node:crypto", "node:fs/promises"],
    packages: [],
  },
  queues: { imports: ["domain", "ports", "runtime"], builtins: ["node:crypto"], packages: [] },
  triples: { imports: ["domain", "ports", "runtime"], builtins: ["node:crypto", "node:timers/promises"], packages: [] },
  outgoing: {
    imports: ["domain", "runtime"],
    builtins: ["node:dns", "node:fs/promises", "node:http", "node:https", "node:net", "node:os", "node:path"],
    packages: [],
  },
  containers: { imports: ["domain", "ports", "runtime"], packages: ["zod"] },
  sql: { imports: ["domain", "ports", "runtime"], builtins: ["node:crypto"], packages: [] },
  sparql: {
    imports: ["domain", "ports", "runtime"],
    builtins: ["node:crypto"],
    packages: ["@traqula/parser-sparql-1-1", "@traqula/algebra-sparql-1-1", "@traqula/rules-sparql-1-1"],
  },
  rdf: {
    imports: ["domain", "ports", "runtime"],
    builtins: [],
    packages: ["n3", "jsonld-streaming-parser", "rdfxml-streaming-parser"],
  },
  ...Object.fromEntries(features.map((name) => [name, { imports: featureImports }])),
  drivers: { imports: ["domain", "ports", "runtime", "outgoing", "items", "objects", "queues", "triples"] },
  http: {
    imports: [
      "contract",
      "domain",
      "ports",
      "runtime",
      "open.ts",
      "embedded-knowledge.ts",
      "config-connections.ts",
      "embedded-knowledge.ts",
      "mcp",
      "sql",
      "rdf",
      "sparql",
      ...features,
      "containers",
    ],
  },
  mcp: {
    imports: [
      "contract",
      "domain",
      "ports",
      "runtime",
      "open.ts",
      "embedded-knowledge.ts",
      "sql",
      ...features,
      "containers",
    ],
  },
  cli: {
    imports: [
      "domain",
      "ports",
      "runtime",
      "open.ts",
      "embedded-knowledge.ts",
      "config.ts",
      "config-stores.ts",
      "encryption",
      "http",
      "mcp",
      "rdf",
      "sparql",
      ...features,
      "containers",
    ],
  },
  testing: {
    imports: [
      "domain",
      "ports",
      "runtime",
      "items",
      "objects",
      "queues",
      "triples",
      "containers",
      "drivers",
      "open.ts",
      "config.ts",
      "config-stores.ts",
      ...features,
    ],
  },
  "config.ts": { imports: ["domain", "ports", "runtime", "outgoing", "config-connections.ts", "config-stores.ts"] },
  "config-stores.ts": { imports: ["domain", "outgoing"], packages: [] },
  "config-connections.ts": { imports: ["domain"], builtins: [], packages: [] },
  "open.ts": {
    imports: [
      "domain",
      "ports",
      "runtime",
      "items",
      "containers",
      "open-engines.ts",
      "open-options.ts",
      "open-background.ts",
      "open-binding.ts",
      "open-keys.ts",
      "open-retention.ts",
      "encryption",
      "open-pinakes.ts",
      "config.ts",
      "config-stores.ts",
      ...features,
    ],
  },
  "open-options.ts": {
    imports: ["domain", "ports", "runtime", "open-engines.ts", ...features],
    builtins: [],
    packages: [],
  },
  "open-retention.ts": { imports: ["domain", "open-options.ts", ...features], builtins: [], packages: [] },
  "open-background.ts": { imports: ["domain", "ports", "runtime", "items", "open-options.ts", ...features] },
  "open-binding.ts": {
    imports: ["domain", "ports", "runtime", "config.ts", "config-stores.ts"],
    builtins: ["node:crypto"],
    packages: [],
  },
  "open-keys.ts": {
    imports: ["domain", "ports", "encryption", "config-stores.ts", "open-binding.ts"],
    builtins: [],
    packages: [],
  },
  "open-pinakes.ts": {
    imports: [
      "domain",
      "ports",
      "runtime",
      "items",
      "encryption",
      "config.ts",
      "config-stores.ts",
      "open-binding.ts",
      ...features,
    ],
    builtins: [],
    packages: [],
  },
  "open-engines.ts": {
    imports: [
      "domain",
      "ports",
      "runtime",
      "items",
      "objects",
      "queues",
      "triples",
      "drivers",
      "config.ts",
      "config-stores.ts",
      ...features,
    ],
  },
  "embedded.ts": { imports: ["open.ts", "embedded-knowledge.ts", "governance"], packages: ["@pinakes/client"] },
  "embedded-knowledge.ts": { imports: ["domain", "runtime", "open.ts", ...features], packages: ["@pinakes/client"] },
  "index.ts": {
    imports: [
      "domain",
      "ports",
      "runtime",
      "containers",
      "sql",
      "open.ts",
      "embedded.ts",
      "config.ts",
      "config-stores.ts",
      ...features,
    ],
  },
};

export function direction(tree: Tree): Finding[] {
  return [...fileDirections(tree), ...folderCycles(tree)];
}

function fileDirections(tree: Tree): Finding[] {
  return [...tree]
    .filter(([path]) => path.startsWith(source) && path.endsWith(".ts") && !isTest(path))
    .flatMap(([path, text]) => fileFindings(path, text));
}

function fileFindings(path: string, text: string): Finding[] {
  const inside = path.slice(source.length);
  const name = inside.split("/")[0] as string;
  const layer = layers[name];
  if (layer === undefined)
    return [
      {
        path,
        line: 0,
        rule: "direction",
        message: `"${name}" is not a known layer; add it to ARCHITECTURE.md and scripts/tidy/direction.ts.`,
      },
    ];
  return importsOf(text).flatMap(({ specifier, line }) => {
    const message = objection(inside, name, layer, specifier);
    return message === undefined ? [] : [{ path, line, rule: "direction", message }];
  });
}

function objection(inside: string, name: string, layer: Layer, specifier: string): string | undefined {
  if (specifier.startsWith("node:")) {
    return layer.builtins === undefined || layer.builtins.includes(specifier)
      ? undefined
      : `${name} may not use ${specifier}.`;
  }
  if (!specifier.startsWith(".")) {
    const used = specifier
      .split("/")
      .slice(0, specifier.startsWith("@") ? 2 : 1)
      .join("/");
    return layer.packages === undefined || layer.packages.includes(used)
      ? undefined
      : `${name} may not use the package "${used}".`;
  }
  const target = posix.join(posix.dirname(inside), specifier);
  if (target === "../package.json" && name === "open-pinakes.ts") return undefined; // Its version.
  if (target.startsWith("../")) return `"${specifier}" leaves packages/pinakes/src.`;
  const [part, second] = target.split("/") as [string, string?];
  if (part === name) {
    const foreign = name === "drivers" && second !== inside.split("/")[1];
    return foreign ? `a driver may not import another driver ("${second}").` : undefined;
  }
  if (!layer.imports.includes(part)) return `${name} may not import ${part}.`;
  const isCompanion =
    (part === "knowledge" && companions.includes(name)) || (name === "knowledge" && companions.includes(part));
  if (isCompanion) return undefined;
  const isFeature =
    part === "sql" || part === "rdf" || part === "sparql" || (features as readonly string[]).includes(part);
  if (isFeature && second !== "index.ts") return `import ${part} through its index.ts.`;
  if (part === "drivers" && name === "open-engines.ts" && target.split("/")[2] !== "index.ts")
    return "import a driver through its index.ts.";
  return undefined;
}
