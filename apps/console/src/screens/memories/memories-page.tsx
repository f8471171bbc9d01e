import { Page } from "../../ui/panel.tsx";

export function MemoriesPage() {
  return <Page title="MemoriesPage">…</Page>;
}
