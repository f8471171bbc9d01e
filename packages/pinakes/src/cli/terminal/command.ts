/** What a command is: its words, its options, its examples, and what it does. Help, checks and output are the same for all (run-command.ts). */
import { PinakesError, invalid } from "../../domain/errors.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { Terminal } from "./terminal.ts";

export interface Option {
  readonly type: "string" | "boolean";
  readonly short?: string;
  /** What stands after it in the help: N, JSON, a,b. */
  readonly value?: string;
  readonly help: string;
  /** It may be given several times. */
  readonly many?: true;
  /** What it is called elsewhere (in the API, in other programs): whoever writes that is told the name it has here. */
  readonly elsewhere?: readonly string[];
}
export type Options = Readonly<Record<string, Option>>;

export interface Command<Name extends string = string> {
  /** `<repository/collection> <files…>`; empty when there are none. */
  readonly usage: string;
  /** How many words it takes after its name. */
  readonly words: readonly [least: number, most: number];
  readonly summary: string;
  /** More than the summary says; lines as they are printed. */
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
  /** What `--json` prints. */
  readonly answer: unknown;
  /** The same for people. */
  readonly show: () => string;
  /** 0 when absent. */
  readonly code?: number;
}

/** A word with commands below it, or a command itself. */
export type Group =
  | { readonly summary: string; readonly commands: Readonly<Record<string, Command>> }
  | { readonly command: Command };

/** Keeps the names of the options in the type of the call, and lets the command stand beside others. */
export function defineCommand<const Name extends string>(command: Command<Name>): Command {
  return command;
}

/** A mistake on the command line itself: exit code 2. */
export class UsageError extends PinakesError {
  constructor(detail: string, options?: { readonly cause?: unknown }) {
    super("INVALID", detail, options);
  }
}

export const usageExitCode = 2;
export const failureExitCode = 1;

export type RawValues = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

/** The values of options, read as what they should be. */
export class Given<Name extends string = string> {
  readonly #values: RawValues;

  constructor(values: RawValues) {
    this.#values = values;
  }

  text(name: Name): string | undefined {
    const value = this.#values[name];
    return typeof value === "string" ? value : undefined;
  }

  /** Of an option that may be given several times, in the order they were given. */
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

/** `a, b` → a and b; an empty text is an empty list. */
export function splitList(text: string): readonly string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
