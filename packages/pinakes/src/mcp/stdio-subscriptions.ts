/** Subscriptions of a stdio connection. Feeds are followed from the first subscription until the connection ends. */
import { setTimeout as sleep } from "node:timers/promises";
import type { McpServer } from "@modelcontextprotocol/server";
import { followResources, wantedFor, type Following, type WantedChanges } from "./resource-changes.ts";
import type { McpSession } from "./tool.ts";

const retryMs = 5_000;
const none: WantedChanges = { workflows: false, sessions: false };

export interface StdioSubscriptionsInput {
  readonly session: Pick<McpSession, "knowledge" | "state">;
  /** Aborted when the connection ends. */
  readonly signal: AbortSignal;
  readonly onFailure: (error: unknown, what: string) => void;
}

export class StdioSubscriptions {
  readonly #input: StdioSubscriptionsInput;
  /** URIs subscribed by clients of 2025-11-25; undefined if the SDK tracks the subscriptions. */
  #uris: Set<string> | undefined;
  #server: McpServer | undefined;
  #wanted: WantedChanges | undefined;
  #begun: Promise<void> = Promise.resolve();
  #current = new AbortController();

  constructor(input: StdioSubscriptionsInput) {
    this.#input = input;
  }

  /** The server of the connection; the SDK may replace one that only answered a probe. */
  serve(server: McpServer, era: "legacy" | "modern"): void {
    this.#server = server;
    this.#uris = era === "legacy" ? new Set() : undefined;
    const uris = this.#uris;
    if (uris === undefined) return;
    server.server.setRequestHandler("resources/subscribe", async ({ params: { uri } }) => {
      await this.follow([uri]);
      uris.add(uri);
      return {};
    });
    server.server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
      uris.delete(uri);
      return {};
    });
    // These clients get list changes without subscribing.
    server.server.oninitialized = () =>
      void this.follow([]).catch((error: unknown) => this.#input.onFailure(error, "subscriptions"));
  }

  /** Resolves once changes of these resources, and of the list, are reported. */
  follow(uris: readonly string[]): Promise<void> {
    const before = this.#wanted;
    const asked = wantedFor(uris);
    const { workflows, sessions } = before ?? none;
    if (before !== undefined && (workflows || !asked.workflows) && (sessions || !asked.sessions)) return this.#begun;
    const wanted = { workflows: workflows || asked.workflows, sessions: sessions || asked.sessions };
    const [earlier, current] = [this.#current, new AbortController()];
    [this.#wanted, this.#current] = [wanted, current];
    this.#begun = this.#begin(wanted, AbortSignal.any([this.#input.signal, current.signal])).then(
      () => earlier.abort(),
      (error: unknown) => {
        [this.#wanted, this.#current] = [before, earlier];
        throw error;
      },
    );
    return this.#begun;
  }

  async #begin(wanted: WantedChanges, signal: AbortSignal): Promise<void> {
    const following = await this.#follow(wanted, signal);
    void this.#keep(following, wanted, signal);
  }

  #follow(wanted: WantedChanges, signal: AbortSignal): Promise<Following> {
    return followResources(this.#input.session, wanted, (uri) => this.#tell(uri), signal);
  }

  /** A stdio client cannot reconnect: a feed that fails is restarted. */
  async #keep(first: Following, wanted: WantedChanges, signal: AbortSignal): Promise<void> {
    for (let following: Following | undefined = first; !signal.aborted;) {
      try {
        following ??= await this.#follow(wanted, signal);
        await following.over;
      } catch (error) {
        if (signal.aborted) return;
        this.#input.onFailure(error, "subscriptions");
        following = undefined;
        await sleep(retryMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  async #tell(uri: string): Promise<void> {
    if (uri === "list") this.#server?.sendResourceListChanged();
    else if (this.#uris?.has(uri) ?? true) await this.#server?.server.sendResourceUpdated({ uri });
  }
}
