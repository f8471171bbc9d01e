/**
 * The request format of the librarian. TrustGraph's fields are accepted with every operation, since its clients always send their complete
 * record, including empty fields. A field of ours is accepted only where it has a meaning, and unknown fields are rejected by name:
 * silently ignoring one would do something other than the sender intended.
 */
import { tagMatches } from "@pinakes/client";
import { z } from "zod";
import { PinakesError } from "../../../../domain/errors.ts";
import { invariant } from "../../../../domain/invariant.ts";

export const managementOperations = [
  "list-collections",
  "create-collection",
  "update-collection",
  "archive-collection",
  "delete-collection",
  "migrate-collection",
] as const;
type Operation = (typeof managementOperations)[number];

/** Per response; a cursor leads to the rest. */
export const librarianListMax = 1_000;
const issuesShownMax = 5;
const wordCharsShown = 100;

const text = z.string();
const time = z.union([z.iso.datetime({ offset: true }), z.literal("")], {
  error: "must be an ISO 8601 time such as 2024-01-15T10:30:00Z",
});

const ofTheSource = {
  operation: text.describe(`One of ${managementOperations.join(", ")}.`),
  user: text.nullish().describe("The caller's own id; optional."),
  collection: text.nullish().describe("The id of the collection; required except for a list."),
  timestamp: time
    .nullish()
    .describe("For information only: updates apply in order of arrival, whatever a client's clock says."),
  name: text.nullish().describe('For an update or a create. If absent, unchanged. "" or null: the id.'),
  description: text.nullish().describe('For an update or a create. If absent, unchanged. "" or null: none.'),
  tags: z.array(text).nullish().describe("For an update or a create. If absent, unchanged. [] or null: none."),
  created_at: text.nullish().describe("Accepted and ignored: the record has its own."),
  updated_at: text.nullish().describe("Accepted and ignored: the record has its own."),
  tag_filter: z.array(text).nullish().describe("For a list: collections with one of these tags."),
  limit: z.int().min(0).max(librarianListMax).nullish().describe("For a list. Absent or 0: unlimited."),
};

const ours = {
  tag_match: z.enum(tagMatches).nullish().describe("list-collections: one of the tags (any), or all of them."),
  cursor: text.nullish().describe("list-collections: `next_cursor` of the previous response."),
  confirm: text.nullish().describe("delete-collection: the id of the collection again, as confirmation."),
  purge: z.boolean().nullish().describe("delete-collection: permanently, bypassing the trash."),
  repository: text
    .nullish()
    .describe("migrate-collection: repository of the collection; defaults to the caller's own."),
  target_collection: text.nullish().describe("migrate-collection: new id; defaults to the current one."),
  target_repository: text.nullish().describe("migrate-collection: target repository; defaults to the current one."),
  allow_partial: z
    .boolean()
    .nullish()
    .describe(
      "migrate-collection: proceed even if an external participant store may have data of it, which is not copied.",
    ),
};

const oursOf: Readonly<Record<Operation, readonly (keyof typeof ours)[]>> = {
  "list-collections": ["tag_match", "cursor"],
  "create-collection": [],
  "update-collection": [],
  "archive-collection": [],
  "delete-collection": ["confirm", "purge"],
  "migrate-collection": ["repository", "target_collection", "target_repository", "allow_partial"],
};

const ManagementRequest = z.strictObject({ ...ofTheSource, ...ours });
export type ManagementRequest = z.output<typeof ManagementRequest> & { readonly operation: Operation };

/** For documentation; `readManagement` validates requests and reports errors in TrustGraph's form. */
export function managementSchema(): Readonly<Record<string, unknown>> {
  const { $schema: _, ...schema } = z.toJSONSchema(ManagementRequest, { io: "input" });
  return schema;
}

export class UnknownOperation extends PinakesError {
  constructor(operation: string) {
    super(
      "INVALID",
      `operation: ${JSON.stringify(operation.slice(0, wordCharsShown))} is not one of ${managementOperations.join(", ")}.`,
    );
  }
}

export function readManagement(body: unknown, userId: string): ManagementRequest {
  // The user is checked first, then the operation, which determines the allowed fields.
  const { data: head } = z.looseObject({ operation: text, user: text.nullish() }).safeParse(body);
  if (typeof head?.user === "string" && head.user !== userId)
    throw new PinakesError(
      "FORBIDDEN",
      `user: the credential belongs to another user. Omit the field, or sign in as this user.`,
    );
  const operation = managementOperations.find((one) => one === head?.operation);
  if (head !== undefined && operation === undefined) throw new UnknownOperation(head.operation);
  const result = ManagementRequest.safeParse(body);
  if (!result.success)
    throw new PinakesError("INVALID", `${result.error.issues.flatMap(sentences).slice(0, issuesShownMax).join("; ")}.`);
  invariant(operation !== undefined, "INTERNAL", "a valid request has an operation");
  const stray = (Object.keys(ours) as (keyof typeof ours)[]).filter(
    (field) => !oursOf[operation].includes(field) && isSaid(result.data[field]),
  );
  if (stray.length > 0)
    throw new PinakesError(
      "INVALID",
      `${stray.map((field) => `${field}: is not allowed for ${operation}`).join("; ")}. Omit it.`,
    );
  return { ...result.data, operation };
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function sentences(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => `${key.slice(0, wordCharsShown)}: is unknown; remove it or correct its name`);
  return [`${issue.path.length === 0 ? "the request" : issue.path.map(String).join(".")}: ${issue.message}`];
}
