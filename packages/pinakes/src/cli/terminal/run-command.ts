/** Runs a command from its definition: finds it, validates words and options, prints help or the result. */
import { parseArgs } from "node:util";
import {
  Given,
  UsageError,
  usageExitCode,
  type Command,
  type Group,
  type Options,
  type Outcome,
  type RawValues,
} from "./command.ts";
import { suggest } from "./suggest.ts";
import { styled, type Terminal } from "./terminal.ts";

const common: Options = {
  json: { type: "boolean", help: "print the result as JSON only" },
  verbose: { type: "boolean", help: "log details to stderr" },
  help: { type: "boolean", short: "h", help: "this text" },
};

/** For commands that a server can execute, too. */
const serverOptions: Options = {
  url: { type: "string", value: "URL", help: "use this server instead of the stores of this machine (PINAKES_URL)" },
  key: {
    type: "string",
    value: "KEY",
    help: "the API key for it (PINAKES_KEY)",
    elsewhere: ["api-key", "apikey", "token"],
  },
};

/** `name` is the word after `pinakes`; `args` are the following ones. */
export async function runGroup(
  name: string,
  group: Group,
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  if ("command" in group) return runCommand(name, group.command, args, terminal);
  const [word, ...rest] = args;
  if (word === undefined || word === "--help" || word === "-h" || word === "help") {
    (word === undefined ? terminal.err : terminal.out)(groupHelp(name, group, terminal));
    return word === undefined ? usageExitCode : 0;
  }
  const command = Object.hasOwn(group.commands, word) ? group.commands[word] : undefined;
  if (command !== undefined) return runCommand(`${name} ${word}`, command, rest, terminal);
  const meant = suggest(word, Object.keys(group.commands));
  const hint =
    meant === undefined ? `there are ${Object.keys(group.commands).join(", ")}` : `did you mean "${name} ${meant}"?`;
  if (word.startsWith("-")) throw new UsageError(beforeCommand(name, word, group.commands));
  throw new UsageError(`there is no command "${name} ${word}"; ${hint}`);
}

/** An option of one of its commands is misplaced; any other does not exist. */
function beforeCommand(name: string, word: string, commands: Readonly<Record<string, Command>>): string {
  const option = word.replace(/^-+/, "").split("=")[0] ?? "";
  const known: Options = Object.assign(
    {},
    common,
    serverOptions,
    ...Object.values(commands).map(({ options }) => options),
  ) as Options;
  if (Object.hasOwn(known, option)) return `${word} precedes the command; write pinakes ${name} <command> ${word}.`;
  const meant = meantOption(option, known);
  const hint = meant === undefined ? "" : `; did you mean --${meant}?`;
  return `there is no option ${word}${hint}. See pinakes ${name} --help.`;
}

function meantOption(option: string, known: Options): string | undefined {
  const written = option.replaceAll("_", "-").toLowerCase();
  const named = Object.entries(known).find(
    ([name, { elsewhere = [] }]) => name === written || elsewhere.includes(written),
  );
  return named?.[0] ?? suggest(written, Object.keys(known));
}

async function runCommand(
  name: string,
  command: Command,
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const { values, words } = parse(name, command, args);
  if (values["help"] === true) {
    terminal.out(commandHelp(name, command, terminal));
    return 0;
  }
  if (command.localOnly !== undefined && (values["url"] ?? values["key"]) !== undefined)
    throw new UsageError(
      `--url: pinakes ${name} only works on the stores of this machine: ${command.localOnly}. Run it on the machine of the stores.`,
    );
  checkWords(name, command, words);
  const { answer, show, code = 0 }: Outcome = await command.run({ words, given: new Given(values), terminal });
  const text = values["json"] === true ? JSON.stringify(answer, undefined, 2) : show();
  if (text !== "") terminal.out(`${text}\n`);
  return code;
}

function parse(
  name: string,
  command: Command,
  args: readonly string[],
): { values: RawValues; words: readonly string[] } {
  const options = { ...command.options, ...serverOptions, ...common };
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: Object.fromEntries(
        Object.entries(options).map(
          ([option, { type, short, many = false }]) =>
            [option, { type, multiple: many, ...(short === undefined ? {} : { short }) }] as const,
        ),
      ),
    });
    return { values, words: positionals };
  } catch (error) {
    throw new UsageError(`${inOurWords(error, options)} See pinakes ${name} --help.`, { cause: error });
  }
}

/** The useful part of Node's long messages. */
function inOurWords(error: unknown, known: Options): string {
  const message = error instanceof Error ? error.message : String(error);
  const option = /'(-[^\s',=]+)/.exec(message)?.[1] ?? "";
  if (message.includes("is ambiguous"))
    return `${option}: requires a value; write a value that starts with a dash as ${option}=-….`;
  if (!(error instanceof Error && "code" in error && error.code === "ERR_PARSE_ARGS_UNKNOWN_OPTION"))
    return `${message.split("\n")[0]?.replace(/\.?$/, ".")}`;
  const meant = meantOption(option.replace(/^-+/, ""), known);
  return `there is no option ${option}${meant === undefined ? "." : `; did you mean --${meant}?`}`;
}

function checkWords(name: string, { usage, words: [least, most] }: Command, words: readonly string[]): void {
  if (words.length < least) throw new UsageError(`arguments are missing: pinakes ${name} ${usage}`);
  if (words.length > most)
    throw new UsageError(`"${words.slice(most).join(" ")}" is unexpected: pinakes ${name} ${usage}`.trimEnd());
}

function commandHelp(name: string, command: Command, terminal: Terminal): string {
  const { usage, summary, details, options, examples, localOnly } = command;
  return [
    `${styled(terminal, "bold", `pinakes ${name}`)}${usage === "" ? "" : ` ${usage}`}${Object.keys(options).length === 0 ? "" : " [options]"}`,
    `\n${upperFirst(summary)}.${details === undefined ? "" : `\n${details}`}\n`,
    aligned(
      Object.entries({ ...options, ...(localOnly === undefined ? serverOptions : {}), ...common }).map(
        ([option, spec]) => [optionText(option, spec), spec.help],
      ),
    ),
    ...(examples.length === 0
      ? []
      : [
          `\n${styled(terminal, "dim", examples.length === 1 ? "Example" : "Examples")}`,
          ...examples.map((example) => `  ${example}`),
        ]),
    "",
  ].join("\n");
}

function groupHelp(name: string, group: Extract<Group, { commands: unknown }>, terminal: Terminal): string {
  const lines = Object.entries(group.commands).map(
    ([word, { usage, summary }]) => [`${word} ${usage}`.trimEnd(), summary] as const,
  );
  return [
    `${styled(terminal, "bold", `pinakes ${name}`)} <command>\n\n${upperFirst(group.summary)}.\n`,
    aligned(lines),
    `\nOptions and examples: pinakes ${name} <command> --help\n`,
  ].join("\n");
}

function optionText(option: string, { short, value, type }: Option): string {
  return `${short === undefined ? "" : `-${short}, `}--${option}${type === "string" ? ` ${value ?? "TEXT"}` : ""}`;
}

type Option = Options[string];

/** Text that does not fit the first column gets its own line. */
function aligned(lines: readonly (readonly [string, string])[]): string {
  const width = Math.min(firstColumnMax, Math.max(...lines.map(([first]) => first.length)));
  return lines
    .map(([first, second]) =>
      first.length > width ? `  ${first}\n  ${" ".repeat(width)}  ${second}` : `  ${first.padEnd(width)}  ${second}`,
    )
    .join("\n");
}

const firstColumnMax = 40;

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
