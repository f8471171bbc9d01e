/** The open item. Keeps the etag from when it was opened, so that no change is overwritten unseen. */
import type { ContainerInfo } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { itemOptions, type ItemKey } from "../../api/containers.ts";
import { containerStrings } from "../../strings/containers.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorBox, Loading } from "../../ui/states.tsx";
import { ItemEditor } from "./item-editor.tsx";

const s = containerStrings.item;
const route = getRouteApi("/shell/containers/$c");

export function ItemSheet({ container }: { readonly container: ContainerInfo }) {
  const { item: id, itemPk: pk } = route.useSearch();
  const navigate = route.useNavigate();
  const close = () => void navigate({ search: (old) => ({ ...old, item: undefined, itemPk: undefined }) });
  const open = id !== undefined && pk !== undefined;
  return (
    <Dialog open={open} onClose={close} title={s.title(id ?? "")} about={s.about(pk ?? "")} place="side">
      {open && (
        <Loaded
          key={`${pk} ${id}`}
          container={container}
          itemKey={{ container: container.name, id, pk }}
          onClose={close}
        />
      )}
    </Dialog>
  );
}

interface LoadedProps {
  readonly container: ContainerInfo;
  readonly itemKey: ItemKey;
  readonly onClose: () => void;
}

function Loaded({ container, itemKey, onClose }: LoadedProps) {
  const item = useQuery(itemOptions(itemKey));
  // A later failed refetch must not discard the edited text.
  if (item.data === undefined)
    return item.error === null ? <Loading /> : <ErrorBox error={item.error} onRetry={() => void item.refetch()} />;
  return <ItemEditor container={container} itemKey={itemKey} first={item.data} onClose={onClose} />;
}
