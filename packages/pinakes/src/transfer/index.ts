/** Import and export in the layouts of the reference documents. */
export { catalogPrefix, dataSourceId } from "./catalog-items.ts";
export type { ExportOptions } from "./export.ts";
export type { TransferFile, TransferReader } from "./files.ts";
export { folderReader, writeFolder } from "./folder.ts";
export type { ImportOptions } from "./import.ts";
export { defaultNames, readTransferNames, type TransferNames } from "./names.ts";
export type { ImportNote, ImportReport } from "./report.ts";
export { CollectionMover } from "./move/collection-mover.ts";
export type { CopyProgress } from "./move/copy-incarnation.ts";
export type { IncarnationRow } from "./move/incarnation-rows.ts";
export type { Move, WantedMove } from "./move/may-move.ts";
export { TransferApi } from "./transfer-api.ts";
export { ImportUndo } from "./undo-import.ts";
