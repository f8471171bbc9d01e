import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { isProblem } from "../api/problem.ts";

interface DeleteSeen<Thing> {
  /** What the reader saw when the decision was made. */
  readonly seen: Thing;
  /** Deletes it as long as it is this one, by its etag. */
  readonly remove: (thing: Thing) => Promise<unknown>;
  readonly read: () => Promise<Thing>;
  readonly onDeleted: () => unknown;
}

/** For a Confirm. What changed meanwhile is told before it goes: then `now` is how it is, and confirming again deletes that. */
export function useDeleteSeen<Thing>({ seen, remove, read, onDeleted }: DeleteSeen<Thing>) {
  const [now, setNow] = useState<Thing>();
  const deleting = useMutation({
    mutationFn: () => remove(now ?? seen),
    onSuccess: onDeleted,
    onError: async (error) => {
      if (isProblem(error, 412)) setNow(await read());
    },
  });
  const told = now !== undefined && isProblem(deleting.error, 412);
  return {
    now,
    confirm: {
      onConfirm: () => deleting.mutate(),
      pending: deleting.isPending,
      error: told ? undefined : deleting.error,
    },
    /** Nothing was decided. */
    forget: () => {
      setNow(undefined);
      deleting.reset();
    },
  };
}
