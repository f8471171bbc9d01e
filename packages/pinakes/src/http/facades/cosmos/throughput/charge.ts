/**
 * What a request costs, in request units. Equal work has an equal price, whatever the machine does meanwhile (docs/clients.md):
 * a point read 1 for each KiB begun, a write 5 and 1 for each KiB begun, a page of a query 2.25, 0.05 for each item that was looked at
 * and 0.25 for each KiB that is answered, metadata 1.
 */
const kib = 1_024;

export const metadataCharge = 1;

export function readCharge(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / kib));
}

export function writeCharge(bytes: number): number {
  return 5 + Math.max(1, Math.ceil(bytes / kib));
}

export const deleteCharge: number = writeCharge(0);

export function queryCharge(examined: number, bytes: number): number {
  return rounded(2.25 + 0.05 * examined + (0.25 * bytes) / kib);
}

export function feedCharge(items: number, bytes: number): number {
  return rounded(1 + 0.05 * items + (0.25 * bytes) / kib);
}

export function rounded(charge: number): number {
  return Math.round(charge * 100) / 100;
}
