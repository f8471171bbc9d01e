/** Redaction rules for tool calls. Applied before anything is stored or compared. */
import type { RedactionRule } from "@pinakes/client";
import { invalid, show } from "../../../domain/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../domain/json.ts";

const masked = "[redacted]";
const roots = ["input_args", "output_result", "error_details", "security_context"];
const pathsMax = 100;
const pathCharsMax = 512;
const toolNameCharsMax = 256;

export function checkRule(rule: unknown): RedactionRule {
  if (!isJsonObject(rule)) throw invalid("A rule is an object: { tool_name, sensitive, drop, mask }.");
  const unknown = Object.keys(rule).find((key) => !["tool_name", "sensitive", "drop", "mask"].includes(key));
  if (unknown !== undefined)
    throw invalid(`${unknown}: is not known here; a rule has tool_name, sensitive, drop and mask.`);
  const { tool_name, sensitive = false } = rule;
  if (typeof tool_name !== "string" || tool_name === "" || tool_name.length > toolNameCharsMax)
    throw invalid(`tool_name: must be a string of 1–${toolNameCharsMax} characters, got ${show(tool_name)}.`);
  if (typeof sensitive !== "boolean") throw invalid(`sensitive: must be true or false, got ${show(sensitive)}.`);
  const [drop, mask] = [checkPaths("drop", rule["drop"]), checkPaths("mask", rule["mask"])];
  if (!sensitive && drop.length === 0 && mask.length === 0)
    throw invalid("A rule needs `sensitive: true`, or paths in `drop` or `mask`.");
  return { tool_name, sensitive, drop, mask };
}

function checkPaths(name: string, paths: JsonValue | undefined): readonly string[] {
  if (paths === undefined) return [];
  if (!Array.isArray(paths) || paths.length > pathsMax)
    throw invalid(`${name}: must be a list of at most ${pathsMax} paths.`);
  for (const path of paths as readonly JsonValue[]) {
    const segments = typeof path === "string" && path.length <= pathCharsMax ? path.split(".") : [""];
    if (segments.includes("") || !roots.includes(segments[0] as string))
      throw invalid(
        `${name}: a path starts with ${roots.join(", ")}, such as "input_args.password" or "output_result.rows.*.ssn"; got ${show(path)}.`,
      );
  }
  return paths as readonly string[];
}

export function redact(document: JsonObject, rule: RedactionRule | undefined): JsonObject {
  if (rule === undefined) return document;
  let kept = document;
  for (const path of rule.drop) kept = change(kept, path.split("."), () => undefined) as JsonObject;
  for (const path of rule.mask) kept = change(kept, path.split("."), () => masked) as JsonObject;
  return rule.sensitive ? withoutContent(kept) : whole(kept);
}

/** Error messages often repeat the input. */
function withoutContent(document: JsonObject): JsonObject {
  const error = document["error_details"];
  const error_details = isJsonObject(error) ? { ...error, error_message: masked, stack_trace: masked } : null;
  return { ...document, input_args: {}, output_result: null, error_details };
}

/** Required parts stay, even if all of one was dropped or masked. */
function whole(document: JsonObject): JsonObject {
  const { input_args, output_result = null, error_details = null, security_context } = document;
  return {
    ...document,
    input_args: isJsonObject(input_args) ? input_args : {},
    output_result,
    error_details:
      isJsonObject(error_details) || document["status"] !== "error"
        ? error_details
        : { error_type: masked, error_message: masked, stack_trace: masked },
    security_context: isJsonObject(security_context)
      ? security_context
      : { user_id: null, ip_address: "", user_agent: "" },
  };
}

/** A copy in which the values at the path are changed; `*` matches every element or property. Undefined removes (in a list: null). */
function change(value: JsonValue, path: readonly string[], to: () => JsonValue | undefined): JsonValue {
  const [segment, ...rest] = path;
  if (segment === undefined) return value;
  if (Array.isArray(value))
    return (value as readonly JsonValue[]).map((element, i) =>
      segment === "*" || segment === String(i) ? (step(element, rest, to) ?? null) : element,
    );
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, child]) => {
      if (child === undefined || (segment !== "*" && segment !== key)) return [[key, child]];
      const changed = step(child, rest, to);
      return changed === undefined ? [] : [[key, changed]];
    }),
  );
}

function step(value: JsonValue, rest: readonly string[], to: () => JsonValue | undefined): JsonValue | undefined {
  return rest.length === 0 ? to() : change(value, rest, to);
}
