/**
 * Path templates: `/v1/repositories/{rid}/collections/{cid}:archive`. The router of Hono cannot parse `/:cid:archive`, so a verb becomes
 * part of the pattern of its parameter (`:cid{[^/:]+:archive}`) and is removed again after matching. A plain parameter in the same position
 * as verbs does not match a bare ":" (only an encoded one), so that a mistyped verb is a 404 and not an id.
 */
import { invariant } from "../../domain/invariant.ts";

interface Segment {
  readonly literal: string;
  readonly parameter?: string;
  /** After the parameter: ":archive". */
  readonly verb?: string;
  /** `{name*}`: the rest of the path, including slashes. */
  readonly rest?: boolean;
}

export interface PathTemplate {
  readonly text: string;
  readonly segments: readonly Segment[];
  readonly parameters: readonly string[];
}

export function parsePathTemplate(text: string): PathTemplate {
  invariant(/^\/[^?#\s]*$/.test(text), "INTERNAL", `The path "${text}" must start with "/" and contain no query.`);
  const segments = text
    .slice(1)
    .split("/")
    .map((part): Segment => {
      const found = /^\{(\w+)(\*)?\}(:[A-Za-z]\w*)?$/.exec(part);
      if (found === null) {
        invariant(
          !/[{}*]/.test(part) && !part.startsWith(":"),
          "INTERNAL",
          `The path "${text}" has a segment "${part}" that is neither plain nor {name} nor {name}:verb.`,
        );
        return { literal: part };
      }
      return {
        literal: "",
        parameter: found[1] as string,
        ...(found[2] === undefined ? {} : { rest: true }),
        ...(found[3] === undefined ? {} : { verb: found[3] }),
      };
    });
  const restsBefore = segments.slice(0, -1).some(({ rest }) => rest === true);
  invariant(
    !restsBefore && (segments.at(-1)?.rest !== true || segments.at(-1)?.verb === undefined),
    "INTERNAL",
    `The path "${text}" has {name*} before its end.`,
  );
  const parameters = segments.flatMap(({ parameter }) => parameter ?? []);
  invariant(
    new Set(parameters).size === parameters.length,
    "INTERNAL",
    `The path "${text}" contains a parameter twice.`,
  );
  // The reference shows it as an ordinary parameter, since OpenAPI has no other kind.
  return { text: text.replace("*}", "}"), segments, parameters };
}

/** The pattern for Hono; `siblings` are all templates of the app, to find out which positions have verbs. */
export function honoPattern(template: PathTemplate, siblings: readonly PathTemplate[]): string {
  const parts = template.segments.map(({ literal, parameter, verb, rest }, i) => {
    if (parameter === undefined) return literal;
    if (rest === true) return `:${parameter}{.+}`;
    if (verb !== undefined) return `:${parameter}{[^/:]+${verb}}`;
    const verbsHere = siblings.some(
      (other) => other.segments.length > i && other.segments[i]?.verb !== undefined && samePlace(template, other, i),
    );
    return verbsHere ? `:${parameter}{[^/:]+}` : `:${parameter}`;
  });
  return `/${parts.join("/")}`;
}

/** The parameters without the verb. */
export function stripVerbs(template: PathTemplate, matched: Readonly<Record<string, string>>): Record<string, string> {
  const params: Record<string, string> = {};
  for (const { parameter, verb } of template.segments) {
    if (parameter === undefined) continue;
    const value = matched[parameter] ?? "";
    params[parameter] = verb === undefined ? value : value.slice(0, -verb.length);
  }
  return params;
}

/** Plain segments before verbs before parameters, so that /collections/search is never an id. Equal: the same route. */
export function comparePaths(a: PathTemplate, b: PathTemplate): number {
  for (let i = 0; i < Math.max(a.segments.length, b.segments.length); i += 1) {
    const difference = rank(a.segments[i]) - rank(b.segments[i]);
    if (difference !== 0) return difference;
    const x = `${a.segments[i]?.literal}${a.segments[i]?.verb ?? ""}`;
    const y = `${b.segments[i]?.literal}${b.segments[i]?.verb ?? ""}`;
    if (x !== y) return x < y ? -1 : 1;
  }
  return 0;
}

function rank(segment: Segment | undefined): number {
  if (segment === undefined) return 0;
  if (segment.parameter === undefined) return 1;
  if (segment.rest === true) return 4;
  return segment.verb === undefined ? 3 : 2;
}

function samePlace(a: PathTemplate, b: PathTemplate, end: number): boolean {
  return a.segments.slice(0, end).every((segment, i) => {
    const other = b.segments[i];
    return (
      other !== undefined &&
      (segment.parameter !== undefined || other.parameter !== undefined || segment.literal === other.literal)
    );
  });
}
