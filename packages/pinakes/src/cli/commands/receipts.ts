/** `pinakes receipts …`: the signed receipts of erasures, exported, and verified without a server. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { invalid } from "../../domain/errors.ts";
import { verifyReceipts, type ReceiptsCheck } from "../../governance/index.ts";
import { defineCommand, failureExitCode, UsageError, type Group } from "../terminal/command.ts";
import { styled, type Terminal } from "../terminal/terminal.ts";
import { withGovernance, workspaceOptions } from "./subject-options.ts";
import { checkPlace, exportInvocations } from "./tools-export.ts";

const exporting = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "write the chain of receipts of the workspace, one a line, oldest first",
  options: { out: { type: "string", value: "FILE", help: "output file (default: stdout)" }, ...workspaceOptions },
  examples: ["pinakes receipts export > receipts.txt", "pinakes receipts export --workspace acme --out receipts.txt"],
  run: async (call) => {
    checkPlace(call);
    return withGovernance(call, async ({ knowledge }) => {
      const lines = async function* (): AsyncGenerator<string, void> {
        for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
          const page = await knowledge.receipts.list({ cursor });
          for (const { jws } of page.items) yield `${jws}\n`;
          cursor = page.next_cursor ?? undefined;
        }
      };
      return exportInvocations(call, lines());
    });
  },
});

const key = defineCommand({
  usage: "",
  words: [0, 0],
  summary: "the public key that verifies receipts of this instance",
  details: "Record it when you set up the server: a verifier should not get the key from the issuer of the receipt.",
  options: workspaceOptions,
  examples: ["pinakes receipts key > receipts.pem"],
  run: (call) =>
    withGovernance(call, async ({ knowledge }) => {
      const answer = await knowledge.receipts.key();
      return { answer, show: () => answer.public_key.trimEnd() };
    }),
});

const verify = defineCommand({
  usage: "<file>",
  words: [1, 1],
  summary: "check receipts, offline: signed, unchanged, none missing, none out of its place",
  details:
    "Needs no server and no store. The exit code is 1 when something is wrong. Receipts that are missing at the end are noticed with --head, which an earlier check printed.",
  options: {
    "public-key": { type: "string", value: "FILE", help: "the public key of the instance, in PEM" },
    part: { type: "boolean", help: "the file may start in the middle of the chain" },
    head: { type: "string", value: "HASH", help: "the hash of a receipt that must be in the chain" },
  },
  localOnly: "it needs no server",
  examples: [
    "pinakes receipts verify receipts.txt --public-key receipts.pem",
    "pinakes receipts verify receipts.txt --public-key receipts.pem --head 9f86d081…",
  ],
  run: async ({ words, given, terminal }) => {
    const file = given.text("public-key");
    if (file === undefined)
      throw new UsageError("give the public key: --public-key receipts.pem (pinakes receipts key).");
    const [pem, text] = await Promise.all([read(terminal, file), read(terminal, words[0] as string)]);
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    if (lines.length === 0) throw invalid(`${words[0]} has no receipts.`);
    const answer = verifyReceipts(lines, pem, { whole: !given.has("part"), head: given.text("head") });
    return { answer, show: () => checked(terminal, answer), code: answer.valid ? 0 : failureExitCode };
  },
});

function checked(terminal: Terminal, { valid, receipts: count, findings, head }: ReceiptsCheck): string {
  if (valid)
    return `${styled(terminal, "green", "VALID")}: ${count === 1 ? "1 receipt" : `${count} receipts`}, none missing or changed up to ${head}.`;
  const lines = findings.map(({ line, receipt_id, reason }) => {
    const which = receipt_id === null ? "" : ` (${receipt_id})`;
    return `  ${line === null ? "at the end" : `line ${line}`}${which}: ${reason}`;
  });
  return `${styled(terminal, "red", "NOT VALID")}\n${lines.join("\n")}`;
}

async function read(terminal: Terminal, name: string): Promise<string> {
  try {
    return await readFile(resolve(terminal.cwd, name), "utf8");
  } catch (error) {
    throw invalid(`${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

export const receipts: Group = {
  summary: "signed receipts of erasures, which verify offline",
  commands: { export: exporting, key, verify },
};
