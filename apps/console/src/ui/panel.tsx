import type { ReactNode } from "react";
import { cx } from "../lib/class-names.ts";
import { ShownName } from "./name.tsx";
import { useWindowTitle } from "./window-title.ts";

interface PageProps {
  /** The page's title, also the window title. */
  readonly title: string;
  /** Badges beside the title. */
  readonly beside?: ReactNode;
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  /** The content fills the window and scrolls itself: a long table, a graph. */
  readonly fill?: boolean;
}

export function Page({ title, beside, about, actions, children, fill = false }: PageProps) {
  useWindowTitle(title);
  return (
    <div className={cx("mx-auto flex w-full max-w-[1600px] flex-col gap-4 p-4 sm:p-6", fill && "h-full min-h-0")}>
      <header className="flex flex-wrap items-start gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-60">
          <div className="flex flex-wrap items-center gap-x-2">
            {/* Focused on navigation; a name of any length stays a heading. */}
            <h1 tabIndex={-1} className="line-clamp-3 min-w-0 text-xl font-semibold wrap-anywhere outline-hidden">
              <ShownName of={title} />
            </h1>
            {beside}
          </div>
          {about !== undefined && <p className="text-sm text-soft">{about}</p>}
        </div>
        {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface PanelProps {
  readonly title?: ReactNode;
  readonly actions?: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}

export function Panel({ title, actions, className, children }: PanelProps) {
  return (
    <section className={cx("min-w-0 rounded-lg border bg-panel", className)}>
      {(title !== undefined || actions !== undefined) && (
        <header className="flex flex-wrap items-center gap-2 border-b px-4 py-2.5">
          <h2 className="min-w-0 flex-1 text-sm font-semibold wrap-anywhere">
            {typeof title === "string" ? <ShownName of={title} /> : title}
          </h2>
          {actions}
        </header>
      )}
      <div className="p-4">{children}</div>
    </section>
  );
}

export function Facts({ of }: { readonly of: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-[minmax(6rem,max-content)_1fr] gap-x-4 gap-y-1.5 text-sm">
      {of.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-soft">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
