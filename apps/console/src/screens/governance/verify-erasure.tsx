import type { Erasure, ErasureVerification } from "@pinakes/client";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { verifyErasure } from "../../api/governance.ts";
import { formatNumber } from "../../lib/format.ts";
import { governanceStrings } from "../../strings/governance.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { emptySubject, SubjectFields, subjectOf } from "./subject-fields.tsx";

const s = governanceStrings.detail;

export function VerifyErasure({ erasure: { erasure_id, subject } }: { readonly erasure: Erasure }) {
  const [draft, setDraft] = useState({ ...emptySubject, type: subject.type });
  const verifying = useMutation({ mutationFn: () => verifyErasure(erasure_id, subjectOf(draft)) });
  return (
    <section className="flex min-w-0 flex-col gap-3">
      <h2 className="text-sm font-semibold">{s.verify}</h2>
      <p className="text-sm text-soft">{s.verifyAbout}</p>
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (!verifying.isPending) verifying.mutate();
        }}
      >
        <SubjectFields value={draft} onChange={setDraft} />
        {verifying.error !== null && <ErrorBox error={verifying.error} />}
        {verifying.data !== undefined && <Result of={verifying.data} />}
        <Button type="submit" className="self-start" disabled={verifying.isPending}>
          {s.verify}
        </Button>
      </form>
    </section>
  );
}

function Result({ of: { remaining, receipt } }: { readonly of: ErasureVerification }) {
  const good = remaining === 0 && receipt.valid;
  return (
    <p role="status" className={good ? "text-sm font-medium text-good" : "text-sm font-medium text-bad"}>
      {good
        ? s.verified
        : `${s.remaining(formatNumber(remaining))} ${receipt.valid ? "" : s.invalid(receipt.reason ?? "")}`}
    </p>
  );
}
