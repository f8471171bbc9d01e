/** Which rows a legal hold keeps. Pure. */
import type { HoldScope } from "@pinakes/client";
import { compileFilter } from "../../domain/filter.ts";
import type { JsonObject } from "../../domain/json.ts";
import { Naming } from "../subjects/naming.ts";

export interface HeldRow {
  readonly container: string;
  readonly document: JsonObject;
}

export class HoldMatcher {
  readonly holdId: string;
  readonly scope: HoldScope;
  readonly #matches: (row: HeldRow) => boolean;

  constructor(holdId: string, scope: HoldScope) {
    this.holdId = holdId;
    this.scope = scope;
    this.#matches = matcherOf(scope);
  }

  matches(row: HeldRow): boolean {
    return this.#matches(row);
  }

  /** The whole subject is under it, also rows that are found by other rows. */
  covers(type: string, id: string): boolean {
    return this.scope.type === "workspace" || (this.scope.type === type && this.scope.id === id);
  }
}

function matcherOf(scope: HoldScope): (row: HeldRow) => boolean {
  const { type } = scope;
  switch (type) {
    case "workspace":
      return () => true;
    case "collection":
      return ({ document }) =>
        document["repository_id"] === scope.repository_id && document["collection_id"] === scope.collection_id;
    case "query": {
      const test = compileFilter(scope.filter, "scope.filter");
      return ({ container, document }) => container === scope.container && test(document);
    }
    case "user":
    case "agent":
    case "session": {
      const naming = new Naming({ type, id: scope.id as string, paths: [] });
      return ({ document }) => naming.names(document) || naming.redacted(document) !== undefined;
    }
  }
}
