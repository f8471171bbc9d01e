/** The condition of a patch, as Cosmos DB writes it: `from c where c.status = "open"`. */
import { invalid, show } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { compileExpression, parseQuery } from "../../sql/index.ts";

/** Evaluates the stored document. */
export type Condition = (document: JsonObject) => boolean;

const select = "SELECT * ";

export function parseCondition(text: unknown, now: number): Condition {
  if (typeof text !== "string" || !/^\s*from\s/i.test(text))
    throw invalid(`condition: write it as from c where c.status = "open"; got ${show(text)}.`);
  const { where, joins, orderBy, groupBy, offset } = parseQuery(`${select}${text}`);
  if (where === undefined) throw invalid('condition: says nothing; write it as from c where c.status = "open".');
  if (joins.length + orderBy.length + groupBy.length > 0 || offset !== undefined)
    throw invalid(
      "condition: applies to one document; only WHERE may follow, without JOIN, GROUP BY, ORDER BY and OFFSET.",
    );
  return (document) => {
    const context = { parameters: new Map<string, never>(), now, expanded: { rows: 0 } };
    return compileExpression(where, context)([document]) === true;
  };
}
