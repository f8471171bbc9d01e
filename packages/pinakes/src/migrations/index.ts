/** Data of other programs, layouts and engines becomes data of Pinakes: inventoried, copied, proved equal, switched to (RFC 0009). */
export { Migrations, type DriveOptions, type FinishOptions, type NewMigration } from "./migrations.ts";
export type { MigrationView, UnitView } from "./views.ts";
export { moveStores, type MoveReport, type MovingStores } from "./engine/move-stores.ts";
export type { MigrationDependencies } from "./dependencies.ts";
