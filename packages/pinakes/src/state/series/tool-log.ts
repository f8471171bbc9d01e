/** The append-only log of tool invocations, redacted before it is stored. */
import { randomUUID } from "node:crypto";
import type {
  AggregateResult,
  ChainCheck,
  IngestOptions,
  IngestResult,
  NewToolInvocation,
  Page,
  NewRedactionRule,
  RedactionRule,
  Stored,
  ToolAggregate,
  ToolInvocation,
  ToolLogSettings,
  StoredDocument,
  ToolQuery,
} from "@pinakes/client";
import type { RegisteredWork } from "../../containers/index.ts";
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import { reservedIdPrefix } from "../system-container.ts";
import { itemsOf } from "../../runtime/pages.ts";
import { Aggregates } from "./aggregate/aggregates.ts";
import { chainCompanion, ownTtl } from "./ingest/chain.ts";
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import { valueAt } from "../../domain/path.ts";
import { Hours, type HoursOptions } from "./aggregate/hours.ts";
import { Ingest, numberedLines, type IncomingLine } from "./ingest/ingest.ts";
import { chooseIndex } from "./list-choice.ts";
import { asStored, listRows } from "./list-rows.ts";
import { prepareRow, type PreparedRow } from "./ingest/prepare-row.ts";
import { redact } from "./ingest/redaction.ts";
import { Sealing } from "./aggregate/sealing.ts";
import type { SeriesDependencies } from "./series.ts";
import { toolIndexes, toolInvocations, toolSeries } from "./tool-document.ts";
import { ToolSettings } from "./tool-settings.ts";
import { verifyChain } from "./verify-chain.ts";

const exportPageItems = 500;

export class ToolLog {
  readonly #deps: SeriesDependencies;
  readonly #ingest: Ingest;
  readonly #hours: Hours;
  readonly #sealing: Sealing;
  readonly #settings: ToolSettings;
  readonly #aggregates: Aggregates;

  constructor(deps: SeriesDependencies, options: HoursOptions = {}) {
    this.#deps = deps;
    this.#ingest = new Ingest(deps.items, toolSeries);
    this.#hours = new Hours(deps, toolSeries, options);
    this.#aggregates = new Aggregates(deps, this.#hours);
    this.#sealing = new Sealing(deps, toolSeries, this.#hours);
    this.#settings = new ToolSettings(deps.items);
  }

  async open(): Promise<void> {
    await this.#deps.items.openContainer(toolInvocations.definition);
  }

  async ingest(
    caller: Caller,
    invocations: readonly NewToolInvocation[],
    options: IngestOptions = {},
  ): Promise<IngestResult> {
    requireCaller(caller);
    return this.ingestLines(caller, numberedLines(invocations), options);
  }

  /** A single invocation, with the same redaction and chain; an existing id is a conflict, whatever its content. */
  async create(caller: Caller, document: JsonObject): Promise<StoredDocument> {
    const { clock } = this.#deps;
    const given = { ...document, id: document["id"] ?? `${toolSeries.idPrefix}${randomUUID()}` };
    const timestamp = document["timestamp"] ?? new Date(clock.now()).toISOString();
    const day = document["tool_date"] ?? (typeof timestamp === "string" ? timestamp.slice(0, 10) : undefined);
    const { lines, duplicates } = await this.ingest(caller, [{ ...given, timestamp } as never], { report: "all" });
    const { error, status = 400 } = lines[0] ?? {};
    if (error !== undefined) throw new PinakesError(status === 409 ? "CONFLICT" : "INVALID", error.detail);
    if (duplicates > 0) throw new PinakesError("CONFLICT", `Tool invocation ${show(given.id)} already exists.`);
    return (await this.get(caller, day as string, given.id as string)) as unknown as StoredDocument;
  }

  /** The same for lines read from a file, with their numbers. */
  async ingestLines(
    caller: Caller,
    lines: readonly IncomingLine[],
    options: IngestOptions = {},
  ): Promise<IngestResult> {
    const scope = requireCaller(caller);
    const { items, clock } = this.#deps;
    const [rules, { hash_chain }] = await Promise.all([this.#settings.rules(scope), this.#settings.settings(scope)]);
    const now = clock.now();
    const prepare = (value: unknown): PreparedRow => {
      const row = prepareRow(toolSeries, scope.tenant, value, now, randomUUID);
      if (hash_chain && row.document["ttl"] !== undefined) throw ownTtl();
      // Only the chain sets this property.
      const { chain: _chain, ...document } = redact(row.document, rules.get(row.document["tool_name"] as string));
      return { ...row, document };
    };
    return this.#ingest.run({
      scope,
      lines,
      options,
      prepare,
      companion: chainCompanion(items, clock, hash_chain),
      announce: (rows) => this.#sealing.announce(scope, rows),
    });
  }

  async list(caller: Caller, query: ToolQuery = {}): Promise<Page<Stored<ToolInvocation>>> {
    const scope = requireCaller(caller);
    const { items, next_cursor } = await this.#page(scope, query);
    return { items, next_cursor };
  }

  async get(caller: Caller, toolDate: string, id: string): Promise<Stored<ToolInvocation>> {
    const scope = requireCaller(caller);
    if (typeof toolDate !== "string" || typeof id !== "string")
      throw invalid("An invocation is identified by its date and id.");
    const item = id.startsWith(reservedIdPrefix)
      ? undefined
      : await this.#deps.items.read(scope, toolSeries.container, { partition: [toolDate], id });
    if (item === undefined)
      throw new PinakesError("NOT_FOUND", `There is no tool invocation ${show(id)} on ${show(toolDate)}.`);
    return asStored<Stored<ToolInvocation>>(item);
  }

  async aggregate(caller: Caller, query: ToolAggregate): Promise<AggregateResult> {
    return this.#aggregates.run(caller, query);
  }

  /** Chunks of complete lines; concatenated they are the file. Oldest first by default. */
  export(
    caller: Caller,
    query: Omit<ToolQuery, "limit" | "cursor"> & { readonly format: ExportFormat },
  ): AsyncIterable<string> {
    const scope = requireCaller(caller);
    const { format, order = "asc", ...rest } = query;
    if (format !== "ndjson" && format !== "csv")
      throw invalid(`format: must be "ndjson" or "csv", got ${show(format)}.`);
    const lines = () => this.#lines(scope, { ...rest, order }, format);
    return this.#deps.places?.exports.stream(scope.tenant, lines) ?? lines();
  }

  async rules(caller: Caller): Promise<{ readonly items: readonly RedactionRule[] }> {
    const rules = await this.#settings.rules(requireCaller(caller));
    return { items: [...rules.values()].toSorted((a, b) => (a.tool_name < b.tool_name ? -1 : 1)) };
  }

  async putRule(caller: Caller, rule: NewRedactionRule): Promise<RedactionRule> {
    requireCaller(caller);
    return this.#settings.putRule(caller, rule);
  }

  async deleteRule(caller: Caller, toolName: string): Promise<void> {
    requireCaller(caller);
    await this.#settings.deleteRule(caller, toolName);
  }

  async settings(caller: Caller): Promise<ToolLogSettings> {
    return this.#settings.settings(requireCaller(caller));
  }

  async putSettings(caller: Caller, settings: ToolLogSettings): Promise<ToolLogSettings> {
    requireCaller(caller);
    return this.#settings.putSettings(caller, settings);
  }

  async verifyChain(caller: Caller, toolDate: string): Promise<ChainCheck> {
    const scope = requireCaller(caller);
    const { items, clock } = this.#deps;
    if (typeof toolDate !== "string" || !/^\d{4}-\d\d-\d\d$/.test(toolDate))
      throw invalid(`tool_date: must be a date such as 2030-01-01, got ${show(toolDate)}.`);
    return verifyChain(items, scope, toolDate, clock.now());
  }

  /** Processes due work. */
  async process(entry: RegisteredWork): Promise<void> {
    await this.#sealing.process(entry);
  }

  async *#lines(scope: Scope, query: ToolQuery, format: ExportFormat): AsyncGenerator<string> {
    const head = exportHead(format);
    if (head !== undefined) yield head;
    for await (const item of itemsOf((cursor) => this.#page(scope, { ...query, limit: exportPageItems, cursor })))
      yield exportLine(item as never, format);
  }

  async #page(scope: Scope, query: ToolQuery): Promise<Page<Stored<ToolInvocation>>> {
    const { tool_name, agent_id, session_id, workflow_id, status } = query;
    const choice = chooseIndex(
      scope.tenant,
      toolSeries,
      { session_id, workflow_id, agent_id, tool_name, status },
      toolIndexes,
    );
    const { items, cursor } = await listRows(this.#deps.items, scope, toolSeries, choice, query);
    return { items: items.map((item) => asStored<Stored<ToolInvocation>>(item)), next_cursor: cursor ?? null };
  }
}

/** The tool log as a file: NDJSON, or CSV (RFC 4180) with formula injection prevented. */
type ExportFormat = "ndjson" | "csv";

const columns: Readonly<Record<string, readonly string[]>> = {
  id: ["id"],
  tool_date: ["tool_date"],
  timestamp: ["timestamp"],
  tool_name: ["tool_name"],
  agent_id: ["agent_id"],
  workspace_id: ["workspace_id"],
  session_id: ["session_id"],
  workflow_id: ["workflow_id"],
  status: ["status"],
  duration_ms: ["duration_ms"],
  input_args: ["input_args"],
  output_result: ["output_result"],
  error_type: ["error_details", "error_type"],
  error_message: ["error_details", "error_message"],
  stack_trace: ["error_details", "stack_trace"],
  user_id: ["security_context", "user_id"],
  ip_address: ["security_context", "ip_address"],
  user_agent: ["security_context", "user_agent"],
  created_at: ["created_at"],
};

/** A header before the first row; undefined: none. */
function exportHead(format: ExportFormat): string | undefined {
  return format === "csv" ? `${Object.keys(columns).join(",")}\r\n` : undefined;
}

/** One row, with its end of line. */
function exportLine(document: JsonObject, format: ExportFormat): string {
  if (format === "ndjson") return `${JSON.stringify(document)}\n`;
  return `${Object.values(columns)
    .map((path) => cell(valueAt(document, path)))
    .join(",")}\r\n`;
}

function cell(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
