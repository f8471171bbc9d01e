/** The rules and settings of a workspace's tool log, kept in state-settings; changed by its admins. */
import { hash } from "node:crypto";
import type { NewRedactionRule, RedactionRule, ToolLogSettings } from "@pinakes/client";
import type { Caller } from "../../domain/caller.ts";
import { hasCode, PinakesError, invalid, show } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { limits } from "../../domain/limits.ts";
import type { Scope } from "../../domain/scope.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { settingsContainer } from "../settings.ts";
import { everyItem } from "../../containers/every-item.ts";
import { checkRule } from "./ingest/redaction.ts";

const rulesMax = 1_000;
const redaction = "redaction";
const toolLog = "tool-log";
const settingsId = "settings";

export class ToolSettings {
  readonly #items: ItemStore;

  constructor(items: ItemStore) {
    this.#items = items;
  }

  /** By tool; read at every ingestion, so that a rule applies immediately. */
  async rules(scope: Scope): Promise<ReadonlyMap<string, RedactionRule>> {
    const found = new Map<string, RedactionRule>();
    for await (const { document } of everyItem(this.#items, scope, settingsContainer.name, {
      equals: { topic: redaction },
      limit: limits.pageItemsMax,
    })) {
      const rule = fromStored(document);
      found.set(rule.tool_name, rule);
    }
    return found;
  }

  async putRule(caller: Caller, input: NewRedactionRule): Promise<RedactionRule> {
    requireAdmin(caller);
    const rule = checkRule(input);
    const known = await this.rules(caller.scope);
    if (known.size >= rulesMax && !known.has(rule.tool_name))
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `A workspace has at most ${rulesMax} redaction rules; delete one first.`,
      );
    const document = { id: ruleId(rule.tool_name), topic: redaction, ...rule } as unknown as JsonObject;
    await this.#items.write(caller.scope, settingsContainer.name, [redaction], { op: "upsert", document });
    return rule;
  }

  async deleteRule(caller: Caller, toolName: string): Promise<void> {
    requireAdmin(caller);
    try {
      await this.#items.write(caller.scope, settingsContainer.name, [redaction], {
        op: "delete",
        id: ruleId(toolName),
      });
    } catch (error) {
      if (!hasCode(error, "NOT_FOUND")) throw error;
      throw new PinakesError("NOT_FOUND", `There is no redaction rule for tool ${show(toolName)}.`);
    }
  }

  async settings(scope: Scope): Promise<ToolLogSettings> {
    const item = await this.#items.read(scope, settingsContainer.name, { partition: [toolLog], id: settingsId });
    return { hash_chain: item?.document["hash_chain"] === true };
  }

  async putSettings(caller: Caller, input: ToolLogSettings): Promise<ToolLogSettings> {
    requireAdmin(caller);
    const given: unknown = input;
    if (!isJsonObject(given) || typeof given["hash_chain"] !== "boolean" || Object.keys(given).length > 1)
      throw invalid(`The settings of the tool log are { hash_chain: true | false }, got ${show(input)}.`);
    const settings = { hash_chain: given["hash_chain"] };
    await this.#items.write(caller.scope, settingsContainer.name, [toolLog], {
      op: "upsert",
      document: { id: settingsId, topic: toolLog, ...settings },
    });
    return settings;
  }
}

function requireAdmin({ role }: Caller): void {
  if (role !== "admin")
    throw new PinakesError(
      "FORBIDDEN",
      "Only admins of the workspace can change the settings of the tool log. Ask one of them.",
    );
}

/** Names of tools may contain characters that ids may not. */
function ruleId(toolName: string): string {
  if (typeof toolName !== "string") throw invalid(`tool_name: must be a string, got ${show(toolName)}.`);
  return hash("sha256", toolName, "base64url");
}

function fromStored({ tool_name, sensitive, drop, mask }: JsonObject): RedactionRule {
  return { tool_name, sensitive, drop, mask } as unknown as RedactionRule;
}
