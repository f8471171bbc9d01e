/** Verifies the receipts of a workspace without a server: each signature, and that none is missing or out of order. */
import { checkReceipt, receiptHash } from "./jws.ts";

export interface ReceiptFinding {
  /** The line, from 1; null for what is wrong with the chain as a whole. */
  readonly line: number | null;
  readonly receipt_id: string | null;
  readonly sequence: number | null;
  readonly reason: string;
}

export interface ReceiptsCheck {
  readonly receipts: number;
  readonly valid: boolean;
  readonly findings: readonly ReceiptFinding[];
  /** Hash of the last receipt: another copy of the chain that ends with it is the same chain. */
  readonly head: string | null;
}

export interface ChainOptions {
  /** It must start with the first receipt; otherwise a later part of a chain can be checked by itself. */
  readonly whole?: boolean | undefined;
  /** Hash of a receipt that must be in the chain, such as the head of an earlier check: then none is missing at the end. */
  readonly head?: string | undefined;
}

/** In the order of the chain. */
export function verifyReceipts(
  receipts: readonly string[],
  publicKey: string,
  { whole = false, head: known }: ChainOptions = {},
): ReceiptsCheck {
  const findings: ReceiptFinding[] = [];
  const hashes = new Set<string>();
  let before: { readonly hash: string; readonly sequence: number } | undefined;
  for (const [i, jws] of receipts.entries()) {
    const checked = checkReceipt(jws, publicKey);
    if (!checked.valid) {
      findings.push({ line: i + 1, receipt_id: null, sequence: null, reason: checked.reason });
      before = undefined;
      continue;
    }
    const { receipt_id, sequence, previous } = checked.content;
    const place = { line: i + 1, receipt_id: receipt_id as string, sequence: sequence as number };
    if (sequence === 1 && previous !== null)
      findings.push({ ...place, reason: "the first of a chain names a predecessor" });
    if (whole && i === 0 && sequence !== 1)
      findings.push({ ...place, reason: `the chain begins with sequence ${place.sequence}: receipts are missing` });
    if (before !== undefined && sequence !== before.sequence + 1)
      findings.push({ ...place, reason: outOfPlace(place.sequence, before.sequence) });
    else if (before !== undefined && previous !== before.hash)
      findings.push({ ...place, reason: "its predecessor is not the receipt before it" });
    before = { hash: receiptHash(jws), sequence: sequence as number };
    hashes.add(before.hash);
  }
  if (known !== undefined && !hashes.has(known))
    findings.push({
      line: null,
      receipt_id: null,
      sequence: null,
      reason: `no receipt has the hash ${known}: receipts are missing, or it is another chain`,
    });
  return { receipts: receipts.length, valid: findings.length === 0, findings, head: before?.hash ?? null };
}

function outOfPlace(sequence: number, before: number): string {
  return sequence > before + 1
    ? `sequence ${sequence} follows ${before}: a receipt is missing`
    : `sequence ${sequence} follows ${before}: it is out of its place`;
}
