/** Locations of the stores: how the settings spell them, and how they are displayed. */
import { join, resolve } from "node:path";
import { type PinakesError, invalid } from "./domain/errors.ts";
import { isEndpoint } from "./outgoing/http-address.ts";

export interface StoresConfig {
  /** An absolute path. */
  readonly data: string;
  readonly database: string;
  /** If no name was chosen: the default of earlier versions, under which a store is still found. */
  readonly formerDatabase?: string;
  readonly items: ItemsLocation;
  readonly objects: ObjectsLocation;
  readonly queue: QueueLocation;
  /** Absolute path. If present, objects are encrypted at rest. */
  readonly masterKeyFile?: string | undefined;
}

export type ItemsLocation =
  | { readonly engine: "sqlite"; readonly dir: string }
  | { readonly engine: "postgres"; readonly url: string }
  | { readonly engine: "dynamodb"; readonly region: string; readonly prefix: string; readonly endpoint?: string }
  | { readonly engine: "memory" };

export type ObjectsLocation =
  | { readonly driver: "fs"; readonly dir: string }
  | {
      readonly driver: "s3";
      readonly bucket: string;
      readonly prefix: string;
      readonly region?: string;
      readonly endpoint?: string;
    }
  | { readonly driver: "memory" };

export type QueueLocation =
  | { readonly driver: "items" }
  | { readonly driver: "sqs"; readonly region: string; readonly prefix?: string; readonly endpoint?: string };

export interface StoresInput {
  readonly dir?: string | undefined;
  readonly database?: string | undefined;
  readonly items?: string | undefined;
  readonly objects?: string | undefined;
  readonly queue?: string | undefined;
  readonly masterKeyFile?: string | undefined;
}

const databaseDefault = "pinakes";
const formerDatabaseDefault = "project-ascension-db";

/** The locations of the stores; `called` names the settings in messages. */
export function parseStores(
  input: StoresInput,
  called: { dir: string; database: string; items: string; objects: string; queue: string },
): StoresConfig {
  const data = resolve(input.dir ?? "./data");
  const database = input.database ?? databaseDefault;
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,59}$/.test(database)) {
    throw invalid(
      `${called.database}: a name of 1–60 letters, digits, "-" and "_", beginning with a letter or digit; got ${JSON.stringify(database)}.`,
    );
  }
  const items = parseItems(input.items ?? `sqlite:${data}`, { data, database, called: called.items });
  if (input.objects === undefined && isServed(items)) throw objectsNeeded(items, called, join(data, "objects"));
  const named = input.database !== undefined || (items.engine === "dynamodb" && items.prefix !== database);
  return {
    data,
    database,
    ...(named ? {} : { formerDatabase: formerDatabaseDefault }),
    items,
    queue: parseQueue(input.queue ?? "items", called.queue),
    objects: parseObjects(input.objects ?? `file:${join(data, "objects")}`, { data, called: called.objects }),
    ...(input.masterKeyFile === undefined ? {} : { masterKeyFile: resolve(input.masterKeyFile) }),
  };
}

/** Several machines may use it, and the default folder for objects exists on one machine only. */
function isServed({ engine }: ItemsLocation): boolean {
  return engine === "postgres" || engine === "dynamodb";
}

function objectsNeeded(
  { engine }: ItemsLocation,
  called: { items: string; objects: string },
  folder: string,
): PinakesError {
  return invalid(
    `${called.objects}: set the location of the objects, because ${called.items} names a server (${engine}) that other machines can use, and the default ` +
      `folder would be this machine's alone. Write s3://bucket/prefix; or, if only this machine uses the server, file:${folder}.`,
  );
}

function parseItems(
  text: string,
  { data, database, called }: { data: string; database: string; called: string },
): ItemsLocation {
  const [scheme, rest] = split(text);
  switch (scheme) {
    case "sqlite":
      return { engine: "sqlite", dir: rest === "" ? data : resolve(rest) };
    case "postgres":
    case "postgresql":
      if (!URL.canParse(text))
        throw invalid(`${called}: not a valid address; write postgres://user:password@host:5432/name.`);
      return { engine: "postgres", url: text };
    case "dynamodb":
      return parseDynamo(text, database, called);
    case "memory":
      return { engine: "memory" };
    default:
      throw invalid(
        `${called}: ${quoted(text)} is not known; write sqlite:./folder, postgres://user:password@host/name, dynamodb://region/prefix or memory:.`,
      );
  }
}

function parseDynamo(text: string, database: string, called: string): ItemsLocation {
  const form = `${called}: write dynamodb://region/prefix, such as dynamodb://eu-central-1/my-app, with ?endpoint=http://… for a local server; got ${quoted(text)}.`;
  if (!URL.canParse(text)) throw invalid(form);
  const url = new URL(text);
  const prefix = url.pathname.replace(/^\//, "") || database;
  const endpoint = url.searchParams.get("endpoint");
  const others = [...url.searchParams.keys()].some((key) => key !== "endpoint");
  if (url.hostname === "" || prefix.includes("/") || others || (endpoint !== null && !isEndpoint(endpoint)))
    throw invalid(form);
  return { engine: "dynamodb", region: url.hostname, prefix, ...(endpoint === null ? {} : { endpoint }) };
}

function parseObjects(text: string, { data, called }: { data: string; called: string }): ObjectsLocation {
  const [scheme, rest] = split(text);
  if (scheme === "file")
    return { driver: "fs", dir: rest === "" ? join(data, "objects") : resolve(rest.replace(/^\/\/(?=\/)/, "")) };
  if (scheme === "s3") return parseS3(text, called);
  if (scheme === "memory") return { driver: "memory" };
  throw invalid(`${called}: ${quoted(text)} is not known; write file:./folder, s3://bucket/prefix or memory:.`);
}

function parseS3(text: string, called: string): ObjectsLocation {
  const form = `${called}: write s3://bucket/prefix, with ?region=… and, for other providers than Amazon, &endpoint=http://…; got ${quoted(text)}.`;
  if (!URL.canParse(text)) throw invalid(form);
  const url = new URL(text);
  const settings = Object.fromEntries(url.searchParams);
  const { region, endpoint, ...others } = settings;
  const bad =
    url.hostname === "" ||
    Object.keys(others).length > 0 ||
    region === "" ||
    (endpoint !== undefined && !isEndpoint(endpoint));
  if (bad) throw invalid(form);
  const prefix = decodeURIComponent(url.pathname.replace(/^\//, ""));
  return {
    driver: "s3",
    bucket: url.hostname,
    prefix,
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
  };
}

function parseQueue(text: string, called: string): QueueLocation {
  if (text === "items") return { driver: "items" };
  const form = `${called}: write items, or sqs://region/prefix, with ?endpoint=http://… for a local server; got ${quoted(text)}.`;
  if (!text.startsWith("sqs:") || !URL.canParse(text)) throw invalid(form);
  const url = new URL(text);
  const { endpoint, ...others } = Object.fromEntries(url.searchParams);
  const prefix = url.pathname.replace(/^\//, "");
  const bad =
    url.hostname === "" ||
    prefix.includes("/") ||
    Object.keys(others).length > 0 ||
    (endpoint !== undefined && !isEndpoint(endpoint));
  if (bad) throw invalid(form);
  return {
    driver: "sqs",
    region: url.hostname,
    ...(prefix === "" ? {} : { prefix }),
    ...(endpoint === undefined ? {} : { endpoint }),
  };
}

function split(text: string): [string, string] {
  const colon = text.indexOf(":");
  return colon === -1 ? ["", text] : [text.slice(0, colon).toLowerCase(), text.slice(colon + 1)];
}

/** An address without its password, for display. */
export function describeItems(location: ItemsLocation): string {
  switch (location.engine) {
    case "sqlite":
      return `sqlite  ${location.dir}`;
    case "postgres":
      return `postgres  ${withoutPassword(location.url)}`;
    case "dynamodb":
      return `dynamodb  ${location.region}/${location.prefix}${location.endpoint === undefined ? "" : ` at ${location.endpoint}`}`;
    case "memory":
      return "memory  (gone when the process ends)";
  }
}

export function describeObjects(location: ObjectsLocation): string {
  switch (location.driver) {
    case "fs":
      return `folder  ${location.dir}`;
    case "s3":
      return `s3  ${location.bucket}/${location.prefix}${location.endpoint === undefined ? "" : ` at ${location.endpoint}`}`;
    case "memory":
      return "memory  (gone when the process ends)";
  }
}

export function describeQueue(location: QueueLocation): string {
  if (location.driver === "items") return "in the item store";
  return `sqs  ${location.region}/${location.prefix ?? "pinakes"}${location.endpoint === undefined ? "" : ` at ${location.endpoint}`}`;
}

/** Settings end up in terminals and logs; a password must not. */
function quoted(text: string): string {
  return JSON.stringify(withoutPassword(text));
}

function withoutPassword(text: string): string {
  return text.replace(/(\/\/[^/@:]*):.*@/, "$1:…@").replace(/([?&](?:password|sslpassword)=)[^&]*/gi, "$1…");
}
