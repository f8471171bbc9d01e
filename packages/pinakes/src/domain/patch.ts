/**
 * The six patch operations on a document, as Cosmos DB defines them: add, set, replace, remove, incr, move. Paths are RFC 6901 pointers.
 * `applyPatch` is pure: it never changes its input, and an error leaves nothing half done.
 */
import { invalid, show } from "./errors.ts";
import { checkJson, type JsonObject, type JsonValue } from "./json.ts";
import { limits } from "./limits.ts";
import { parsePointer } from "./path.ts";
import { isSystemProperty } from "./system-properties.ts";

export type PatchStep =
  | { readonly op: "add" | "set" | "replace"; readonly path: string; readonly value: JsonValue }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "incr"; readonly path: string; readonly value: number }
  | { readonly op: "move"; readonly from: string; readonly path: string };

export type Mutable = { [key: string]: MutableValue } | MutableValue[];
type MutableValue = string | number | boolean | null | Mutable;

/** Rejects a malformed patch before anything is read. */
export function checkPatch(steps: unknown): asserts steps is readonly PatchStep[] {
  if (!Array.isArray(steps) || steps.length === 0) throw invalid("patch: must be a list of 1 or more operations.");
  if (steps.length > limits.patchStepsMax) {
    throw invalid(
      `patch: ${steps.length} operations; at most ${limits.patchStepsMax} are allowed. Replace the document instead.`,
    );
  }
  steps.forEach((step: unknown, i) =>
    checkStep(step as Partial<Record<"op" | "path" | "from" | "value", unknown>> | null, `patch[${i}]`),
  );
}

function checkStep(step: Partial<Record<"op" | "path" | "from" | "value", unknown>> | null, where: string): void {
  if (typeof step !== "object" || step === null) throw invalid(`${where}: must be an object with op and path.`);
  checkPointer(step.path, `${where}.path`);
  switch (step.op) {
    case "add":
    case "set":
    case "replace":
      if (step.value === undefined) throw invalid(`${where}: "${step.op}" needs a value; use "remove" to delete.`);
      checkJson(step.value, `${where}.value`);
      return;
    case "remove":
      return;
    case "incr":
      if (typeof step.value !== "number" || !Number.isFinite(step.value))
        throw invalid(`${where}: "incr" needs a finite number as value.`);
      return;
    case "move":
      checkPointer(step.from, `${where}.from`);
      if (`${step.path as string}/`.startsWith(`${step.from as string}/`))
        throw invalid(`${where}: cannot move "${step.from as string}" into itself.`);
      return;
    default:
      throw invalid(`${where}.op: must be add, set, replace, remove, incr or move, got ${show(step.op)}.`);
  }
}

function checkPointer(path: unknown, where: string): void {
  if (typeof path !== "string") throw invalid(`${where}: must be an RFC 6901 pointer such as "/status".`);
  const [first] = parsePointer(path);
  if (first === undefined || first === "")
    throw invalid(`${where}: must name a property; the whole document is changed by "replace".`);
  if (first === "id" || isSystemProperty(first))
    throw invalid(`${where}: "${first}" is managed by the system and cannot be patched.`);
}

/** The steps with only the properties they need, so they can be sent to another thread. */
export function plainPatch(steps: readonly PatchStep[]): PatchStep[] {
  return steps.map((step): PatchStep => {
    const { op, path } = step;
    if (op === "move") return { op, from: step.from, path };
    if (op === "remove") return { op, path };
    return { op, path, value: step.value } as PatchStep;
  });
}

export function applyPatch(document: JsonObject, steps: readonly PatchStep[]): JsonObject {
  const root = structuredClone(document) as { [key: string]: MutableValue };
  patchInPlace(root, steps);
  return root;
}

/** Patches in place, for a document that the caller owns; after an error it is half patched. */
export function patchInPlace(root: Mutable, steps: readonly PatchStep[]): void {
  for (const [i, step] of steps.entries()) applyStep(root, step, `patch[${i}]`);
}

function applyStep(root: Mutable, step: PatchStep, where: string): void {
  const target = locate(root, step.path, where);
  switch (step.op) {
    case "add":
      return add(target, structuredClone(step.value) as MutableValue, where);
    case "set":
      return set(target, structuredClone(step.value) as MutableValue, where);
    case "replace":
      if (read(target) === undefined)
        throw invalid(`${where}: nothing to replace at "${step.path}"; use "set" or "add".`);
      return set(target, structuredClone(step.value) as MutableValue, where);
    case "remove":
      remove(target, step.path, where);
      return;
    case "incr":
      return increment(target, step.value, step.path, where);
    case "move": {
      const value = remove(locate(root, step.from, where), step.from, where);
      // Resolved again: removing from an array may have shifted the elements on the way.
      return add(locate(root, step.path, where), value, where);
    }
  }
}

interface Target {
  readonly parent: Mutable;
  readonly key: string;
}

function locate(root: Mutable, path: string, where: string): Target {
  const segments = parsePointer(path);
  const key = segments.pop() as string;
  let parent: MutableValue = root;
  for (const segment of segments) {
    const child: MutableValue | undefined = read({ parent, key: segment });
    if (typeof child !== "object" || child === null)
      throw invalid(`${where}: "${path}" does not exist: "${segment}" is not an object or array.`);
    parent = child;
  }
  return { parent, key };
}

function read({ parent, key }: Target): MutableValue | undefined {
  if (Array.isArray(parent)) return isIndex(key) ? parent[Number(key)] : undefined;
  return Object.hasOwn(parent, key) ? parent[key] : undefined;
}

function isIndex(key: string): boolean {
  return /^(0|[1-9]\d{0,8})$/.test(key);
}

/** In an array: inserts before the index, or appends for "-" or the length. In an object: sets. */
function add({ parent, key }: Target, value: MutableValue, where: string): void {
  if (!Array.isArray(parent)) {
    define(parent, key, value);
    return;
  }
  const index = key === "-" ? parent.length : Number(key);
  if (key !== "-" && (!isIndex(key) || index > parent.length)) {
    throw invalid(`${where}: index "${key}" is outside the array of ${parent.length}; use "-" to append.`);
  }
  parent.splice(index, 0, value);
}

/** In an array: overwrites the element, or appends for "-" or the length. In an object: sets. */
function set(target: Target, value: MutableValue, where: string): void {
  const { parent, key } = target;
  if (Array.isArray(parent) && isIndex(key) && Number(key) < parent.length) {
    parent[Number(key)] = value;
    return;
  }
  add(target, value, where);
}

function remove(target: Target, path: string, where: string): MutableValue {
  const value = read(target);
  if (value === undefined) throw invalid(`${where}: nothing to remove at "${path}".`);
  if (Array.isArray(target.parent)) target.parent.splice(Number(target.key), 1);
  else delete target.parent[target.key];
  return value;
}

function increment(target: Target, by: number, path: string, where: string): void {
  const value = read(target) ?? 0;
  if (typeof value !== "number") throw invalid(`${where}: "${path}" is not a number, so it cannot be incremented.`);
  const sum = value + by;
  if (!Number.isFinite(sum)) throw invalid(`${where}: incrementing "${path}" by ${by} overflows.`);
  set(target, sum, where);
}

/** A plain assignment to "__proto__" would change the prototype instead of the document. */
function define(parent: { [key: string]: MutableValue }, key: string, value: MutableValue): void {
  if (key === "__proto__")
    Object.defineProperty(parent, key, { value, writable: true, enumerable: true, configurable: true });
  else parent[key] = value;
}
