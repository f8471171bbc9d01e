/**
 * What the librarian is asked. The fields of the source are taken with every operation, since its clients send the whole of their record,
 * empty ones included. A field of ours is taken only where it means something, and what nobody knows is refused by name: a field that is
 * passed over in silence would do something else than its sender meant.
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

/** Of one answer; there is a cursor for more. */
export const librarianListMax = 1_000;
const issuesShownMax = 5;
const wordCharsShown = 100;

const text = z.string();
const time = z.union([z.iso.datetime({ offset: true }), z.literal("")], {
  error: "must be an ISO 8601 time such as 2024-01-15T10:30:00Z",
});

const ofTheSource = {
  operation: text.describe(`One of ${managementOperations.join(", ")}.`),
  user: text.nullish().describe("The caller's own id, or absent."),
  collection: text.nullish().describe("The id of the collection; needed but for a list."),
  timestamp: time
    .nullish()
    .describe("For information only: what comes later is later, whatever a client's clock says."),
  name: text.nullish().describe('Of an update or a create. Absent: as it is. "" or null: the id.'),
  description: text.nullish().describe('Of an update or a create. Absent: as it is. "" or null: none.'),
  tags: z.array(text).nullish().describe("Of an update or a create. Absent: as they are. [] or null: none."),
  created_at: text.nullish().describe("Taken and passed over: the record has its own."),
  updated_at: text.nullish().describe("Taken and passed over: the record has its own."),
  tag_filter: z.array(text).nullish().describe("Of a list: those that have one of these tags."),
  limit: z.int().min(0).max(librarianListMax).nullish().describe("Of a list. Absent or 0: as many as there are."),
};

const ours = {
  tag_match: z.enum(tagMatches).nullish().describe("list-collections: one of the tags (any), or all of them."),
  cursor: text.nullish().describe("list-collections: `next_cursor` of the answer before."),
  confirm: text.nullish().describe("delete-collection: the id of the collection again, as a sign that it is meant."),
  purge: z.boolean().nullish().describe("delete-collection: for good, and not to the trash."),
  repository: text
    .nullish()
    .describe("migrate-collection: where the collection is; the caller's own repository when absent."),
  target_collection: text.nullish().describe("migrate-collection: the id it gets; the one it has when absent."),
  target_repository: text.nullish().describe("migrate-collection: where it goes; where it is when absent."),
  allow_partial: z
    .boolean()
    .nullish()
    .describe("migrate-collection: although a store of another process may hold something of it, which is not copied."),
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

/** For readers of the interface; what is wrong with a request is told by `readManagement`, in the form of the source. */
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
  // Whose it is comes first; then the operation, since what fields there may be depends on it.
  const { data: head } = z.looseObject({ operation: text, user: text.nullish() }).safeParse(body);
  if (typeof head?.user === "string" && head.user !== userId)
    throw new PinakesError(
      "FORBIDDEN",
      `user: the credential is that of another user. Leave it out, or sign in as this one.`,
    );
  const operation = managementOperations.find((one) => one === head?.operation);
  if (head !== undefined && operation === undefined) throw new UnknownOperation(head.operation);
  const result = ManagementRequest.safeParse(body);
  if (!result.success)
    throw new PinakesError("INVALID", `${result.error.issues.flatMap(sentences).slice(0, issuesShownMax).join("; ")}.`);
  invariant(operation !== undefined, "INTERNAL", "a request that fits has an operation");
  const stray = (Object.keys(ours) as (keyof typeof ours)[]).filter(
    (field) => !oursOf[operation].includes(field) && isSaid(result.data[field]),
  );
  if (stray.length > 0)
    throw new PinakesError(
      "INVALID",
      `${stray.map((field) => `${field}: is not for ${operation}`).join("; ")}. Leave it out.`,
    );
  return { ...result.data, operation };
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function sentences(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => `${key.slice(0, wordCharsShown)}: is not known here; remove it or correct its name`);
  return [`${issue.path.length === 0 ? "the request" : issue.path.map(String).join(".")}: ${issue.message}`];
}
