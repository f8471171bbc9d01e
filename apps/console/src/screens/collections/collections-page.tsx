import { Page } from "../../ui/panel.tsx";

export function CollectionsPage() {
  return <Page title="CollectionsPage">…</Page>;
}
