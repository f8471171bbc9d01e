/** The client's interface to governance, for one caller. */
import type { GovernanceApi } from "@pinakes/client";
import type { Caller } from "../domain/caller.ts";
import { invalid } from "../domain/errors.ts";
import type { Authenticated } from "../identity/index.ts";
import type { Governance } from "./governance.ts";

export function governanceApi(governance: Governance, caller: Caller, { via }: Authenticated): GovernanceApi {
  const { erasures, holds, subjectExports, retention } = governance;
  return {
    erasures: {
      request: (input) => erasures.request(caller, input, { mayTouchAll: via === "root" }),
      get: (erasureId) => erasures.get(caller, erasureId),
      list: (query) => erasures.list(caller, query),
      verify: (erasureId, { subject, paths }) => erasures.verify(caller, erasureId, subject, paths),
    },
    receipts: {
      get: (erasureId) => erasures.receipt(caller, erasureId),
      list: (query) => erasures.receipts(caller, query),
      key: () => erasures.receiptKey(caller),
    },
    holds: {
      create: (input) => holds.create(caller, input),
      get: (holdId) => holds.get(caller, holdId),
      list: () => holds.list(caller),
      release: (holdId) => holds.release(caller, holdId),
    },
    retention: {
      list: () => retention.list(caller),
      get: (name) => retention.get(caller, name),
      preview: (name, seconds) => retention.preview(caller, name, seconds),
      set: (name, change) => retention.set(caller, name, change),
    },
    subjectExports: {
      create: (input) => subjectExports.request(caller, input),
      get: (exportId) => subjectExports.get(caller, exportId),
      list: (query) => subjectExports.list(caller, query),
      part: async (exportId, part, { start } = {}) => {
        const archive = await subjectExports.part(caller, exportId, part, start === undefined ? undefined : { start });
        if (start !== undefined && start >= archive.bytes)
          throw invalid(
            `start: must be before the end of the archive, which has ${archive.bytes} bytes; got ${start}.`,
          );
        return ReadableStream.from(archive.body);
      },
      delete: (exportId) => subjectExports.delete(caller, exportId),
    },
  };
}
