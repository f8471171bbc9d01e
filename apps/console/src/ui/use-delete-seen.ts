import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { isProblem } from "../api/problem.ts";

interface DeleteSeen<Thing> {
  /** The version that the user confirmed. */
  readonly seen: Thing;
  /** Deletes it only while its etag is unchanged. */
  readonly remove: (thing: Thing) => Promise<unknown>;
  readonly read: () => Promise<Thing>;
  readonly onDeleted: () => unknown;
}

/** For a Confirm. After a conflict, `now` is the current version; confirming again deletes that one. */
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
    forget: () => {
      setNow(undefined);
      deleting.reset();
    },
  };
}
