/** Verifies the receipts of a workspace without a server: each signature, and that none is missing or out of order. */
import { checkReceipt, receiptHash } from "./jws.ts";

export interface ReceiptFinding {
  /** Line number, from 1. */
  readonly line: number;
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

/** Receipts in chain order. The first may have any sequence number, so a later part of a chain can be verified by itself. */
export function verifyReceipts(receipts: readonly string[], publicKey: string): ReceiptsCheck {
  const findings: ReceiptFinding[] = [];
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
      findings.push({ ...place, reason: "the first receipt of a chain names a predecessor" });
    if (before !== undefined && sequence !== before.sequence + 1)
      findings.push({
        ...place,
        reason: `sequence ${place.sequence} follows ${before.sequence}: a receipt is missing`,
      });
    else if (before !== undefined && previous !== before.hash)
      findings.push({ ...place, reason: "its predecessor is not the receipt before it" });
    before = { hash: receiptHash(jws), sequence: sequence as number };
  }
  return { receipts: receipts.length, valid: findings.length === 0, findings, head: before?.hash ?? null };
}
