import { Page } from "../../ui/panel.tsx";

export function MigrationsPage() {
  return <Page title="MigrationsPage">…</Page>;
}
