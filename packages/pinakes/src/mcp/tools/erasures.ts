/** Erasures: a dry run unless the client's user confirms. Models cannot confirm for the user: there is no argument for it. */
import { erasureStates, erasureSubjectTypes, type Erasure, type ErasureSubject } from "@pinakes/client";
import { z } from "zod";
import { ErasurePaths, ErasureSubject as Subject } from "../../contract/index.ts";
import { changes, defineTool, reads, type Consequence, type McpTool, type ToolAnswer } from "../tool.ts";
import { receiptUri } from "../uris.ts";
import { timeoutSeconds, waitUntilOver } from "../wait-until.ts";

const count = z.number();
const ErasureOutput = z.looseObject({
  erasure_id: z.string(),
  state: z
    .enum(erasureStates)
    .describe("done_live: nothing is left. held: a legal hold keeps the rest. counted: a dry run, nothing changed."),
  subject: z.looseObject({ type: z.enum(erasureSubjectTypes), hmac: z.string() }),
  dry_run: z.boolean(),
  stores: z.array(
    z.looseObject({ store: z.string(), found: count, deleted: count, held: count, remaining: count.nullable() }),
  ),
  error: z.string().nullable(),
  receipt_id: z.string().nullable(),
  finished_at: z.string().nullable(),
});

export const erasureTools: readonly McpTool[] = [
  defineTool({
    name: "erasure_request",
    title: "Erase a subject",
    description:
      "Erases everything that names a user, an agent, a session, documents or the workspace, from every store, permanently. The client's user is asked first; if the client cannot ask, or the user declines, it is a dry run that counts and changes nothing. Admins only. erasure_status reports the progress.",
    input: z.strictObject({ subject: Subject, paths: ErasurePaths }),
    output: ErasureOutput,
    annotations: { ...changes, idempotentHint: true },
    consequence: async ({ knowledge }, args): Promise<Consequence> => {
      const counted = await knowledge.erasures.request({ ...args, dry_run: true });
      const question = `Erase ${named(args.subject)} permanently?`;
      const found = `${rowsOf(counted)} would be erased.`;
      return {
        question,
        details: found,
        dryRun: answerOf(
          counted,
          `Nothing was erased: a dry run. ${found} Only the client's user can confirm an erasure; an admin can also use POST /v1/erasures.`,
        ),
        confirmed: args,
      };
    },
    run: async ({ knowledge }, args) => {
      const erasure = await knowledge.erasures.request(args);
      return answerOf(erasure, `The erasure ${erasure.erasure_id} has started. erasure_status reports the progress.`);
    },
  }),
  defineTool({
    name: "erasure_status",
    title: "State of an erasure",
    description:
      "The progress of an erasure, with counts per store, and a link to its signed receipt once it is done. With timeout_seconds it waits for the end, with progress notifications. Admins only.",
    input: z.strictObject({ erasure_id: z.string().min(1).max(256), timeout_seconds: timeoutSeconds(0) }),
    output: ErasureOutput,
    annotations: reads,
    run: async (context, { erasure_id, timeout_seconds = 0 }) => {
      const erasure = await waitUntilOver(
        context,
        {
          read: () => context.knowledge.erasures.get(erasure_id),
          isOver: ({ finished_at }) => finished_at !== null,
          report: ({ state, stores }) => ({
            done: stores.reduce((sum, { deleted, redacted, anonymised }) => sum + deleted + redacted + anonymised, 0),
            total: stores.length === 0 ? undefined : foundIn(stores),
            message: `erasure: ${state}`,
          }),
        },
        timeout_seconds,
      );
      return answerOf(erasure, `The erasure is in the state ${erasure.state}.`);
    },
  }),
];

function named({ type, id, document_ids = [], repository_id, collection_id }: ErasureSubject): string {
  if (type !== "documents") return `everything that names the ${type} "${id}"`;
  return `${document_ids.length} document(s) of ${repository_id}/${collection_id} (${document_ids.join(", ")})`;
}

function foundIn(stores: Erasure["stores"]): number {
  return stores.reduce((sum, { found }) => sum + found, 0);
}

function rowsOf({ stores }: Erasure): string {
  const holding = stores.filter(({ found }) => found > 0);
  return `${foundIn(stores)} row(s) in ${holding.length} store(s)`;
}

function answerOf(erasure: Erasure, text: string): ToolAnswer {
  return {
    structured: erasure,
    content: [
      { type: "text", text },
      { type: "text", text: JSON.stringify(erasure) },
      ...(erasure.receipt_id === null
        ? []
        : [
            {
              type: "resource_link" as const,
              uri: receiptUri(erasure.erasure_id),
              name: `receipt of ${erasure.erasure_id}`,
              mimeType: "application/json",
            },
          ]),
    ],
  };
}
