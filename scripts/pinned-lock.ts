/**
 * A lockfile for an external project that installs our tarballs, with every transitive version as this repository's own lockfile pins it.
 * Installing with it does not depend on what a registry publishes today.
 */
import { readFileSync } from "node:fs";
import { basename } from "node:path";

interface LockEntry {
  readonly version?: string;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly [key: string]: unknown;
}

type Entries = Readonly<Record<string, LockEntry>>;

/** A published package: the manifest inside its tarball. */
export interface PublishedPackage {
  readonly tarball: string;
  readonly manifest: Readonly<Record<string, unknown>> & { readonly name: string };
}

/** `dependencies` are those of the project's own package.json; our packages come from their tarballs. */
export function pinnedLock(
  lockFile: string,
  dependencies: Readonly<Record<string, string>>,
  ours: readonly PublishedPackage[],
): unknown {
  const { packages } = JSON.parse(readFileSync(lockFile, "utf8")) as { packages: Entries };
  const all: Entries = {
    ...installed(packages),
    ...Object.fromEntries(ours.map((one) => [`node_modules/${one.manifest.name}`, entryOf(one)])),
  };
  const root = { dependencies };
  const reached = reachable(all, root);
  const kept = Object.fromEntries(
    Object.entries(all).flatMap(([path, entry]) =>
      reached.has(path) ? [[path, withoutAbsent(all, path, entry)]] : [],
    ),
  );
  return { lockfileVersion: 3, requires: true, packages: { "": root, ...kept } };
}

/** What the repository installs, without its workspaces; packages in a workspace's own node_modules move to the installed package's. */
function installed(packages: Entries): Entries {
  const links = new Map(
    Object.entries(packages).flatMap(([path, entry]) =>
      entry.link === true ? [[`${entry.resolved}/`, `${path}/`]] : [],
    ),
  );
  return Object.fromEntries(
    Object.entries(packages).flatMap(([path, { dev: _dev, devOptional: _devOptional, ...entry }]) => {
      if (!path.includes("node_modules/") || entry.link === true) return [];
      const [from = "", to = ""] = [...links].find(([workspace]) => path.startsWith(workspace)) ?? [];
      return [[to + path.slice(from.length), entry]];
    }),
  );
}

function entryOf({ tarball, manifest }: PublishedPackage): LockEntry {
  const { version, dependencies, peerDependencies, bin } = manifest as LockEntry;
  return { version, resolved: `file:${tarball}`, dependencies, peerDependencies, bin } as LockEntry;
}

/** The reachable paths of Node's resolution from the root. */
function reachable(all: Entries, root: LockEntry): ReadonlySet<string> {
  const reached = new Set<string>();
  const open: [string, LockEntry][] = [["", root]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [from, entry] = next;
    for (const [name, optional] of needs(entry)) {
      const path = resolved(all, from, name);
      if (path === undefined && !optional)
        throw new Error(`${from || "the project"} needs ${name}, which is not in the lockfile.`);
      if (path === undefined || reached.has(path)) continue;
      reached.add(path);
      open.push([path, all[path] as LockEntry]);
    }
  }
  return reached;
}

/** Optional packages of other platforms that the repository's lockfile omits: npm would look for them in the registry. */
function withoutAbsent(all: Entries, path: string, { optionalDependencies = {}, ...entry }: LockEntry): LockEntry {
  const present = Object.entries(optionalDependencies).filter(([name]) => resolved(all, path, name) !== undefined);
  return present.length === 0 ? entry : { ...entry, optionalDependencies: Object.fromEntries(present) };
}

function needs(entry: LockEntry): [string, boolean][] {
  const peers = Object.keys(entry.peerDependencies ?? {}).map((name): [string, boolean] => [
    name,
    entry.peerDependenciesMeta?.[name]?.optional === true,
  ]);
  const optional = Object.keys(entry.optionalDependencies ?? {}).map((name): [string, boolean] => [name, true]);
  return [
    ...Object.keys(entry.dependencies ?? {}).map((name): [string, boolean] => [name, false]),
    ...optional,
    ...peers,
  ];
}

/** From the innermost node_modules outwards. */
function resolved(all: Entries, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf("/node_modules/"), 0))) {
    const path = folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (path in all) return path;
    if (folder === "") return undefined;
  }
}

/** `pinakes-langgraph-0.1.0.tgz` is `@pinakes/langgraph`. */
export function packageName(tarball: string): string {
  const name = basename(tarball).replace(/-\d+\.\d+\.\d+\.tgz$/, "");
  return name === "pinakes" ? name : name.replace("-", "/").replace(/^/, "@");
}
