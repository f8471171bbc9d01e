import { Page } from "../../ui/panel.tsx";

export function CollectionPage() {
  return <Page title="CollectionPage">…</Page>;
}
