/** `pinakes doctor`: checks everything that a server needs, and suggests fixes. */
import { statfs } from "node:fs/promises";
import { readConfig, type Config } from "../../config.ts";
import { describeItems, describeObjects, describeQueue } from "../../config-stores.ts";
import { PinakesError } from "../../domain/errors.ts";
import { defineCommand, failureExitCode, type Call, type Group } from "../terminal/command.ts";
import { checkClock, checkFolder, checkNode, checkPort, checkSpace } from "./doctor-machine.ts";
import { checkDatabase, checkModel, checkObjects, checkParser, checkQueue, checkReads } from "./doctor-stores.ts";
import { fields, inMs, oneLine } from "../terminal/layout.ts";
import { withStores } from "../session.ts";
import { styled, type Style, type Terminal } from "../terminal/terminal.ts";

export interface Finding {
  readonly state: "fine" | "warning" | "wrong";
  /** The observation. */
  readonly seen: string;
  /** The suggested fix. */
  readonly advice?: string;
}

export interface Check extends Finding {
  readonly name: string;
  readonly ms: number;
}

const command = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "check the settings, the stores, the model and the machine",
  details:
    "Opens the stores as a server does (creating the data folder if needed), and writes and removes a probe. Exit code 1 if a check fails.",
  options: {},
  examples: ["pinakes doctor", "PINAKES_DATA=/srv/pinakes pinakes doctor --json"],
  localOnly: "it checks the settings, the stores and this machine",
  run: async (call) => {
    const { terminal } = call;
    const checks: Check[] = [];
    const look = async (name: string, check: () => Promise<Finding> | Finding): Promise<Check> => {
      const done = await timed(name, check);
      checks.push(done);
      return done;
    };
    await look("node", checkNode);
    let config: Config | undefined;
    await look("settings", () => {
      config = readConfig(terminal.env);
      return { state: "fine", seen: "all known and valid" };
    });
    if (config !== undefined) await lookAround(call, config, look);
    const settings = config === undefined ? {} : settingsOf(config);
    const wrong = checks.filter(({ state }) => state === "wrong").length;
    return {
      answer: { ok: wrong === 0, checks, settings },
      show: () => text(terminal, checks, settings),
      code: wrong === 0 ? 0 : failureExitCode,
    };
  },
});

export const doctor: Group = { command };

type Look = (name: string, check: () => Promise<Finding> | Finding) => Promise<Check>;

async function lookAround(call: Call, config: Config, look: Look): Promise<void> {
  const { data } = config.stores;
  const folder = await look("data folder", () => checkFolder(data));
  if (folder.state !== "wrong") {
    await look("free space", async () => checkSpace(data, await statfs(data)));
    await look("clock", () => checkClock(data));
  }
  await look("port", () => checkPort(config.host, config.port));
  const opened = await timed("stores", () => lookIntoStores(call, look));
  // Errors inside the stores were reported by their checks; this one reports whether they opened.
  if (opened.state === "wrong") await look("stores", () => opened);
}

async function lookIntoStores(call: Call, look: Look): Promise<Finding> {
  const began = performance.now();
  const work = async ({
    pinakes,
    knowledge,
    caller,
    config,
  }: Parameters<Parameters<typeof withStores>[2]>[0]): Promise<Finding> => {
    const ms = performance.now() - began;
    await look("stores", () => ({ state: "fine", seen: `opened in ${inMs(ms)}` }));
    await look("database", () => checkDatabase(pinakes.info().database, config.stores.database));
    await look("items", () => checkReads(pinakes));
    await look("objects", () => checkObjects(pinakes, caller));
    await look("queue", () => checkQueue(pinakes, caller));
    for (const { id, provider } of knowledge.models)
      await look(`model ${id}`, () => checkModel(pinakes, caller, { id, provider }));
    await look("parsers", () => checkParser(pinakes, caller));
    return { state: "fine", seen: "closed" };
  };
  return withStores(call, "reads", work, { creates: true });
}

async function timed(name: string, check: () => Promise<Finding> | Finding): Promise<Check> {
  const began = performance.now();
  const ms = () => Math.round(performance.now() - began);
  try {
    return { name, ...(await check()), ms: ms() };
  } catch (error) {
    const seen = error instanceof Error ? error.message : String(error);
    return { name, state: "wrong", seen: PinakesError.isInstance(error) ? seen : `unexpected: ${seen}`, ms: ms() };
  }
}

/** The effective settings, without secrets. */
function settingsOf(config: Config): Readonly<Record<string, string>> {
  const { host, port, stores, rootToken, oidc, allowedOrigins, logLevel } = config;
  return {
    address: `${host}:${port}`,
    data: stores.data,
    database: stores.database,
    items: describeItems(stores.items),
    objects: describeObjects(stores.objects),
    queue: describeQueue(stores.queue),
    "root token": rootToken === undefined ? "in the data folder" : "from PINAKES_ROOT_TOKEN",
    "token issuers": oidc === undefined ? "none" : "from PINAKES_OIDC",
    "allowed origins": allowedOrigins.length === 0 ? "none" : allowedOrigins.join(", "),
    "log level": logLevel,
  };
}

const marks: Readonly<Record<Finding["state"], readonly [string, Style]>> = {
  fine: ["✓", "green"],
  warning: ["!", "yellow"],
  wrong: ["✗", "red"],
};

function text(terminal: Terminal, checks: readonly Check[], settings: Readonly<Record<string, string>>): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap(({ name, state, seen, advice }) => {
    const [mark, style] = marks[state];
    const line = `${styled(terminal, style, mark)} ${name.padEnd(width)}  ${oneLine(seen)}`;
    return advice === undefined ? [line] : [line, `  ${" ".repeat(width)}  → ${advice}`];
  });
  const wrong = checks.filter(({ state }) => state === "wrong").length;
  const verdict =
    wrong === 0
      ? styled(terminal, "green", "All is well.")
      : styled(terminal, "red", `${wrong} of ${checks.length} checks failed.`);
  const shown = Object.keys(settings).length === 0 ? [] : ["", fields(terminal, settings)];
  return [...lines, ...shown, "", verdict].join("\n");
}
