/** Lists of collections: of a repository, under both spellings, and of all repositories. */
import type { CollectionSort } from "@pinakes/client";
import { z } from "zod";
import type { Caller } from "../../../domain/caller.ts";
import { invalid, show } from "../../../domain/errors.ts";
import {
  isPersonalId,
  type CollectionQuery,
  type CollectionView as Collection,
  type Knowledge,
} from "../../../knowledge/index.ts";
import { ok, type Route } from "../../framework/index.ts";
import { rid, spellings } from "./collections.ts";
import { lisaRoute } from "./lisa-route.ts";
import { CollectionView, collectionView } from "./objects.ts";
import { jsonToken, pageSize, tokenFields, wholeNumber } from "./query.ts";

const pagesMax = 1_000;
const text = z.string().optional();
const sorting = {
  sortBy: text.describe("name, createdAt (default) or updatedAt."),
  sortOrder: text.describe("asc or desc (default)."),
  filter: text.describe("Part of the name or the description, ignoring case."),
  filterText: text.describe("Alias of filter used by the SDK."),
};
const Pagination = z.object({
  totalCount: z.number().nullable(),
  currentPage: z.number().nullable(),
  totalPages: z.number().nullable(),
});
const pages = { hasNextPage: z.boolean(), hasPreviousPage: z.boolean() };

export function collectionListRoutes(knowledge: Knowledge): readonly Route[] {
  return [...spellings.map(([segment, mark]) => ofRepository(knowledge, segment, mark)), ofAll(knowledge)];
}

function ofRepository(knowledge: Knowledge, segment: string, mark: string): Route {
  return lisaRoute({
    method: "GET",
    path: `/repository/{rid}/${segment}`,
    operationId: `lisaListCollections${mark}`,
    summary: "List the collections of a repository",
    params: z.object({ rid }),
    query: z.object({
      page: text.describe("Used without a token: the page number, from 1."),
      pageSize: pageSize(20),
      ...sorting,
      status: text.describe("ACTIVE, ARCHIVED or DELETED; the first two when absent."),
      statusFilter: text.describe("Alias of status used by the SDK."),
      lastEvaluatedKey: text.describe("The token of the previous page, as JSON; or its fields as separate parameters:"),
      lastEvaluatedKeyCollectionId: text,
      lastEvaluatedKeyStatus: text,
      lastEvaluatedKeyCreatedAt: text,
    }),
    answers: {
      200: {
        description: "A page.",
        schema: z.object({
          collections: z.array(CollectionView),
          pagination: Pagination,
          lastEvaluatedKey: z.record(z.string(), z.string()).nullable(),
          ...pages,
        }),
      },
    },
    handler: async ({ caller, params, query }) => {
      const wanted: CollectionQuery = {
        repositoryId: params.rid,
        ...sortOf(query),
        status: statusOf(query.status ?? query.statusFilter),
        limit: query.pageSize,
      };
      const cursor = query.lastEvaluatedKeyCollectionId ?? jsonCursor(query.lastEvaluatedKey);
      const number = cursor === undefined ? pageOf(query.page) : null;
      const { items, next } = await pageAt(knowledge, caller, wanted, number ?? 1, cursor);
      // This list fits on one page.
      const total = number === 1 && next === null ? items.length : await knowledge.collections.count(caller, wanted);
      const last = items.at(-1);
      return ok({
        collections: items.map(collectionView),
        pagination: { totalCount: total, currentPage: number, totalPages: Math.ceil(total / query.pageSize) },
        lastEvaluatedKey:
          next === null ? null : { collectionId: next, status: last?.status ?? "", createdAt: last?.created_at ?? "" },
        hasNextPage: next !== null,
        hasPreviousPage: cursor !== undefined || (number ?? 1) > 1,
      });
    },
  });
}

function jsonCursor(token: string | undefined): string | undefined {
  const fields = jsonToken(token);
  return fields === undefined ? undefined : tokenFields(fields, ["collectionId"]).collectionId;
}

async function pageAt(
  { collections }: Pick<Knowledge, "collections">,
  caller: Caller,
  query: CollectionQuery,
  number: number,
  cursor: string | undefined,
): Promise<{ readonly items: readonly Collection[]; readonly next: string | null }> {
  let from = cursor;
  for (let page = 1; ; page += 1) {
    const { items, next_cursor } = await collections.list(caller, { ...query, cursor: from });
    if (page === number) return { items, next: next_cursor };
    if (next_cursor === null) return { items: [], next: null };
    from = next_cursor;
  }
}

function pageOf(asked: string | undefined): number {
  if (asked === undefined || asked === "") return 1;
  const page = wholeNumber(asked, "page");
  if (page < 1 || page > pagesMax) throw invalid(`page: must be a whole number from 1 to ${pagesMax}, got ${page}.`);
  return page;
}

const sorts = { name: "name", createdAt: "created_at", updatedAt: "updated_at" } as const satisfies Record<
  string,
  CollectionSort
>;

function sortOf({
  sortBy = "createdAt",
  sortOrder = "desc",
  filter,
  filterText,
}: {
  readonly [Name in keyof typeof sorting]?: string | undefined;
}): Pick<CollectionQuery, "sort" | "order" | "q"> {
  if (!Object.hasOwn(sorts, sortBy))
    throw invalid(`sortBy: must be one of ${Object.keys(sorts).join(", ")}, got ${show(sortBy)}.`);
  const order = sortOrder.toLowerCase();
  if (order !== "asc" && order !== "desc") throw invalid(`sortOrder: must be asc or desc, got ${show(sortOrder)}.`);
  const q = filter || filterText;
  return { sort: sorts[sortBy as keyof typeof sorts], order, ...(q === undefined || q === "" ? {} : { q }) };
}

const statuses = ["ACTIVE", "ARCHIVED", "DELETED", "DELETE_IN_PROGRESS", "DELETE_FAILED"] as const;

function statusOf(asked: string | undefined): CollectionQuery["status"] {
  if (asked === undefined || asked === "") return "live";
  const status = statuses.find((one) => one === asked.toUpperCase());
  if (status === undefined) throw invalid(`status: must be one of ${statuses.join(", ")}, got ${show(asked)}.`);
  return status;
}

function ofAll(knowledge: Knowledge): Route {
  return lisaRoute({
    method: "GET",
    path: "/repository/collections",
    operationId: "lisaListAllCollections",
    summary: "List the collections of all repositories that the caller may use",
    query: z.object({
      pageSize: pageSize(20),
      ...sorting,
      lastEvaluatedKey: text.describe("The unchanged token of the previous page: a JSON string."),
    }),
    answers: {
      200: {
        description: "A page.",
        schema: z.object({
          collections: z.array(CollectionView),
          pagination: Pagination,
          lastEvaluatedKey: z.string().nullable(),
          ...pages,
        }),
      },
    },
    handler: async ({ caller, query }) => {
      const sorted = sortOf(query);
      const filters = { filter: sorted.q ?? null, sortBy: sorted.sort, sortOrder: sorted.order };
      const token = tokenOf(query.lastEvaluatedKey, filters);
      const { items, next } = await sharedPage(
        knowledge,
        caller,
        { ...sorted, status: "live" },
        query.pageSize,
        token?.cursor,
      );
      const offset = (token?.offset ?? 0) + items.length;
      return ok({
        collections: items.map((one) => ({ ...collectionView(one), repositoryName: one.repository_name })),
        pagination: { totalCount: null, currentPage: null, totalPages: null },
        lastEvaluatedKey: next === null ? null : JSON.stringify({ version: "v1", offset, filters, cursor: next }),
        hasNextPage: next !== null,
        hasPreviousPage: token !== undefined,
      });
    },
  });
}

/** Personal repositories are not part of LISA. */
async function sharedPage(
  { collections }: Pick<Knowledge, "collections">,
  caller: Caller,
  query: CollectionQuery,
  limit: number,
  cursor: string | undefined,
): Promise<{ readonly items: readonly Collection[]; readonly next: string | null }> {
  const found: Collection[] = [];
  for (let from = cursor; ;) {
    const page = await collections.list(caller, { ...query, limit: limit - found.length, cursor: from });
    found.push(...page.items.filter(({ repository_id }) => !isPersonalId(repository_id)));
    if (page.next_cursor === null || found.length === limit) return { items: found, next: page.next_cursor };
    from = page.next_cursor;
  }
}

function tokenOf(
  asked: string | undefined,
  filters: object,
): { readonly cursor: string; readonly offset: number } | undefined {
  const token = jsonToken(asked);
  if (token === undefined) return undefined;
  const { cursor } = tokenFields(token, ["cursor"]);
  const { offset } = token;
  if (typeof offset !== "number" || JSON.stringify(token["filters"]) !== JSON.stringify(filters))
    throw invalid("lastEvaluatedKey: belongs to a list with another filter or order; omit it to start over.");
  return { cursor, offset };
}
