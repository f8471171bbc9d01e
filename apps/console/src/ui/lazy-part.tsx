/**
 * A part of the page that is loaded when it is first shown: a screen, a tab, a drawing.
 *
 * React keeps a load that failed for good, and the router then loads the whole page anew, which without a server is the browser's own
 * error page. Here a failure is shown where the part would be; it is tried again when the reader says so, and when the connection is back.
 * A part that is gone although the server answers is of an older build than the server has: then the page is loaded anew, once a build.
 */
import { useEffect, useSyncExternalStore, type ComponentType, type ReactNode } from "react";
import { checkConnection, onHealed } from "../api/connection.ts";
import { UnreachableError } from "../api/problem.ts";
import { stateStrings as s } from "../strings/states.ts";
import { ErrorBox, Loading } from "./states.tsx";

const reloadedKey = "pinakes.reloaded";

interface LazyPart<Props> {
  (props: Props): ReactNode;
  /** For the router, which loads a screen when its link is pointed at. Never rejects: the part itself says why it is not there. */
  readonly preload: () => Promise<void>;
}

interface State<Props> {
  readonly part?: ComponentType<Props>;
  readonly failure?: unknown;
}

interface Looks<Props> {
  readonly whileLoading?: (props: Props) => ReactNode;
  /** Around the reason why it is not there. */
  readonly whenFailed?: (reason: ReactNode) => ReactNode;
}

export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  looks: Looks<Props> = {},
): LazyPart<Props> {
  const { whileLoading = () => <Loading />, whenFailed = (reason: ReactNode) => <div className="p-4">{reason}</div> } =
    looks;
  const listeners = new Set<() => void>();
  let state: State<Props> = {};
  let loading: Promise<void> | undefined;
  const set = (next: State<Props>) => {
    state = next;
    for (const listener of listeners) listener();
  };
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const attempt = async () => {
    set({});
    try {
      set({ part: await loadWithReason(load) });
    } catch (failure) {
      set({ failure });
    } finally {
      loading = undefined;
    }
  };
  const preload = () => (state.part === undefined ? (loading ??= attempt()) : Promise.resolve());
  /** Only what is shown loads the page anew, not a link that is pointed at. */
  const show = async () => {
    await preload();
    if (state.failure instanceof GoneError && mayReload()) location.reload();
  };
  /** A browser keeps the answer that a part is gone: only a page that is loaded anew asks again, and here the reader wants it. */
  const again = async () => {
    if (state.failure instanceof GoneError && (await checkConnection())) location.reload();
    else await show();
  };
  function Part(props: Props) {
    const { part: Loaded, failure } = useSyncExternalStore(subscribe, () => state);
    useEffect(() => {
      void show();
      return onHealed(() => void show());
    }, []);
    if (Loaded !== undefined) return <Loaded {...props} />;
    if (failure === undefined) return whileLoading(props);
    return whenFailed(<ErrorBox error={failure} onRetry={() => void again()} />);
  }
  return Object.assign(Part, { preload });
}

class GoneError extends Error {}

async function loadWithReason<Loaded>(load: () => Promise<Loaded>): Promise<Loaded> {
  try {
    return await load();
  } catch (error) {
    if (!(await checkConnection()))
      throw new UnreachableError("A part of the page could not be loaded.", { cause: error });
  }
  try {
    // The server answers, so it may have been a matter of a moment.
    return await load();
  } catch (error) {
    throw new GoneError(s.partGone, { cause: error });
  }
}

/** Once for the build that is shown; its first script names it. What one reload did not mend, a second would not. */
function mayReload(): boolean {
  const build = document.querySelector<HTMLScriptElement>("script[type=module][src]")?.src ?? "";
  try {
    if (sessionStorage.getItem(reloadedKey) === build) return false;
    sessionStorage.setItem(reloadedKey, build);
    return true;
  } catch {
    // A browser that keeps nothing would reload for ever.
    return false;
  }
}
