import { Page } from "../../ui/panel.tsx";

export function DeletionsPage() {
  return <Page title="DeletionsPage">…</Page>;
}
