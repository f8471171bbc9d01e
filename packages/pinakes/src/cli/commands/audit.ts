/** `pinakes audit …`: who did what, exported, verified, and witnessed. */
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { auditFormats, auditOutcomes, auditVerbs, type AuditCheckpoint, type AuditEntry } from "@pinakes/client";
import { hasCode, invalid, PinakesError } from "../../domain/errors.ts";
import { verifyExport, type Verification } from "../../governance/index.ts";
import { withClient, type ClientSession } from "../client-session.ts";
import { actorOptions } from "../session.ts";
import { defineCommand, failureExitCode, type Group } from "../terminal/command.ts";
import { grid, inTime } from "../terminal/layout.ts";
import { listOptions, moreBelow, readPages } from "../terminal/pages.ts";
import { styled } from "../terminal/terminal.ts";
import { checkPlace, exportInvocations } from "./tools-export.ts";

const list = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "list who did what, newest first",
  details: "For admins, and for keys with the permission audit.",
  options: {
    who: { type: "string", value: "USER", help: "what this user did, or was done for them" },
    action: { type: "string", value: "NAME", help: "such as deleteCollection" },
    verb: { type: "string", value: "VERB", help: auditVerbs.join(", ") },
    outcome: { type: "string", value: "OUTCOME", help: auditOutcomes.join(", ") },
    resource: { type: "string", value: "ID", help: "a kind (collections) or an id (kb, kb/papers)" },
    from: { type: "string", value: "TIME", help: "from this time on" },
    to: { type: "string", value: "TIME", help: "before this time" },
    ...listOptions,
    ...actorOptions,
  },
  examples: ["pinakes audit list --outcome denied", "pinakes audit list --who ada --from 2026-11-01T00:00:00Z --json"],
  run: (call) =>
    withClient(call, async ({ knowledge }) => {
      const { given } = call;
      const query = {
        actor: given.text("who"),
        action: given.text("action"),
        verb: given.oneOf("verb", auditVerbs),
        outcome: given.oneOf("outcome", auditOutcomes),
        resource: given.text("resource"),
        from: given.text("from"),
        to: given.text("to"),
      };
      const page = await readPages(given, (paging) => knowledge.audit.list({ ...query, ...paging }));
      const shown = () =>
        grid(call.terminal, page.items.map(row), { whole: ["action"], optional: ["from"] }) + moreBelow(page);
      return { answer: page, show: () => (page.items.length === 0 ? "No matching entries." : shown()) };
    }),
});

function row({ index, at, actor, acted_for, action, outcome, ids, face, ip }: AuditEntry) {
  const who = actor.id ?? `~${actor.token.slice(0, 8)}`;
  return {
    index,
    at: inTime(at),
    who: acted_for === null ? who : `${who} for ${acted_for.id ?? "~"}`,
    action,
    what: ids["collection"] ?? ids["repository"] ?? Object.values(ids)[0] ?? "",
    outcome,
    from: `${face}${ip === null ? "" : ` ${ip}`}`,
  };
}

const exporting = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "write the log to a file that `pinakes audit verify` checks",
  options: {
    out: { type: "string", value: "FILE", help: "output file (default: stdout)" },
    format: { type: "string", value: "NAME", help: auditFormats.join(", ") },
    first: { type: "string", value: "N", help: "from this entry on (0)" },
    end: { type: "string", value: "N", help: "before this entry (all)" },
    ...actorOptions,
  },
  examples: [
    "pinakes audit export --out audit.ndjson",
    "pinakes audit export --format csv --first 1000 --out audit.csv",
  ],
  run: async (call) => {
    checkPlace(call);
    return withClient(call, async ({ knowledge }) => {
      const { given } = call;
      const [first, end] = [given.whole("first", 0, maxIndex), given.whole("end", 0, maxIndex)];
      const bytes = await knowledge.audit.export({ format: given.oneOf("format", auditFormats), first, end });
      return exportInvocations(call, bytes.pipeThrough(new TextDecoderStream()));
    });
  },
});

const maxIndex = Number.MAX_SAFE_INTEGER;

const verify = defineCommand({
  usage: "<export>",
  words: [1, 1],
  summary: "check an export, offline: nothing missing, nothing changed, signed",
  details:
    "Needs no server and no store. Without --key the keys in the export are used: compare them with those that you know. The exit code is 1 when something is wrong, and the first entry that is wrong is named.",
  options: {
    "public-key": { type: "string", value: "KEY", help: "the public key that must have signed (name+hash+key)" },
    since: { type: "string", value: "FILE", help: "an earlier checkpoint, which the log must continue" },
  },
  examples: [
    "pinakes audit verify audit.ndjson --public-key pinakes-audit+…",
    "pinakes audit verify audit.csv --since checkpoint.txt",
  ],
  run: async ({ words, given, terminal }) => {
    const [word] = words as [string];
    const key = given.text("public-key");
    const since = given.text("since");
    const result = await readable(word, async () =>
      verifyExport(createReadStream(resolve(terminal.cwd, word)), {
        keys: key === undefined ? undefined : [key],
        since: since === undefined ? undefined : await readFile(resolve(terminal.cwd, since), "utf8"),
      }),
    );
    return { answer: result, show: () => verified(terminal, result), code: result.ok ? 0 : failureExitCode };
  },
});

function verified(terminal: Parameters<typeof styled>[0], result: Verification): string {
  if (!result.ok) return `${styled(terminal, "red", "NOT VALID")} at line ${result.line}: ${result.reason}`;
  const { first, end, size, origin, keys, trusted } = result.export;
  const key = trusted ? "by a key that you named" : `by ${keys.join(" and ")}. Compare this key with the known one`;
  return `${styled(terminal, "green", "VALID")}: entries ${first} to before ${end} of ${size} of ${origin}, signed ${key}.`;
}

const checkpoint = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "print a signed checkpoint of the current log; --witness adds a countersignature",
  options: {
    witness: {
      type: "string",
      value: "URL",
      help: "a witness (C2SP tlog-witness), which gets the checkpoint and its proof",
    },
    ...actorOptions,
  },
  examples: [
    "pinakes audit checkpoint > checkpoint.txt",
    "pinakes audit checkpoint --witness https://witness.example.com",
  ],
  run: (call) =>
    withClient(call, async (session) => {
      const made = await session.knowledge.audit.checkpoint();
      const url = call.given.text("witness");
      const note = url === undefined ? made.note : `${made.note}${await witnessed(session, url, made)}`;
      return { answer: { ...made, note }, show: () => note.trimEnd() };
    }),
});

const witnessMsMax = 30_000;

/** The signature lines of the witness. A witness tracks the tree size it has seen, and reports a mismatch with 409. */
async function witnessed({ knowledge }: ClientSession, url: string, { note, size }: AuditCheckpoint): Promise<string> {
  const send = async (from: number): Promise<Response> => {
    const { hashes } = await knowledge.audit.consistency(from, { size });
    const body = `old ${from}\n${hashes.map((hash) => `${hash}\n`).join("")}\n${note}`;
    const address = `${url.replace(/\/+$/, "")}/add-checkpoint`;
    return fetch(address, { method: "POST", body, signal: AbortSignal.timeout(witnessMsMax) });
  };
  let response = await send(0);
  if (response.status === 409) response = await send(Number((await response.text()).trim()));
  const text = await response.text();
  if (response.ok) return text;
  throw new PinakesError("UNAVAILABLE", `The witness refused the checkpoint: ${response.status} ${text.slice(0, 200)}`);
}

async function readable<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (hasCode(error, "INVALID")) throw error;
    throw invalid(`${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

export const audit: Group = {
  summary: "the audit log: who did what, with cryptographic proofs",
  commands: { list, export: exporting, verify, checkpoint },
};
