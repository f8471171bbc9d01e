/**
 * Sessions and workflows of a user, which lead to rows that do not name the user: metrics, and what others wrote in the user's sessions.
 * A session in which rows name several users is shared: only rows that name the subject are the subject's there.
 */
import type { JsonObject } from "../../domain/json.ts";
import { isJsonObject } from "../../domain/json.ts";
import type { WalkedItem } from "../../ports/item-erasure.ts";
import type { Naming } from "../subjects/naming.ts";
import { namingKeys, namingObjects } from "../subjects/subject.ts";

export class Links {
  readonly #sessions = new Set<string>();
  readonly #shared = new Set<string>();
  readonly #workflows = new Set<string>();

  /** Links of an earlier attempt, which may have deleted the rows they were found in. */
  add({ sessions, shared, workflows }: StoredLinks): void {
    for (const id of sessions) this.#sessions.add(id);
    for (const id of shared) this.#shared.add(id);
    for (const id of workflows) this.#workflows.add(id);
  }

  /** Rows of memories, invocations, threads and workflows. */
  notice(container: string, { document }: WalkedItem, naming: Naming): void {
    if (naming.subject.type !== "user") return;
    const ours = naming.names(document);
    const session = document["session_id"];
    if (typeof session === "string" && session !== "") {
      if (ours) this.#sessions.add(session);
      else if (namesSomebody(document)) this.#shared.add(session);
    }
    if (container === "workflow-states" && ours && typeof document["workflow_id"] === "string")
      this.#workflows.add(document["workflow_id"]);
  }

  hasSession(id: unknown): boolean {
    return typeof id === "string" && this.#sessions.has(id);
  }

  ownsSession(id: string): boolean {
    return this.#sessions.has(id) && !this.#shared.has(id);
  }

  /** Only of the user. */
  get ownSessions(): readonly string[] {
    return [...this.#sessions].filter((id) => !this.#shared.has(id));
  }

  hasWorkflow(id: unknown): boolean {
    return typeof id === "string" && this.#workflows.has(id);
  }

  get stored(): StoredLinks {
    const shared = [...this.#shared].filter((id) => this.#sessions.has(id));
    return { sessions: [...this.#sessions], shared, workflows: [...this.#workflows] };
  }
}

export interface StoredLinks {
  readonly sessions: readonly string[];
  readonly shared: readonly string[];
  readonly workflows: readonly string[];
}

/** Where links are found. */
export const linkingContainers: readonly string[] = ["workflow-states", "agent-memories", "tool-invocations"];

function namesSomebody(document: JsonObject): boolean {
  return [document, ...namingObjects.map((name) => document[name])].some(
    (part) => isJsonObject(part) && namingKeys.user.some((key) => typeof part[key] === "string" && part[key] !== ""),
  );
}
