/** A temporary folder for the tests of a file or of a describe block; removed after them. Call it where tests are declared. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

export function temporaryFolder(name: string): string {
  const path = mkdtempSync(join(tmpdir(), `pinakes-${name}-`));
  // Hooks run in the reverse order of their registration: what a test file opens in here is closed before.
  afterAll(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }));
  return path;
}
