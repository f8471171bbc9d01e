import type { Migration } from "@pinakes/client";
import { useState } from "react";
import type { StepOptions } from "../../api/migrations.ts";
import { formatDateTime } from "../../lib/format.ts";
import { migrationStrings } from "../../strings/migrations.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Check } from "../../ui/field.tsx";

const s = migrationStrings.ask;

export type AskedStep = "cutover" | "finish" | "rollback";

interface Props {
  readonly step: AskedStep;
  readonly migration: Migration;
  readonly pending: boolean;
  readonly error: unknown;
  readonly onClose: () => void;
  readonly onConfirm: (options: StepOptions) => void;
}

const titles = { cutover: s.cutoverTitle, finish: s.finishTitle, rollback: s.rollbackTitle };

export function AskStep({ step, migration, pending, error, onClose, onConfirm }: Props) {
  const [removeOld, setRemoveOld] = useState(false);
  const [now, setNow] = useState(false);
  const [force, setForce] = useState(false);
  const options =
    step === "finish" ? { remove_old: removeOld, now: removeOld && now } : step === "rollback" ? { force } : {};
  const { retain_until } = migration;
  return (
    <Confirm
      open
      onClose={onClose}
      title={titles[step]}
      action={s.confirm[step]}
      pending={pending}
      error={error}
      onConfirm={() => onConfirm(options)}
    >
      <div className="flex flex-col gap-3">
        <p>{migrationStrings.steps[step].about}</p>
        {step === "finish" && <Check label={s.removeOld} checked={removeOld} onCheck={setRemoveOld} />}
        {step === "finish" && removeOld && retain_until !== null && (
          <Check label={`${s.now} (${formatDateTime(retain_until)})`} checked={now} onCheck={setNow} />
        )}
        {step === "rollback" && <Check label={s.force} checked={force} onCheck={setForce} />}
      </div>
    </Confirm>
  );
}
