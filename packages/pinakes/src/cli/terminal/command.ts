/** The definition of a command: words, options, examples, and action. Help, validation and output are common to all (run-command.ts). */
import { PinakesError, invalid } from "../../domain/errors.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { Terminal } from "./terminal.ts";

export interface Option {
  readonly type: "string" | "boolean";
  readonly short?: string;
  /** The value in the help: N, JSON, a,b. */
  readonly value?: string;
  readonly help: string;
  /** It may be repeated. */
  readonly many?: true;
  /** Its name elsewhere (in the API, in other programs): a user who types that gets the option's name as a hint. */
  readonly elsewhere?: readonly string[];
}
export type Options = Readonly<Record<string, Option>>;

export interface Command<Name extends string = string> {
  /** `<repository/collection> <files…>`; empty if there are none. */
  readonly usage: string;
  /** Number of words after its name. */
  readonly words: readonly [least: number, most: number];
  readonly summary: string;
  /** Details after the summary; lines as they are printed. */
  readonly details?: string;
  readonly options: Readonly<Record<Name, Option>>;
  readonly examples: readonly string[];
  /** Why it works on the stores of this machine only, and not through a server (--url). */
  readonly localOnly?: string;
  readonly run: (call: Call<Name>) => Promise<Outcome>;
}

export interface Call<Name extends string = string> {
  readonly words: readonly string[];
  readonly given: Given<Name>;
  readonly terminal: Terminal;
}

export interface Outcome {
  /** The output of `--json`. */
  readonly answer: unknown;
  /** The same for display. */
  readonly show: () => string;
  /** 0 by default. */
  readonly code?: number;
}

/** A group of commands, or a command itself. */
export type Group =
  | { readonly summary: string; readonly commands: Readonly<Record<string, Command>> }
  | { readonly command: Command };

/** Keeps the option names in the type of the call, and lets commands of different types share a list. */
export function defineCommand<const Name extends string>(command: Command<Name>): Command {
  return command;
}

/** A usage error: exit code 2. */
export class UsageError extends PinakesError {
  constructor(detail: string, options?: { readonly cause?: unknown }) {
    super("INVALID", detail, options);
  }
}

export const usageExitCode = 2;
export const failureExitCode = 1;

export type RawValues = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

/** Parsed values of options. */
export class Given<Name extends string = string> {
  readonly #values: RawValues;

  constructor(values: RawValues) {
    this.#values = values;
  }

  /** For readers of input where these options have another meaning. */
  without(...names: readonly Name[]): Given<Name> {
    return new Given(
      Object.fromEntries(Object.entries(this.#values).filter(([name]) => !names.includes(name as Name))),
    );
  }

  text(name: Name): string | undefined {
    const value = this.#values[name];
    return typeof value === "string" ? value : undefined;
  }

  /** The values of a repeatable option, in order. */
  texts(name: Name): readonly string[] {
    const value = this.#values[name];
    return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
  }

  has(name: Name): boolean {
    return this.#values[name] === true;
  }

  whole(name: Name, least: number, most: number): number | undefined {
    return this.#number(
      name,
      (value) => Number.isInteger(value) && value >= least && value <= most,
      `a whole number from ${least} to ${most}`,
    );
  }

  number(name: Name): number | undefined {
    return this.#number(name, Number.isFinite, "a number");
  }

  json(name: Name): JsonValue | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : readJson(text, `--${name}`);
  }

  list(name: Name): readonly string[] | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : splitList(text);
  }

  oneOf<Value extends string>(name: Name, known: readonly Value[]): Value | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const found = known.find((one) => one.toLowerCase() === text.toLowerCase());
    if (found === undefined) throw new UsageError(`--${name}: must be one of ${known.join(", ")}, got "${text}".`);
    return found;
  }

  #number(name: Name, isFine: (value: number) => boolean, what: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (!isFine(value)) throw new UsageError(`--${name}: must be ${what}, got "${text}".`);
    return value;
  }
}

export function readJson(text: string, where: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw invalid(`${where}: is not JSON: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** `a, b` → a and b; an empty string is an empty list. */
export function splitList(text: string): readonly string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
