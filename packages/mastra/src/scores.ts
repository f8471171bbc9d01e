/** Mastra's scores domain: what scorers said of runs, by scorer, run, entity or span. */
import {
  ScoresStorage,
  type ListScoresByEntityIdInput,
  type ListScoresByRunIdInput,
  type ListScoresByScorerIdInput,
  type ListScoresBySpanInput,
  type ScoreTenancyFilters,
  type StoragePagination,
} from "@mastra/core/storage";
import type { ListScoresResponse, SaveScorePayload, ScoreRowData } from "@mastra/core/evals";
import type { ContainersApi, JsonObject, JsonScalar } from "@pinakes/client";
import { Container, type Document } from "./container.ts";
import { isoTime, toJsonObject } from "./json.ts";
import { takePage, windowOf } from "./page.ts";

/** The score is nested in a property, so that none of its fields has a meaning for the store. */
type ScoreDocument = Document & { readonly row: JsonObject; readonly createdAt: string; readonly updatedAt: string };

export class PinakesScores extends ScoresStorage {
  readonly #container: Container<ScoreDocument>;

  constructor(api: ContainersApi, prefix: string) {
    super();
    const sort = ["/createdAt"];
    this.#container = new Container(api, `${prefix}-scores`, {
      partition_key: "/id",
      indexes: {
        ofScorer: { partition: ["/row/scorerId"], sort },
        ofRun: { partition: ["/row/runId"], sort },
        ofEntity: { partition: ["/row/entityId", "/row/entityType"], sort },
        ofSpan: { partition: ["/row/traceId", "/row/spanId"], sort },
      },
    });
  }

  override async init(): Promise<void> {
    await this.#container.ready();
  }

  override async dangerouslyClearAll(): Promise<void> {
    await this.#container.clear();
  }

  async getScoreById({ id }: { id: string }): Promise<ScoreRowData | null> {
    const document = await this.#container.read({ pk: id, id });
    return document === null ? null : fromDocument(document);
  }

  /** The same id again replaces it; when it was first saved stays. */
  async saveScore(score: SaveScorePayload): Promise<{ score: ScoreRowData }> {
    const given = score as SaveScorePayload & { readonly id?: string; readonly createdAt?: Date };
    const id = given.id ?? crypto.randomUUID();
    const saved = await this.#container.modify({ pk: id, id }, (before) => {
      const now = new Date();
      const createdAt = before?.createdAt ?? isoTime(given.createdAt ?? now);
      return { id, row: toJsonObject(given), createdAt, updatedAt: now.toISOString() };
    });
    return { score: fromDocument(saved as ScoreDocument) };
  }

  async listScoresByScorerId({
    scorerId,
    pagination,
    entityId,
    entityType,
    source,
    filters,
  }: ListScoresByScorerIdInput): Promise<ListScoresResponse> {
    const also = {
      ...(entityId ? { entityId } : {}),
      ...(entityType ? { entityType } : {}),
      ...(source ? { source } : {}),
    };
    return this.#list("ofScorer", { scorerId }, pagination, { ...also, ...tenancy(filters) });
  }

  async listScoresByRunId({ runId, pagination, filters }: ListScoresByRunIdInput): Promise<ListScoresResponse> {
    return this.#list("ofRun", { runId }, pagination, tenancy(filters));
  }

  async listScoresByEntityId({
    entityId,
    entityType,
    pagination,
    filters,
  }: ListScoresByEntityIdInput): Promise<ListScoresResponse> {
    return this.#list("ofEntity", { entityId, entityType }, pagination, tenancy(filters));
  }

  override async listScoresBySpan({
    traceId,
    spanId,
    pagination,
    filters,
  }: ListScoresBySpanInput): Promise<ListScoresResponse> {
    return this.#list("ofSpan", { traceId, spanId }, pagination, tenancy(filters));
  }

  /** Newest first. */
  async #list(
    index: string,
    equals: Readonly<Record<string, string>>,
    { page, perPage }: StoragePagination,
    filter: Readonly<Record<string, JsonScalar>>,
  ): Promise<ListScoresResponse> {
    const window = windowOf(page, perPage, Number.MAX_SAFE_INTEGER);
    const source = this.#container.walk({
      index,
      equals: ofRow(equals),
      order: "desc",
      ...(Object.keys(filter).length > 0 ? { filter: ofRow(filter) } : {}),
    });
    const { items, total, hasMore } = await takePage(source, window);
    return { scores: items.map(fromDocument), pagination: { total, page, perPage: window.perPage, hasMore } };
  }
}

function tenancy(filters: ScoreTenancyFilters | undefined): Readonly<Record<string, JsonScalar>> {
  const { organizationId, projectId } = filters ?? {};
  return {
    ...(organizationId === undefined ? {} : { organizationId }),
    ...(projectId === undefined ? {} : { projectId }),
  };
}

const ofRow = (values: Readonly<Record<string, JsonScalar>>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`row.${name}`, value]));

function fromDocument({ id, row, createdAt, updatedAt }: ScoreDocument): ScoreRowData {
  return { ...row, id, createdAt: new Date(createdAt), updatedAt: new Date(updatedAt) } as unknown as ScoreRowData;
}
