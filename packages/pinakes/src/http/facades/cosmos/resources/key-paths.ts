/** Paths of partition keys and unique keys: `/a/b`, `/"a b"/c`. */
import { show } from "../../../../domain/errors.ts";
import type { JsonValue } from "../../../../domain/json.ts";
import { badRequest } from "../errors.ts";

const pathCharsMax = 500;
const step = /\/(?:"((?:[^"\\]|\\.)*)"|([^/"*?]+))/y;

export function checkKeyPath(path: JsonValue): string {
  if (typeof path !== "string" || path === "" || !path.startsWith("/"))
    throw badRequest(
      `The partition key component definition path '${typeof path === "string" ? path : show(path)}' could not be accepted, failed near position '0'. Partition key paths must contain only valid characters and not contain a trailing slash or wildcard character.`,
    );
  stepsOf(path);
  return path;
}

/** As an RFC 6901 pointer. */
export function pointerOf(path: string): string {
  return stepsOf(path)
    .map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
}

function stepsOf(path: string): readonly string[] {
  const steps: string[] = [];
  let at = 0;
  while (at < path.length && path.length <= pathCharsMax) {
    step.lastIndex = at;
    const found = step.exec(path);
    if (found === null) break;
    steps.push(found[1] ?? (found[2] as string));
    at = step.lastIndex;
  }
  if (at === path.length) return steps;
  throw badRequest(
    `The partition key component definition path '${path.slice(0, 100)}' could not be accepted, failed near position '${at}'. Partition key paths must contain only valid characters and not contain a trailing slash or wildcard character.`,
  );
}
