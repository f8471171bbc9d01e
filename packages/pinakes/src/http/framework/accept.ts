/** Selects the media type that a client prefers, by the Accept header (RFC 9110, 12.5.1). */
import { HttpError } from "./http-error.ts";

export interface Offer<Value> {
  /** The type sent in the response comes first; the others are aliases that clients may request. */
  readonly types: readonly [string, ...string[]];
  readonly value: Value;
}

interface MediaRange {
  readonly type: string;
  readonly q: number;
}

/** Like `bestType`; if there is none, throws a 406 that lists the available types. */
export function chooseType<Value>(accept: string | undefined, offers: readonly Offer<Value>[]): Offer<Value> {
  const best = bestType(accept, offers);
  if (best !== undefined) return best;
  const known = offers.map(({ types: [type] }) => type).join(", ");
  throw new HttpError("INVALID", `Accept: the response can be ${known}; request one of these.`, { status: 406 });
}

/** The offer with the highest q value, the first among equals; undefined if none is acceptable. Without the header, any type is. */
export function bestType<Value>(accept: string | undefined, offers: readonly Offer<Value>[]): Offer<Value> | undefined {
  const [first] = offers;
  if (first !== undefined && (accept === undefined || accept.trim() === "")) return first;
  const ranges = (accept ?? "").split(",").flatMap(readRange);
  let best: { readonly offer: Offer<Value>; readonly q: number } | undefined;
  for (const offer of offers) {
    const q = qualityOf(offer.types, ranges);
    if (q > (best?.q ?? 0)) best = { offer, q };
  }
  return best?.offer;
}

function readRange(text: string): readonly MediaRange[] {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  if (!/^[^\s/]+\/[^\s/]+$/.test(type)) return [];
  const q = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
  const value = q === undefined ? 1 : Number(q);
  return [{ type, q: value >= 0 && value <= 1 ? value : 0 }];
}

/** An exact name takes precedence over a type wildcard, and that over any type. */
function qualityOf([type, ...others]: Offer<unknown>["types"], ranges: readonly MediaRange[]): number {
  const exact = ranges.find((range) => range.type === type) ?? ranges.find((range) => others.includes(range.type));
  const group = `${type.split("/")[0] ?? ""}/*`;
  return (
    (exact ?? ranges.find((range) => range.type === group) ?? ranges.find((range) => range.type === "*/*"))?.q ?? 0
  );
}
