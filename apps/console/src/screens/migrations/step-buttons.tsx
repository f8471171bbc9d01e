/** Buttons for the allowed steps. Irreversible ones ask for confirmation. */
import { type Migration, type MigrationStep, migrationSteps } from "@pinakes/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { migrationOptions, migrationsKey, takeStep, type StepOptions } from "../../api/migrations.ts";
import { migrationStrings as s } from "../../strings/migrations.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { AskStep, type AskedStep } from "./ask-step.tsx";
import { mayStep } from "./steps.ts";

export function StepButtons({ migration }: { readonly migration: Migration }) {
  const [asked, setAsked] = useState<AskedStep>();
  const client = useQueryClient();
  const stepping = useMutation({
    mutationFn: ({ step, options }: { readonly step: MigrationStep; readonly options?: StepOptions }) =>
      takeStep(migration.migration_id, step, options),
    onSuccess: (now) => {
      client.setQueryData(migrationOptions(now.migration_id).queryKey, now);
      setAsked(undefined);
    },
    onSettled: () => client.invalidateQueries({ queryKey: migrationsKey }),
  });
  const press = (step: MigrationStep) => {
    stepping.reset();
    if (step === "cutover" || step === "finish" || step === "rollback") setAsked(step);
    else stepping.mutate({ step });
  };
  const next = migrationSteps.find((step) => step !== "plan" && mayStep(migration, step));
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap gap-2">
        {migrationSteps.map((step) => (
          <Button
            key={step}
            look={step === next && step !== "rollback" ? "main" : step === "rollback" ? "danger" : "plain"}
            title={s.steps[step].about}
            disabled={!mayStep(migration, step) || stepping.isPending}
            onClick={() => press(step)}
          >
            {s.steps[step].name}
          </Button>
        ))}
      </div>
      {next !== undefined && <p className="text-sm text-soft">{s.steps[next].about}</p>}
      {stepping.error !== null && asked === undefined && <ErrorBox error={stepping.error} />}
      {asked !== undefined && (
        <AskStep
          step={asked}
          migration={migration}
          pending={stepping.isPending}
          error={stepping.error}
          onClose={() => setAsked(undefined)}
          onConfirm={(options) => stepping.mutate({ step: asked, options })}
        />
      )}
    </div>
  );
}
