/** The stored form of the log: the items of one partition per workspace (RFC 0013), and the salts of subjects. */
import { z } from "zod";
import { defineContainer } from "../../containers/index.ts";

export const logPartition = { log: "log" } as const;
const log = z.literal("log");
const format = z.literal(1);

export const Head = z.object({
  id: z.literal("head"),
  log,
  format,
  size: z.int().min(0),
  /** Base64, largest subtree first. */
  frontier: z.array(z.string()),
});
export type Head = z.output<typeof Head>;

/** The leaves of one commit, up to the end of their bundle. */
export const Block = z.object({
  id: z.string(),
  log,
  first: z.int().min(0),
  /** Id of one commit: shows whether a commit without a response succeeded. */
  writer: z.string(),
  leaves: z.array(z.string()),
});

export const Bundle = z.object({ id: z.string(), log, format, leaves: z.array(z.string()) });

export const Tile = z.object({ id: z.string(), log, format, /** Base64, concatenated. */ hashes: z.string() });

export const Sealed = z.object({ id: z.literal("sealed"), log, bundles: z.int().min(0) });

export const StoredCheckpoint = z.object({
  id: z.literal("checkpoint"),
  log,
  format,
  size: z.int().min(0),
  root: z.string(),
  note: z.string(),
});

const LogItem = z.union([Head, Block, Bundle, Tile, Sealed, StoredCheckpoint]);

export const logContainer = defineContainer({ name: "audit-log", partitionKey: ["log"], schema: LogItem });

/** By the hash of kind and id: what to hash and to encrypt with. By the token: whose it is. */
const Subject = z.object({
  id: z.string(),
  subjects: z.literal("subjects"),
  kind: z.string(),
  subject_id: z.string(),
  salt: z.string(),
  token: z.string(),
});
export type Subject = z.output<typeof Subject>;

export const subjectContainer = defineContainer({
  name: "audit-subjects",
  partitionKey: ["subjects"],
  schema: Subject,
});

type Opened<C> = C extends { open: (...parts: never[]) => Promise<infer R> } ? R : never;
export type LogItems = Opened<typeof logContainer>;
export type SubjectItems = Opened<typeof subjectContainer>;

const digits = 14;
const number = (value: number): string => String(value).padStart(digits, "0");

/** In the order of their numbers. */
export const idOf = {
  block: (first: number): string => `b-${number(first)}`,
  bundle: (index: number): string => `e-${number(index)}`,
  tile: (level: number, index: number): string => `t-${level}-${number(index)}`,
};
